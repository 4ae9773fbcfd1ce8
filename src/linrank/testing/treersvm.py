"""TreeRSVM to the letter.

Airola, Pahikkala and Salakoski, "Training linear ranking SVMs in linearithmic time using red-black trees", preprint
2010 and journal 2011. Numbers of equations and algorithms are the journal's unless the preprint is named.

    J(w) = R(w) + lambda w.w,   R(w) = 1/N sum over y_i < y_j of max(0, 1 + w.x_i - w.x_j)      (2), (4)

Here rows of X are examples (the paper's are columns), and indices begin at 0. The fast routines that do the same are
`losses.Hinge` and `solvers.Bundle(line_search=False)`, with alpha = 2 lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .order_statistics_tree import OrderStatisticsTree

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
#: From scores and utilities to c (5) and d (6).
Frequencies = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


# ---- the frequencies c and d -----------------------------------------------------------------------------------------


def ascending(p: FloatArray, journal: bool = False) -> Iterator[tuple[int, list[int]]]:
    """Rows by increasing score, each with those that enter the window before it is counted: Algorithm 3, lines 4-11.

    The preprint (its Algorithm 2, line 9) asks whether p_i - p_j > -1, the journal (line 8) whether p_i > p_j - 1. In
    exact arithmetic that is the same. In floating point the journal's two tests, here and in `descending`, can
    disagree about a pair, and the subgradient's entries then do not add up to 0; the preprint's two round the same
    difference. So the preprint's are used unless the journal's are asked for. O(m log m).
    """
    s = p.tolist()
    inside = (lambda i, j: s[i] > s[j] - 1.0) if journal else (lambda i, j: s[i] - s[j] > -1.0)
    yield from _sweep(np.argsort(p, kind="stable").tolist(), inside)


def descending(p: FloatArray, journal: bool = False) -> Iterator[tuple[int, list[int]]]:
    """Rows by decreasing score, each with those that enter the window: Algorithm 3, lines 15-20. O(m log m)."""
    s = p.tolist()
    inside = (lambda i, j: s[i] < s[j] + 1.0) if journal else (lambda i, j: s[i] - s[j] < 1.0)
    yield from _sweep(np.argsort(p, kind="stable")[::-1].tolist(), inside)


def _sweep(order: list[int], inside: Callable[[int, int], bool]) -> Iterator[tuple[int, list[int]]]:
    j = 0
    for i in order:
        first = j
        while j < len(order) and inside(i, order[j]):
            j += 1
        yield i, order[first:j]


def tree_frequencies(
    p: FloatArray, y: FloatArray, *, one_node: bool = True, journal: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Equations (5) and (6) by a search tree over utilities: Algorithm 3, lines 2-22 (the preprint's 2-24). O(m log m).

    `one_node` keeps equal utilities in one node, O(m log r) for r levels beside the sort.
    """
    c, d, utility = np.zeros(p.size), np.zeros(p.size), y.tolist()
    tree = OrderStatisticsTree(one_node)  # line 5
    for i, entering in ascending(p, journal):
        for j in entering:
            tree.insert(utility[j])  # line 9
        c[i] = tree.count_larger(utility[i])  # line 12
    tree = OrderStatisticsTree(one_node)  # line 14
    for i, entering in descending(p, journal):
        for j in entering:
            tree.insert(utility[j])  # line 18
        d[i] = tree.count_smaller(utility[i])  # line 21
    return c, d


def level_frequencies(p: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Equations (5) and (6) by one pass over the sorted rows for each of r utilities. O(r m) beside the sort.

    Joachims' method, which section 4.1 describes by its cost alone: of all levels but one the window is forgotten, so
    a count takes the place of the tree.
    """
    c, d, utility = np.zeros(p.size), np.zeros(p.size), y.tolist()
    for level in np.unique(y).tolist():
        count = 0
        for i, entering in ascending(p):
            count += sum(utility[j] == level for j in entering)
            c[i] += count if utility[i] < level else 0
        count = 0
        for i, entering in descending(p):
            count += sum(utility[j] == level for j in entering)
            d[i] += count if utility[i] > level else 0
    return c, d


def pair_frequencies(p: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Equations (5) and (6) as they stand, every row against every other: PairRSVM, section 5.1. O(m^2)."""
    c, d = np.zeros(p.size), np.zeros(p.size)
    for i in range(p.size):
        c[i] = np.count_nonzero((y[i] < y) & (p - p[i] < 1.0))
        d[i] = np.count_nonzero((y[i] > y) & (p[i] - p < 1.0))
    return c, d


def weighted_pair_frequencies(p: FloatArray, pairs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """PairRSVM's frequencies where preferences are given one by one: rows (winner, loser[, weight]). O(pairs).

    The paper has no weights; a pair of weight 2 counts as a pair given twice.
    """
    table = np.asarray(pairs, dtype=np.float64)
    winner, loser = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    weight = table[:, 2] if table.shape[1] > 2 else np.ones(len(table))
    active = weight * (p[winner] - p[loser] < 1.0)
    c, d = np.zeros(p.size), np.zeros(p.size)
    np.add.at(c, loser, active)
    np.add.at(d, winner, active)
    return c, d


# ---- loss and subgradient --------------------------------------------------------------------------------------------


class Risk(NamedTuple):
    """R(w), and a subgradient there."""

    loss: float
    a: FloatArray


def number_of_pairs(y: FloatArray) -> int:
    """N, the number of pairs with y_i < y_j, by sorting (proof of Theorem 3). O(m log m)."""
    counts = np.unique(y, return_counts=True)[1].tolist()
    return (sum(counts) ** 2 - sum(count * count for count in counts)) // 2


def algorithm_3(X: Any, y: FloatArray, w: FloatArray, N: float, frequencies: Frequencies = tree_frequencies) -> Risk:
    """Loss and subgradient of one ranking: Algorithm 3 (the preprint's Algorithm 2). O(m s + m log m)."""
    p = X @ w  # line 1
    c, d = frequencies(p, y)
    return lemmas(X, p, c, d, N)


def lemmas(X: Any, p: FloatArray, c: FloatArray, d: FloatArray, N: float) -> Risk:
    """Lemma 1, equation (7), and Lemma 2, equation (8): lines 23 and 24 of Algorithm 3. O(m s)."""
    return Risk(float(np.sum((c - d) * p + c)) / N, X.T @ (c - d) / N)


def empirical_risk(
    X: Any, y: ArrayLike, qid: ArrayLike | None = None, frequencies: Frequencies = tree_frequencies
) -> Callable[[FloatArray], Risk]:
    """R as a function of w: of one ranking, or the average over those of the queries (end of section 4).

    The average is over queries, not over pairs: linrank's query_weighting="queries". The paper does not say what a
    query without pairs counts; here it does not. O(m s + m log(m / R)) an evaluation, R the number of queries.
    """
    y = np.asarray(y, dtype=np.float64)
    query = np.zeros(y.size) if qid is None else np.asarray(qid)
    rows = [np.flatnonzero(query == q) for q in np.unique(query)]
    parts = [(X[r], y[r], number_of_pairs(y[r])) for r in rows]
    parts = [part for part in parts if part[2] > 0]

    def risk(w: FloatArray) -> Risk:
        each = [algorithm_3(*part[:2], w, part[2], frequencies) for part in parts]
        return Risk(sum(r.loss for r in each) / len(each), np.sum([r.a for r in each], axis=0) / len(each))

    return risk


# ---- the bundle method -----------------------------------------------------------------------------------------------


class Iterate(NamedTuple):
    """What an iteration of Algorithm 1 ends with."""

    w: FloatArray  # w_t
    best: float  # J(w_b)
    model: float  # J_t(w_t)


class Trained(NamedTuple):
    """The best point w_b, its J, whether epsilon was reached, and the iterations."""

    w: FloatArray
    objective: float
    converged: bool
    iterations: list[Iterate]


def bmrm(
    risk: Callable[[FloatArray], Risk], w_0: FloatArray, lambda_: float, eps: float = 1e-3, max_iter: int = 10_000
) -> Trained:
    """Minimise R(w) + lambda w.w by cutting planes: Algorithm 1.

    It ends where epsilon_t = J(w_b) - J_t(w_t) < eps, 0.001 in section 5.1: an absolute difference, with J(0) = 1. The
    limit on iterations is not the paper's. One evaluation of R an iteration: that at w_t serves lines 9, 5 and 6.
    """
    w, w_b, R = w_0, w_0, risk(w_0)
    J_b = R.loss + lambda_ * float(w @ w)
    planes, offsets, iterations = [], [], list[Iterate]()
    while len(iterations) < max_iter:
        planes.append(R.a)  # line 5
        offsets.append(R.loss - float(w @ R.a))  # line 6
        w, J_t = minimise_model(np.array(planes), np.array(offsets), lambda_)  # lines 7 and 8
        R = risk(w)
        J = R.loss + lambda_ * float(w @ w)
        if J < J_b:  # line 9
            w_b, J_b = w, J
        iterations.append(Iterate(w, J_b, J_t))
        if J_b - J_t < eps:  # lines 12 and 13
            return Trained(w_b, J_b, True, iterations)
    return Trained(w_b, J_b, False, iterations)


def minimise_model(A: FloatArray, b: FloatArray, lambda_: float) -> tuple[FloatArray, float]:
    """The minimiser and minimum of J_t(w) = max_i (a_i.w + b_i) + lambda w.w: equation (3).

    Its dual is max over x in the simplex of b.x - |A^T x|^2 / (4 lambda), with w = -A^T x / (2 lambda). The paper
    leaves that to CVXOPT; here an interior point method solves it. O(t^3) a step for t planes.
    """
    G = A @ A.T / (2.0 * lambda_)
    w = -simplex_programme(G, b) @ A / (2.0 * lambda_)
    return w, float(np.max(A @ w + b) + lambda_ * (w @ w))


def simplex_programme(G: FloatArray, b: FloatArray) -> FloatArray:
    """The x >= 0 with sum(x) = 1 that minimises x.G x / 2 - b.x, by Newton steps towards x_i s_i = mu, mu falling to 0.

    s = G x - b - nu are the multipliers of x >= 0, nu that of the sum. Where G is singular, the last steps may be
    lost to rounding: the x of the smallest gap counts.
    """
    t = b.size
    x, nu = np.full(t, 1.0 / t), 0.0
    size = 1.0 + float(np.abs(G).max() + np.ptp(b))
    s, best = np.full(t, size), x
    for _ in range(100):
        mu = 0.1 * float(x @ s) / t
        dual = G @ x - b - nu - s  # 0 once a full step was made
        if mu < 1e-19 * size:
            break
        M = G + np.diag(s / x + 1e-15 * t * size)  # never singular; what that leaves of `dual` the next step mends
        solved = np.linalg.solve(M, np.column_stack([mu / x - s - dual, np.ones(t)]))
        d_nu = (1.0 - x.sum() - solved[:, 0].sum()) / solved[:, 1].sum()
        dx = solved[:, 0] + d_nu * solved[:, 1]
        ds = (mu - s * dx) / x - s
        shrinking = float(np.concatenate([-dx / x, -ds / s]).max())
        step = min(1.0, 0.99 / shrinking) if shrinking > 0 else 1.0
        x, s, nu = x + step * dx, s + step * ds, nu + step * d_nu
        best = min(best, x / x.sum(), key=lambda each: _gap(G, b, each))
    return min(best, _sharpened(G, b, best), key=lambda each: _gap(G, b, each))


def _gap(G: FloatArray, b: FloatArray, x: FloatArray) -> float:
    """How far x may be from the minimum: by a linear function that touches there."""
    slope = G @ x - b
    return float(x @ (slope - slope.min()))


def _sharpened(G: FloatArray, b: FloatArray, x: FloatArray) -> FloatArray:
    """The minimum over the x that vanish where x is tiny, by its linear equations; x itself if that is not >= 0."""
    support = x > 1e-9
    k = int(support.sum())
    equations = np.ones((k + 1, k + 1))
    equations[:k, :k], equations[k, k] = G[np.ix_(support, support)], 0.0
    sharp = np.zeros_like(x)
    sharp[support] = np.linalg.lstsq(equations, np.append(b[support], 1.0))[0][:k]
    return sharp if sharp.min() >= 0 else x
