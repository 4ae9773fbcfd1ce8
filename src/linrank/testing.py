"""Slow, obviously correct twins of the fast routines, data makers and conformance checks.

Used by the tests and benchmarks, and by anyone who adds a loss: `check_loss` says whether it keeps the contract.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._data import RankingData
from ._preferences import FloatArray
from .kernels._jit import kernel
from .losses import Loss, LossPoint
from .losses._base import Map

__all__ = [
    "PairHinge",
    "Pairs",
    "check_loss",
    "enumerate_pairs",
    "make_ranking",
    "naive_accuracy",
    "naive_counts",
    "naive_hinge",
    "naive_laplacian",
    "naive_loss",
    "naive_scores",
    "naive_svmlight",
]


class Pairs(NamedTuple):
    """Preferences one by one: winner row, loser row, weight c_ij."""

    winner: NDArray[np.int64]
    loser: NDArray[np.int64]
    c: FloatArray


def enumerate_pairs(
    y: ArrayLike | None,
    qid: ArrayLike | None = None,
    *,
    n_rows: int | None = None,
    sample_weight: ArrayLike | None = None,
    query_weight: Mapping[Any, float] | None = None,
    pairs: ArrayLike | None = None,
    preferences: str | ArrayLike = "full",
    query_weighting: str = "pairs",
) -> Pairs:
    """List every preference with c_ij > 0, by the definition; duplicates are added up."""
    m = n_rows if y is None else len(np.asarray(y))
    assert m is not None
    q = np.zeros(m, dtype=int) if qid is None else np.asarray(qid)
    v = np.ones(m) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    weight: dict[tuple[int, int], float] = {}
    for query in np.unique(q):
        u = 1.0 if query_weight is None else float(query_weight[query.item()])
        here = _query_pairs(np.flatnonzero(q == query), y, v, pairs, preferences)
        total = sum(here.values())
        if query_weighting == "queries" and total > 0:
            here = {pair: c / total for pair, c in here.items()}
        weight.update({pair: u * c for pair, c in here.items() if u * c > 0})
    rows = np.array(list(weight), dtype=np.int64).reshape(-1, 2)
    return Pairs(rows[:, 0], rows[:, 1], np.array(list(weight.values()), dtype=float))


def _query_pairs(
    rows: NDArray[np.int64], y: ArrayLike | None, v: FloatArray, pairs: ArrayLike | None, preferences: Any
) -> dict[tuple[int, int], float]:
    weight: dict[tuple[int, int], float] = {}
    if y is not None:
        grade = np.asarray(y, dtype=float)
        levels = sorted({grade[i] for i in rows if v[i] > 0})
        for i in rows:
            for j in rows:
                if v[i] * v[j] > 0 and (edge := _edge(grade[j], grade[i], levels, preferences)) > 0:
                    weight[int(i), int(j)] = edge * v[i] * v[j]
    if pairs is not None:
        inside = set(rows.tolist())
        for pair in np.asarray(pairs, dtype=float):
            i, j = int(pair[0]), int(pair[1])
            if i in inside:
                weight[i, j] = weight.get((i, j), 0.0) + (pair[2] if len(pair) == 3 else 1.0)
    return weight


def _edge(lower: float, upper: float, levels: list[float], preferences: Any) -> float:
    """Weight of the edge from one level of a query to another."""
    if not isinstance(preferences, str):
        return float(sum(e[2] if len(e) == 3 else 1.0 for e in preferences if (e[0], e[1]) == (lower, upper)))
    if preferences == "chain":
        return float(levels.index(upper) == levels.index(lower) + 1)
    return float(upper > lower)


def naive_counts(scores: FloatArray, pairs: Pairs, margin: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Weight of active pairs in which each row loses (c) and wins (d): s_i - s_j < margin, pair by pair."""
    c, d = np.zeros(scores.size), np.zeros(scores.size)
    for i, j, weight in zip(*pairs, strict=True):
        if scores[i] - scores[j] < margin:
            c[j] += weight
            d[i] += weight
    return c, d


def naive_hinge(scores: FloatArray, pairs: Pairs) -> LossPoint:
    """Mean hinge loss and its subgradient, pair by pair."""
    N = pairs.c.sum()
    value = 0.0
    for i, j, weight in zip(*pairs, strict=True):
        value += weight * max(0.0, 1.0 - (scores[i] - scores[j]))
    c, d = naive_counts(scores, pairs)
    return LossPoint(value / N, (c - d) / N)


def naive_loss(
    phi: Callable[[FloatArray], FloatArray],
    slope: Callable[[FloatArray], FloatArray],
    scores: FloatArray,
    pairs: Pairs,
) -> LossPoint:
    """Mean of phi(s_i - s_j) and its gradient, from phi and its derivative, pair by pair."""
    z, N = scores[pairs.winner] - scores[pairs.loser], pairs.c.sum()
    pull = pairs.c * slope(z) / N
    gradient: Any = np.bincount(pairs.winner, pull, scores.size) - np.bincount(pairs.loser, pull, scores.size)
    return LossPoint(float(pairs.c @ phi(z) / N), gradient)


def naive_laplacian(second: Callable[[FloatArray], FloatArray], scores: FloatArray, pairs: Pairs) -> FloatArray:
    """The m x m Hessian of the mean loss in score space, from phi's second derivative, pair by pair."""
    L = np.zeros((scores.size, scores.size))
    weight = pairs.c * second(scores[pairs.winner] - scores[pairs.loser]) / pairs.c.sum()
    for i, j, w in zip(pairs.winner, pairs.loser, weight, strict=True):
        L[i, i] += w
        L[j, j] += w
        L[i, j] -= w
        L[j, i] -= w
    return L


def naive_accuracy(scores: FloatArray, pairs: Pairs) -> float:
    """Weighted share of pairs in the right order, ties one half."""
    right = np.sign(scores[pairs.winner] - scores[pairs.loser])
    return float(pairs.c @ (1 + right) / (2 * pairs.c.sum()))


@dataclass(frozen=True)
class PairHinge(Loss):
    """PairRSVM, the paper's baseline: the hinge loss by a walk over all pairs of rows, O(m^2). Unit weights."""

    name: ClassVar[str] = "pair_hinge"
    value_at_zero = 1.0

    def at(self, scores: FloatArray, data: RankingData, map: Map = map) -> LossPoint:
        """Value and subgradient by Lemmas 1 and 2, with c and d counted pair by pair."""
        assert data.y is not None
        c, d = np.zeros(scores.size, dtype=np.int64), np.zeros(scores.size, dtype=np.int64)
        for _ in map(lambda _: _walk_pairs(scores, data.y, data.query, c, d), range(1)):
            pass
        e = (c - d).astype(np.float64)
        N = data.preferences.n_pairs
        return LossPoint(float(scores @ e + c.sum()) / N, e / N)


@kernel
def _walk_pairs(scores: Any, y: Any, query: Any, c: Any, d: Any) -> None:
    for i in range(scores.size):
        for j in range(scores.size):
            if query[i] == query[j] and y[i] > y[j] and scores[i] - scores[j] < 1.0:
                c[j] += 1
                d[i] += 1


def make_ranking(
    n_rows: int = 200,
    n_features: int = 5,
    n_queries: int = 1,
    n_levels: int | None = None,
    *,
    noise: float = 0.5,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Return X, y, qid of a noisy linear ranking problem; n_levels None: real-valued utilities."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    y = X @ rng.standard_normal(n_features) + noise * rng.standard_normal(n_rows)
    if n_levels is not None:
        y = np.floor(n_levels * np.argsort(np.argsort(y)) / n_rows)
    return X, y, np.sort(rng.integers(0, n_queries, n_rows))


def check_loss(loss: Loss, seed: int = 0, *, rtol: float = 1e-9) -> None:
    """Assert what every loss must keep; raises AssertionError with the property that fails.

    The value at equal scores is `value_at_zero`; the gradient is that of the value (by convexity and by
    differences along random lines) and sums to 0 within each query; an offset per query changes nothing;
    the data and the scores are left alone.
    """
    rng = np.random.default_rng(seed)
    X, y, qid = make_ranking(80, 3, 4, 5, seed=seed)
    data = RankingData(X, y, qid, sample_weight=rng.uniform(0.5, 2.0, y.size))
    for spread in (0.1, 1.0, 10.0):
        s = spread * rng.standard_normal(y.size)
        kept = s.copy()
        here = loss.at(s, data)
        np.testing.assert_array_equal(s, kept, err_msg="scores were changed")
        size = np.abs(here.gradient).sum()
        sums = np.bincount(qid, here.gradient)
        np.testing.assert_allclose(sums, 0.0, atol=rtol * size, err_msg="gradient does not sum to 0 per query")
        moved = loss.at(s + 1e3 * qid, data)
        np.testing.assert_allclose(moved.value, here.value, rtol=1e-7, err_msg="an offset changes the value")
        direction = rng.standard_normal(y.size)
        for t in (1e-6, 1e-2, 1.0):
            there = loss.at(s + t * direction, data)
            slack = rtol * (1 + abs(here.value))
            rise = there.value - here.value
            assert rise >= t * here.gradient @ direction - slack, "value lies below its tangent: not convex"
            assert rise <= t * there.gradient @ direction + slack, "gradient is not that of the value"
    equal = loss.at(np.zeros(y.size), data).value
    np.testing.assert_allclose(equal, loss.value_at_zero, rtol=rtol, err_msg="value_at_zero is wrong")


class NaiveRow(NamedTuple):
    """A line of SVMlight: `features` by column from 0; texts as Latin-1, one character per byte."""

    y: float
    qid: str | None
    cost: float
    features: dict[int, float]
    comment: str


_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def naive_scores(X: ArrayLike, w: ArrayLike) -> list[float]:
    """Scores of dense rows, by the definition in ``kernels/scores.py``: eight running sums, added up by halves."""
    scores = []
    for row in np.asarray(X, dtype=np.float64).tolist():
        lanes = [0.0] * 8
        for j, (x, weight) in enumerate(zip(row, np.asarray(w, dtype=np.float64).tolist(), strict=True)):
            lanes[j % 8] += x * weight
        a, b, c, d, e, f, g, h = lanes
        scores.append(((a + e) + (c + g)) + ((b + f) + (d + h)))
    return scores


def naive_svmlight(
    text: bytes, round_value: Callable[[str], float] = float, keep_nan: bool = False
) -> tuple[list[NaiveRow], list[int]]:
    """The rows of SVMlight text, by splitting each line, and the numbers of malformed lines."""
    rows, bad = [], []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            row = _naive_line(line.decode("latin-1"), round_value, keep_nan)
        except ValueError:
            bad.append(number)
        else:
            rows += [] if row is None else [row]
    return rows, bad


def _naive_line(line: str, round_value: Callable[[str], float], keep_nan: bool) -> NaiveRow | None:
    body, mark, comment = line.partition("#")
    if "\r" in comment.removesuffix("\r"):
        raise ValueError(comment)
    fields = re.split(r"[ \t\r]+", body.strip(" \t\r"))
    if fields == [""]:
        return None
    qid, cost, features = None, None, dict[int, float]()
    for field in fields[1:]:
        key, _, value = field.partition(":")
        if key == "qid" and value and qid is None:
            qid = value
        elif key == "cost" and value and cost is None:
            cost = _naive_number(value, float)
        elif re.fullmatch("[0-9]{1,10}", key) and 0 < int(key) < 2**31 - 1 and int(key) - 1 not in features:
            nan = keep_nan and re.fullmatch("[+-]?nan", value, re.IGNORECASE)
            features[int(key) - 1] = np.nan if nan else _naive_number(value, round_value)
        else:
            raise ValueError(field)
    label, cost = _naive_number(fields[0], float), 1.0 if cost is None else cost
    return NaiveRow(label, qid, cost, features, comment.removesuffix("\r") if mark else "")


def _naive_number(token: str, round_value: Callable[[str], float]) -> float:
    if not re.fullmatch(_NUMBER, token) or not np.isfinite(round_value(token)):
        raise ValueError(token)
    return round_value(token)
