"""Slow, obviously correct twins: every preference is listed, and every sum is taken pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc, expit

from .._typing import FloatArray
from ..losses import HuberHinge, Loss


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


class NaiveLoss(NamedTuple):
    """The mean loss, and its (sub)gradient over rows."""

    value: float
    gradient: FloatArray


def naive_partner_sums(
    scores: FloatArray, level: FloatArray, values: FloatArray, margin: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Sums of values over each member's active winners, and over its active losers, in one ranking: pair by pair."""
    over_winners, over_losers = np.zeros(scores.size), np.zeros(scores.size)
    for i in range(scores.size):
        for j in range(scores.size):
            if level[i] > level[j] and scores[i] - scores[j] < margin:
                over_winners[j] += values[i]
                over_losers[i] += values[j]
    return over_winners, over_losers


def naive_hinge(scores: FloatArray, pairs: Pairs) -> NaiveLoss:
    """Mean hinge loss and its subgradient, pair by pair."""
    N = pairs.c.sum()
    value = 0.0
    for i, j, weight in zip(*pairs, strict=True):
        value += weight * max(0.0, 1.0 - (scores[i] - scores[j]))
    c, d = naive_counts(scores, pairs)
    return NaiveLoss(value / N, (c - d) / N)


def naive_psi(
    slope: Callable[[FloatArray], FloatArray], X: FloatArray, scores: FloatArray, pairs: Pairs, unit: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Sums over the pairs that a unit takes part in of their gradients c phi'(z) (x_i - x_j), and of c."""
    psi, c = np.zeros((int(unit.max()) + 1, X.shape[1])), np.zeros(int(unit.max()) + 1)
    i, j, weight = pairs
    part = (weight * slope(scores[i] - scores[j]))[:, None] * (X[i] - X[j])
    for rows, here in ((i, np.full(i.size, True)), (j, unit[i] != unit[j])):
        np.add.at(psi, unit[rows[here]], part[here])
        np.add.at(c, unit[rows[here]], weight[here])
    return psi, c


def naive_loss(
    phi: Callable[[FloatArray], FloatArray],
    slope: Callable[[FloatArray], FloatArray],
    scores: FloatArray,
    pairs: Pairs,
) -> NaiveLoss:
    """Mean of phi(s_i - s_j) and its gradient, from phi and its derivative, pair by pair."""
    z, N = scores[pairs.winner] - scores[pairs.loser], pairs.c.sum()
    pull = pairs.c * slope(z) / N
    gradient: Any = np.bincount(pairs.winner, pull, scores.size) - np.bincount(pairs.loser, pull, scores.size)
    return NaiveLoss(float(np.sum(pairs.c * phi(z)) / N), gradient)


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


def naive_hessian(
    second: Callable[[FloatArray], FloatArray], X: FloatArray, scores: FloatArray, pairs: Pairs
) -> FloatArray:
    """X^T L X, L the `naive_laplacian`: the sum of c phi''(z) (x_i - x_j)(x_i - x_j)^T / N."""
    weight = pairs.c * second(scores[pairs.winner] - scores[pairs.loser]) / pairs.c.sum()
    D = X[pairs.winner] - X[pairs.loser]
    return D.T @ (weight[:, None] * D)


class Phi(NamedTuple):
    """A pairwise loss by its definition: phi and its first two derivatives; no second one where it has kinks."""

    value: Callable[[FloatArray], Any]
    slope: Callable[[FloatArray], Any]
    curvature: Callable[[FloatArray], Any] | None


_A, _ROOT_PI = float(np.sqrt(1.5) / np.pi), float(np.sqrt(np.pi))
_PHI = {
    "hinge": Phi(lambda z: np.maximum(0.0, 1.0 - z), lambda z: -1.0 * (z < 1.0), None),
    "squared_hinge": Phi(
        lambda z: np.maximum(0.0, 1.0 - z) ** 2,
        lambda z: -2.0 * np.maximum(0.0, 1.0 - z),
        lambda z: 2.0 * (z < 1.0),
    ),
    "logistic": Phi(lambda z: np.logaddexp(0.0, -z), lambda z: -expit(-z), lambda z: expit(z) * expit(-z)),
    "logistic_erfc": Phi(
        lambda z: np.exp(-((_A * z) ** 2)) / (2.0 * _A * _ROOT_PI) - 0.5 * z * erfc(_A * z),
        lambda z: -0.5 * erfc(_A * z),
        lambda z: _A / _ROOT_PI * np.exp(-((_A * z) ** 2)),
    ),
}


def naive_phi(loss: Loss) -> Phi | None:
    """The definition of one of the library's own losses; None for others."""
    if not isinstance(loss, HuberHinge):
        return _PHI.get(loss.name)
    inside = loss.steps[1][1]
    mu = 1.0 - inside
    return Phi(
        lambda z: np.where(z < inside, 1.0 - z - mu / 2, np.maximum(0.0, 1.0 - z) ** 2 / (2 * mu)),
        lambda z: -np.clip((1.0 - z) / mu, 0.0, 1.0),
        lambda z: ((z < 1.0) & ~(z < inside)) / mu,
    )


def naive_accuracy(scores: FloatArray, pairs: Pairs) -> float:
    """Weighted share of pairs in the right order, ties one half."""
    right = np.sign(scores[pairs.winner] - scores[pairs.loser])
    return float(pairs.c @ (1 + right) / (2 * pairs.c.sum()))


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
