"""RankingData: features, levels, queries, weights and preferences; validated once, then a frozen value."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError, NoPairsError, ParameterError
from .._typing import FloatArray
from .checks import check_choice, check_features, check_utilities, check_weights
from .device import is_far, on_host, take_rows
from .given import rows_of_pairs
from .labels import are_labels, split_labels
from .mapped import rows_of
from .preferences import Grades, Graph, build, join, restrict, reweight
from .queries import check_query_weight, encode_queries
from .rankings import Preferences, pointers

logger = logging.getLogger("linrank")

PREFERENCES = ("full", "chain")
QUERY_WEIGHTINGS = ("pairs", "queries")
NO_TARGET = "This requires y to be passed, but the target y is None: give y, or pairs to fit on."
#: N beyond these leaves no room for losses and gradients, which are sums over pairs.
SMALLEST, LARGEST = 1e-306, 1e306


@dataclass(frozen=True, init=False, eq=False)
class RankingData:
    """Rows to be ranked within queries, and the preferences between them.

    Parameters
    ----------
    X : array or sparse matrix, (m, d)
        float32 and float64, C or F order and CSR are used where they lie: neither copied nor permuted.
        Everything else is converted.
    y : (m,) or None
        Real-valued utilities: within a query, rows with a larger y are preferred. None if only `pairs` count.
    qid : (m,) or None
        The query of each row: integers or strings, in any order. None: all rows are one query.
    sample_weight : (m,), optional
        Row weights v. A preference from grades weighs u_q * v_i * v_j; rows of weight 0 take no part.
    query_weight : (m,) or mapping, optional
        Query weights u: one value per row, constant within each query, or a mapping from qid.
    pairs : (n, 2) or (n, 3), optional
        Explicit preferences (winner row, loser row[, weight]) within queries. Duplicates add up.
    preferences : {"full", "chain"}
        Compare all levels of a query, or consecutive ones only.
    query_weighting : {"pairs", "queries"}
        Every pair counts the same, or every query does.
    """

    X: Any
    y: FloatArray | None
    query: NDArray[np.int64]
    query_ids: NDArray[Any]  # by number
    qid_from: str | None  # what the queries came from: "qid", "labels", or nothing
    n_queries_without_pairs: int
    sample_weight: FloatArray | None
    preferences: Preferences = field(repr=False)
    cluster: NDArray[np.int64] | None = None  # (m,) number of the row's cluster, where standard errors go by clusters

    def __init__(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
        preferences: str | ArrayLike = "full",
        query_weighting: str = "pairs",
    ) -> None:
        X = check_features(X)
        qid_from = "labels" if are_labels(y) else None if qid is None else "qid"
        grades, values, built = make_preferences(
            X.shape[0], y, qid, sample_weight, query_weight, pairs, preferences, query_weighting
        )
        checked = RankingData._of(X, values, grades.query, grades.ids, qid_from, grades.v, built)
        checked.tell_of_skipped()
        self.__dict__.update(checked.__dict__)

    def tell_of_skipped(self) -> None:
        """Log how many queries have nothing to learn from."""
        without = self.n_queries_without_pairs
        if without:
            logger.info("%d of %d queries have no pair: they are skipped in training", without, self.n_queries)

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.X.shape[0])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.query_ids.size

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    def part(self, rows: NDArray[np.int64]) -> RankingData:
        """The data of some of the rows, with the preferences among them, if there are any."""
        query = self.query[rows]
        here = np.zeros(self.n_queries, dtype=bool)
        here[query] = True
        kept = np.flatnonzero(here)
        query = (np.cumsum(here) - 1)[query]
        adjacent = rows.size > 0 and bool(np.all(rows[1:] == rows[:-1] + 1))
        chosen = slice(int(rows[0]), int(rows[-1]) + 1) if adjacent else rows
        if is_far(self.X):
            X = take_rows(self.X, chosen)
        else:
            X = self.X[chosen] if adjacent and not sp.issparse(self.X) else rows_of(self.X, rows)
        if not sp.issparse(X) and not is_far(X) and not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)  # some rows of an array in F order: every product would copy them otherwise
        return RankingData._of(
            X=X,
            y=None if self.y is None else self.y[rows],
            query=query,
            query_ids=self.query_ids[kept],
            qid_from=self.qid_from,
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            preferences=restrict(self.preferences, rows, self.query),
            cluster=None if self.cluster is None else self.cluster[rows],
        )

    def on_host(self) -> RankingData:
        """The same with X in this process's memory."""
        return self._with(X=on_host(self.X)) if is_far(self.X) else self

    def clustered(self, cluster: NDArray[np.int64]) -> RankingData:
        """The same with a cluster for each row."""
        return self._with(cluster=cluster)

    def reweighted(self, by_query: FloatArray | None = None, by_row: FloatArray | None = None) -> RankingData:
        """The same preferences, their weights multiplied by one of each query, and by those of both rows of a pair."""
        return self._with(preferences=reweight(self.preferences, self.query, by_query, by_row))

    def _with(self, **changed: Any) -> RankingData:
        data = object.__new__(RankingData)
        data.__dict__.update(self.__dict__ | changed)
        return data

    @property
    def clusters_are_whole(self) -> bool:
        """Whether no query has rows of two clusters."""
        if self.cluster is None:
            return False
        first = np.empty(self.n_queries, dtype=np.int64)
        first[self.query] = self.cluster
        return bool(np.all(first[self.query] == self.cluster))

    def with_features(self, parts: Sequence[Any], places: NDArray[np.int64]) -> RankingData:
        """The same rows with other features, given in parts whose rows follow one another: row k is places[k] here."""
        X = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
        order = np.argsort(places, kind="stable")
        return self._with(X=X if np.all(order[1:] > order[:-1]) else X[order])

    @staticmethod
    def joined(parts: Sequence[RankingData]) -> RankingData:
        """Several data sets as one: their rows follow one another, and so do their queries."""
        first = pointers(np.array([part.n_queries for part in parts]))[:-1]
        weighted = any(part.sample_weight is not None for part in parts)
        weights = [np.ones(part.n_rows) if part.sample_weight is None else part.sample_weight for part in parts]
        graded = [part.y for part in parts if part.y is not None]
        queries = [part.query for part in parts]
        clusters = [part.cluster for part in parts if part.cluster is not None]
        stack = sp.vstack if sp.issparse(parts[0].X) else np.concatenate
        return RankingData._of(
            X=stack([part.X for part in parts]),
            y=np.concatenate(graded) if len(graded) == len(parts) else None,
            query=np.concatenate([query + k for query, k in zip(queries, first, strict=True)]),
            query_ids=np.concatenate([part.query_ids for part in parts]),
            qid_from=parts[0].qid_from,
            sample_weight=np.concatenate(weights) if weighted else None,
            preferences=join([part.preferences for part in parts], queries),
            cluster=np.concatenate(clusters) if len(clusters) == len(parts) else None,
        )

    @staticmethod
    def _of(
        X: Any,
        y: FloatArray | None,
        query: NDArray[np.int64],
        query_ids: NDArray[Any],
        qid_from: str | None,
        sample_weight: FloatArray | None,
        preferences: Preferences,
        cluster: NDArray[np.int64] | None = None,
    ) -> RankingData:
        """Data from checked parts."""
        used = np.zeros(query_ids.size, dtype=bool)
        used[query[preferences.row[preferences.ranking_ptr[:-1]]]] = True  # a ranking is of one query
        data = object.__new__(RankingData)
        data.__dict__.update(
            X=X,
            y=y,
            query=query,
            query_ids=query_ids,
            qid_from=qid_from,
            n_queries_without_pairs=int(query_ids.size - used.sum()),
            sample_weight=sample_weight,
            preferences=preferences,
            cluster=cluster,
        )
        return data

    def __getstate__(self) -> dict[str, Any]:
        """Packed: row weights are not told twice, and numbers of queries are short."""
        state = dict(self.__dict__)
        p, v = self.preferences, self.sample_weight
        if p.v is not None and v is not None and np.array_equal(p.v, v[p.row]):
            state["preferences"] = replace(p, v=None)
            state["rows_weigh"] = True
        state["query"] = self.query.astype(np.min_scalar_type(self.n_queries))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack."""
        given = dict(state)
        p = given["preferences"]
        if given.pop("rows_weigh", False):
            given["preferences"] = replace(p, v=given["sample_weight"][p.row])
        given["query"] = given["query"].astype(np.int64)
        self.__dict__.update(given)

    def fingerprint(self) -> str:
        """Digest of all that the empirical risk depends on: planes are kept only for the same data."""
        X = on_host(self.X)
        layout = sp.issparse(X) or bool(X.flags.c_contiguous)
        digest = hashlib.blake2b(repr((X.shape, str(X.dtype), layout)).encode(), digest_size=16)
        arrays = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
        p = self.preferences
        arrays += [p.row, p.ranking_ptr, p.level_ptr, p.ranking_levels, p.u]
        arrays += [a for a in (p.v, self.sample_weight) if a is not None]
        for array in arrays:
            flat = array if array.flags.c_contiguous else array.T
            digest.update(np.ascontiguousarray(flat).view(np.uint8).reshape(-1).data)
        return digest.hexdigest()


def make_preferences(
    n_rows: int,
    y: ArrayLike | None,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | Mapping[Any, float] | None = None,
    pairs: ArrayLike | None = None,
    preferences: str | ArrayLike = "full",
    query_weighting: str = "pairs",
) -> tuple[Grades, FloatArray | None, Preferences]:
    """Validate everything but X, and bring it into the form that kernels use."""
    check_preferences(preferences)
    check_choice("query_weighting", query_weighting, QUERY_WEIGHTINGS)
    y, qid = split_labels(y, qid)
    grades, values = _check_rows(n_rows, y, qid, sample_weight, query_weight, pairs)
    return grades, values, rank(grades, values, pairs, preferences, query_weighting)


def rank(
    grades: Grades, values: FloatArray | None, pairs: ArrayLike | None, preferences: Any, query_weighting: str
) -> Preferences:
    """The preferences of checked rows, in the form that kernels use."""
    edges = check_preferences(preferences)
    checked_pairs = None if pairs is None else check_pairs(pairs, grades)
    wanted = str(preferences) if edges is None else _graph(edges, values, grades)
    if isinstance(wanted, Graph) and wanted.weight.size == 0 and pairs is None:
        raise NoPairsError(
            "No edge of preferences with weight joins two levels that occur in y: check its levels and weights."
        )
    built = build(grades, wanted, checked_pairs, query_weighting)
    _refuse_no_pairs(built, grades)
    return built


def check_preferences(preferences: Any) -> FloatArray | None:
    """Refuse preferences that are neither a known word nor edges; edges come back as (lower, upper, weight) rows."""
    if isinstance(preferences, str):
        check_choice("preferences", preferences, PREFERENCES)
        return None
    edges = _as_edges(preferences)
    if edges.ndim != 2 or edges.shape[1] != 3 or edges.shape[0] == 0:
        raise ParameterError(
            "preferences must be 'full', 'chain' or a list of edges (lower level, higher level[, weight]) "
            "between values of y."
        )
    if not np.all(np.isfinite(edges)):
        raise ParameterError("preferences holds NaN or infinity: edges are (lower level, higher level[, weight]).")
    if np.any(edges[:, 0] == edges[:, 1]):
        level = edges[edges[:, 0] == edges[:, 1]][0, 0]
        raise ParameterError(f"preferences joins level {level:g} to itself: drop that edge.")
    if np.any(edges[:, 2] < 0):
        raise ParameterError("preferences holds a negative weight: turn the edge around instead.")
    return edges


def _as_edges(preferences: Any) -> FloatArray:
    """Edges as rows (lower, upper, weight); an array of another shape for anything else."""
    try:
        if isinstance(preferences, (list, tuple)):  # with and without weights
            return np.array([[*edge, 1.0] if len(edge) == 2 else [*edge] for edge in preferences], dtype=np.float64)
        edges = np.asarray(preferences, dtype=np.float64)
        return np.column_stack([edges, np.ones(len(edges))]) if edges.ndim == 2 and edges.shape[1] == 2 else edges
    except (ValueError, TypeError, OverflowError):
        return np.empty(0)


def _graph(edges: FloatArray, values: FloatArray | None, grades: Grades) -> Graph:
    """The edges between levels that occur in y, each once; those to other levels are ignored."""
    if values is None or grades.level is None:
        raise DataError("preferences holds edges between levels, but there is no y: give y, or leave preferences out.")
    levels = np.empty(int(grades.level.max(initial=0)) + 1)
    levels[grades.level] = values
    number = np.minimum(np.searchsorted(levels, edges[:, :2]), levels.size - 1)
    keep = np.all(levels[number] == edges[:, :2], axis=1) & (edges[:, 2] > 0)
    key, where = np.unique(number[keep, 0] * levels.size + number[keep, 1], return_inverse=True)
    weight: FloatArray = np.bincount(where, edges[keep, 2], minlength=key.size).astype(np.float64)
    return Graph(key // levels.size, key % levels.size, weight)


def _check_rows(
    n_rows: int,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
    query_weight: ArrayLike | Mapping[Any, float] | None,
    pairs: ArrayLike | None,
) -> tuple[Grades, FloatArray | None]:
    if y is None and pairs is None:
        raise DataError(NO_TARGET)
    query, ids = encode_queries(qid, n_rows)
    values = None if y is None else check_utilities(y, n_rows)
    v = None if sample_weight is None else check_weights("sample_weight", sample_weight, n_rows)
    u = None if query_weight is None else check_query_weight(query_weight, query, ids)
    return Grades(query=query, values=None if values is None else exact_values(y, values), ids=ids, v=v, u=u), values


def exact_values(y: Any, values: FloatArray) -> NDArray[Any]:
    """Utilities as they are compared: integers as they are, as beyond 2^53 a float would tie what differs."""
    given = np.asarray(y).ravel()
    return given if given.dtype.kind in "iu" else values


def check_pairs(pairs: ArrayLike, grades: Grades) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Explicit pairs as (winner, loser, weight), each pair once."""
    p = rows_of_pairs(pairs, None, grades.query.size)
    rows, n_rows = p[:, :2], grades.query.size
    if not np.all(np.isfinite(p)) or np.any(rows != np.floor(rows)):
        raise DataError("pairs contains NaN, infinity or fractional rows: give row numbers, counted from 0.")
    if np.any(rows < 0) or np.any(rows >= n_rows):
        raise DataError(f"pairs names rows outside 0 ... {n_rows - 1}: rows are counted from 0.")
    winner, loser = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    if np.any(winner == loser):
        raise DataError(f"pairs prefers row {winner[winner == loser][0]} to itself: drop that pair.")
    across = grades.query[winner] != grades.query[loser]
    if np.any(across):
        k = int(np.argmax(across))
        raise DataError(f"pairs joins rows {winner[k]} and {loser[k]} of different queries: give them the same qid.")
    weight = check_weights("the third column of pairs", p[:, 2], len(p))
    key, where = np.unique(winner * n_rows + loser, return_inverse=True)
    total: FloatArray = np.bincount(where, weight, minlength=key.size).astype(np.float64)
    return key // n_rows, key % n_rows, total


def _refuse_no_pairs(preferences: Preferences, grades: Grades) -> None:
    if preferences.n_rankings == 0:
        for name, weight in (("sample_weight", grades.v), ("query_weight", grades.u)):
            if weight is not None and not np.any(weight):
                raise NoPairsError(f"All of {name} is zero: at least two rows need a positive weight.")
        raise NoPairsError(
            f"There is no pair to learn from (n_samples={grades.query.size}, {grades.n_queries} queries): within "
            "at least one query, two rows of positive weight must differ in y, at levels that preferences joins. Check "
            "y, qid and the weights."
        )
    if not SMALLEST <= preferences.total <= LARGEST:
        raise DataError("The weights over- or underflow when multiplied: scale them to about 1.")
