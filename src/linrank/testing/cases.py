"""The problems on which engines are tried: kinds of X and of preferences, sizes, weights and oddities, by name.

All are small but those that must be large. Scores are of order 1, so that pairs lie on both sides of every kink, and no
pair of the others lies within rounding of one; where scores are large, or differ by exactly 1, their arithmetic is
exact (features and weights are multiples of powers of 2), so that every engine must see the same pairs as active.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._once import cached_property
from .._typing import FloatArray
from ..data.ranking_data import RankingData
from .naive import Pairs, enumerate_pairs
from .problems import make_ranking

#: The step of a line search.
STEP = 0.75
#: Most rows for which pairs are enumerated.
FEW_ROWS = 200


@dataclass(frozen=True)
class Problem:
    """Data, and where to evaluate it: at w, and on the line w + t d."""

    X: Any
    y: Any
    qid: Any
    w: FloatArray
    d: FloatArray
    options: dict[str, Any] = field(default_factory=dict)
    known_pairs: Pairs | None = None  # of data with too many rows for `enumerate_pairs`

    @cached_property
    def data(self) -> RankingData:
        """The data set."""
        data = RankingData(self.X, self.y, self.qid, **self.options)
        return data.clustered(data.query // 3)  # unions of queries

    @cached_property
    def dense(self) -> FloatArray:
        """X as a float64 array."""
        return np.asarray(self.X.toarray() if sp.issparse(self.X) else self.X, dtype=np.float64)

    @cached_property
    def pairs(self) -> Pairs | None:
        """Every preference; None where they are too many."""
        if self.known_pairs is None and self.dense.shape[0] <= FEW_ROWS:
            return enumerate_pairs(self.y, self.qid, n_rows=self.dense.shape[0], **self.options)
        return self.known_pairs


def problem(X: Any, y: Any, qid: Any, known_pairs: Pairs | None = None, **options: Any) -> Problem:
    """A problem at weights that give scores of order 1."""
    rng = np.random.default_rng(7)
    w, d = rng.standard_normal((2, X.shape[1]))
    squares = X.multiply(X).sum() if sp.issparse(X) else np.square(X, dtype=np.float64).sum()
    size = max(float(np.sqrt(squares / X.shape[0])), 1e-300)
    return Problem(X, y, qid, w / size, d / size, options, known_pairs)


def small(n_levels: int | None = 4, n_queries: int = 5, seed: int = 0) -> tuple[FloatArray, FloatArray, Any]:
    """X with zeros and columns of different sizes, y and qid; rows of a query do not stand together."""
    X, y, qid = make_ranking(90, 6, n_queries, n_levels, seed=seed)
    X[np.abs(X) < 0.4] = 0.0
    order = np.random.default_rng(seed).permutation(y.size)
    return (X * [1.0, 2.0, 0.25, 1.0, 3.0, 1.0])[order], y[order], qid[order]


def _long_indices(X: Any) -> Any:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


#: What X is stored as.
STORED: dict[str, Callable[[FloatArray], Any]] = {
    "float64 C": np.ascontiguousarray,
    "float64 F": np.asfortranarray,
    "float32 C": lambda X: X.astype(np.float32),
    "float32 F": lambda X: np.asfortranarray(X, dtype=np.float32),
    "float64 CSR": sp.csr_array,
    "float32 CSR": lambda X: sp.csr_array(X.astype(np.float32)),
    "CSR with long indices": lambda X: _long_indices(sp.csr_array(X)),
}


def _stored(name: str) -> Problem:
    X, y, qid = small()
    return problem(STORED[name](X), y, qid)


def _graded(n_levels: int | None = 4, **options: Any) -> Problem:
    X, y, qid = small(n_levels)
    return problem(X, y, qid, **options)


def _row_weights(n_levels: int | None = 4) -> Problem:
    v = np.random.default_rng(1).uniform(0.2, 3.0, 90)
    v[::7] = 0.0
    return _graded(n_levels, sample_weight=v)


def _all_weights() -> Problem:
    weights = {q: 0.5 + q for q in range(5)}
    v = np.random.default_rng(1).integers(0, 4, 90).astype(float)
    return _graded(sample_weight=v, query_weight=weights, query_weighting="queries", preferences="chain")


def _pairs(with_grades: bool, weighted: bool) -> Problem:
    X, y, qid = small()
    rng = np.random.default_rng(2)
    pairs = [(i, j, rng.uniform(0.5, 2.0)) for i in range(90) for j in rng.choice(90, 6) if qid[i] == qid[j] and i != j]
    pairs += [(j, i, 1.0) for i, j, _ in pairs[:5]] + pairs[:3]  # in both directions, and twice
    listed = np.array(pairs) if weighted else np.array(pairs)[:, :2]
    return problem(X, y if with_grades else None, qid, pairs=listed)


def _giant(n_levels: int | None, store: str = "float64 C", n_rows: int = 20_000, n_features: int = 30) -> Problem:
    X, y, _ = make_ranking(n_rows, n_features, 1, n_levels)
    if "CSR" in store:
        X[np.random.default_rng(3).random(X.shape) < 0.7] = 0.0
    return problem(STORED[store](X), y, None)


def _long(n_levels: int | None) -> Problem:
    """One query long enough to be sorted, short enough for its pairs to be listed."""
    X, y, _ = make_ranking(1400, 4, 1, n_levels)
    winner, loser = np.nonzero(y[:, None] > y[None, :])
    return problem(X, y, None, Pairs(winner, loser, np.ones(winner.size)))


def _thousands(store: str, n_features: int = 8, rows: int = 4, n_levels: int | None = 3, **options: Any) -> Problem:
    X, y, qid = make_ranking(3000 * rows, n_features, 3000, n_levels)
    if "CSR" in store:
        X[np.random.default_rng(3).random(X.shape) < 0.7] = 0.0
    order = np.random.default_rng(4).permutation(y.size)
    if options.pop("weighted", False):
        options["sample_weight"] = np.random.default_rng(5).uniform(0.5, 2.0, y.size)
    return problem(STORED[store](X[order]), y[order], qid[order], **options)


def _sizes(sizes: list[int], flat: tuple[int, ...] = ()) -> Problem:
    """Queries of these sizes; those listed as flat have one level."""
    X, y, _ = make_ranking(sum(sizes), 3, 1, 3)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y[np.isin(qid, flat)] = 1.0
    return problem(X, y, qid)


def _duplicates() -> Problem:
    X, y, qid = small(n_queries=3)
    X, qid = X[np.arange(90) // 3], np.zeros(90)  # triples of equal rows, of which some differ in y
    return problem(X, y, qid)


def _columns(*keep: int) -> Problem:
    """Some columns of X as they are; all others are 0."""
    X, y, qid = small()
    X[:, [j for j in range(6) if j not in keep]] = 0.0
    return problem(X, y, qid)


def _one_feature() -> Problem:
    X, y, qid = small()
    return problem(X[:, :1], y, qid)


def _equal_scores() -> Problem:
    X, y, qid = small()
    return Problem(X, y, qid, np.zeros(6), problem(X, y, qid).d)


def _offset(store: str = "float64 C") -> Problem:
    """Columns with an offset of 2^20; all products are exact."""
    X, y, qid = small()
    X = np.round(X * 256) / 256 + 2.0**20 * np.array([1, 0, 0, -1, 1, 0])
    w, d = np.array([[1.0, -0.5, 2.0, 0.75, 0.25, -1.0], [-0.25, 1.0, 0.5, 0.5, 1.0, 0.75]]) / 4
    return Problem(STORED[store](X), y, qid, w, d)


def _at_the_margin() -> Problem:
    """Whole features and weights: many pairs differ by exactly 1, and count as inactive."""
    X, y, qid = small()
    d = np.array([0, 4, 0, -4, 4, 0.0])
    return Problem(np.round(X), y, qid, np.array([1, 0, -1, 1, 0, 1.0]), d)


CASES: dict[str, Callable[[], Problem]] = {
    **{f"stored as {name}": lambda name=name: _stored(name) for name in STORED},  # type: ignore[misc]
    "real utilities": lambda: _graded(None),
    "two levels": lambda: _graded(2),
    "a chain of levels": lambda: _graded(preferences="chain"),
    "a graph of levels": lambda: _graded(preferences=[(0, 2), (3, 1, 0.5), (1, 2, 2.0), (0, 9)]),
    "explicit pairs": lambda: _pairs(False, False),
    "explicit pairs with weights": lambda: _pairs(False, True),
    "explicit pairs and grades": lambda: _pairs(True, True),
    "row weights": _row_weights,
    "row weights and real utilities": lambda: _row_weights(None),
    "query weights": lambda: _graded(query_weight={q: 0.25 + q for q in range(5)}),
    "queries of equal weight": lambda: _graded(query_weighting="queries"),
    "rows, queries and a chain weighted": _all_weights,
    "a long query of three levels": lambda: _long(3),
    "a long query of real utilities": lambda: _long(None),
    "a giant query of five levels": lambda: _giant(5, n_features=12),
    "a giant query of two levels": lambda: _giant(2, "float64 F", n_features=8),
    "a giant query of real utilities": lambda: _giant(None, "float32 C", n_features=9),
    "a giant sparse query": lambda: _giant(5, "float64 CSR", n_rows=30_000, n_features=130),
    "thousands of queries": lambda: _thousands("float64 C"),
    "thousands of queries, sparse": lambda: _thousands("float32 CSR", n_features=40),
    "thousands of queries, real utilities": lambda: _thousands("float32 F", n_levels=None, weighted=True),
    "thousands of queries, a chain": lambda: _thousands("float64 F", preferences="chain", query_weighting="queries"),
    "more than a cache holds": lambda: _thousands("float64 C", n_features=32, rows=24),
    "queries without pairs": lambda: _sizes([10, 5, 20, 8], flat=(0, 2)),
    "queries of one row": lambda: _sizes([1, 12, 1, 1, 9, 1]),
    "one pair": lambda: _sizes([1, 3, 2], flat=(0, 2)),
    "rows that are equal": _duplicates,
    "one feature": _one_feature,
    "columns of zeros": lambda: _columns(0, 2, 5),
    "nothing but zeros": lambda: _columns(),
    "equal scores": _equal_scores,
    "an offset of a million": _offset,
    "an offset of a million, sparse": lambda: _offset("float64 CSR"),
    "pairs at the margin": _at_the_margin,
}
