"""RankNCG to the letter.

Raykar, Duraiswami and Krishnapuram, "A fast algorithm for learning a ranking function from large-scale data sets",
2008.

    L(w) = -lambda/2 |w|^2 + sum over edges i -> j, k in class i, l in class j, of log sigma(w.(x_l - x_k))      (8)

The fast routines that do the same are `summation.erfc_sums`, `losses.LogisticErfc` and `solvers.ConjugateGradients`,
with alpha = lambda / N and L, which is maximised, divided by -N.
"""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc, erfcinv

FloatArray = NDArray[np.float64]

#: z = A w.x (section 4.2). Equations (11) and (13) print sqrt(2 pi) below the fraction where pi sqrt(2) is meant: only
#: so are the variances of the logistic and the normal distribution equal, and the two curves of figure 3 one.
A = float(np.sqrt(3.0) / (np.pi * np.sqrt(2.0)))


# ---- sums of erfc: section 5 -----------------------------------------------------------------------------------------


class Parameters(NamedTuple):
    """What an accuracy asks for: the summary of section 5.8."""

    r_x: float  # half the length of a cluster's interval
    r: float  # the series holds for |y - z| <= r: (41)
    r_y: float  # clusters with |y - c_k| <= r_y are summed by the series
    h: float  # (37)
    p: int  # (39)
    clusters: int  # (42), 2 l + 1: about so many are within r_y


def parameters(eps: float) -> Parameters:
    """Equations (37), (39), (41) and (42), with r_x = 0.1 erfc^-1(eps).

    The paper leaves r_y open. A source is at most r_x from its centre, so it must be at least erfc^-1(eps) + r_x, or
    what is left out would exceed eps, and at most r - r_x, or the series would be used beyond r: the same number.
    Equation (42) gives 2 l + 1 = 12, an even number; the paper takes it for six clusters on each side.
    """
    far = float(erfcinv(eps))
    r_x = 0.1 * far
    r = far + 2.0 * r_x
    h = np.pi / (3.0 * (r + float(erfcinv(eps / 2.0))))
    p = int(np.ceil(float(erfcinv(np.sqrt(np.pi) * h * eps / 4.0)) / (2.0 * h)))
    # Of floats, r / r_x may exceed 12 by rounding.
    return Parameters(r_x, r, far + r_x, h, p, int(np.ceil(np.round(r / r_x, 9))))


def series(z: FloatArray, p: int, h: float) -> FloatArray:
    """erfc(z) by the first p terms of Beaulieu's Fourier series: equation (20) without its error. O(p) each."""
    n = np.arange(1, 2 * p, 2)
    return np.asarray(1.0 - 4.0 / np.pi * (np.sin(2.0 * h * np.multiply.outer(z, n)) @ (np.exp(-((n * h) ** 2)) / n)))


def series_bound(z: FloatArray, p: int, h: float) -> FloatArray:
    """More than |erfc(z) - series(z)|: equation (22). O(1) each.

    A step of its proof replaces the sum over odd n by an integral from its first term on, which is no bound in general;
    but the factor 1/n dropped before that makes up for it wherever h <= 2/3, and h is 0.2 at most for eps <= 1e-3.
    """
    truncated = 2.0 / (np.sqrt(np.pi) * h) * erfc((2 * p + 1) * h)
    return np.asarray(truncated + erfc(np.pi / (2.0 * h) - np.abs(z)))


def erfc_sums(y: FloatArray, z: FloatArray, q: FloatArray, eps: float = 1e-6) -> FloatArray:
    """E(y) = sum of q_i erfc(y - z_i), equation (18), within eps sum |q| (19): equations (29) to (31).

    Sources go into intervals of length 2 r_x; empty ones are left out. For each cluster within r_y of a target its
    series is evaluated there; clusters farther to the right count 2 Q_k, farther to the left 0. The coefficients (31)
    are sums over the sources of the cluster, not over all as printed. O(p N + p l M + K N) for K clusters.
    """
    r_x, _, r_y, h, p, _ = parameters(eps)
    order = np.argsort(y, kind="stable")
    targets, n = y[order], np.arange(1, 2 * p, 2)
    damped = np.exp(-((n * h) ** 2)) / n
    near, far = np.zeros(y.size), np.zeros(y.size + 1)
    interval = np.floor(z / (2.0 * r_x))
    for k in np.unique(interval):
        sources = interval == k
        c, weight = (2.0 * k + 1.0) * r_x, q[sources]  # c_k
        angle = 2.0 * h * np.multiply.outer(z[sources] - c, n)
        A_n, B_n = damped * (weight @ np.cos(angle)), damped * (weight @ np.sin(angle))  # (31)
        begin, end = np.searchsorted(targets, [c - r_y, c + r_y])  # |y - c_k| <= r_y
        angle = 2.0 * h * np.multiply.outer(targets[begin:end] - c, n)
        near[begin:end] += weight.sum() - 4.0 / np.pi * (np.sin(angle) @ A_n - np.cos(angle) @ B_n)
        far[begin] += 2.0 * weight.sum()  # for all targets before: y - c_k < -r_y
    E = np.empty(y.size)
    E[order] = near + np.cumsum(far[::-1])[::-1][1:]  # (30)
    return E


def direct_sums(y: FloatArray, z: FloatArray, q: FloatArray) -> FloatArray:
    """Equation (18) term by term. O(M N)."""
    return np.array([q @ erfc(target - z) for target in y]).reshape(y.size)


# ---- likelihood and gradient: sections 3 and 4 -----------------------------------------------------------------------


class Graph(NamedTuple):
    """A preference graph over classes of rows: an edge (i, j) prefers class j to class i (section 1.2)."""

    classes: list[NDArray[np.int64]]
    edges: list[tuple[int, int]]


def preference_graph(y: ArrayLike, qid: ArrayLike | None = None, chain: bool = False) -> Graph:
    """The full graph of figure 1a, or the chain of figure 1b, over the levels of y.

    The paper has no queries: with qid, each level of each query is a class, and edges stay within queries. O(S^2), S
    the number of classes of a query.
    """
    y = np.asarray(y, dtype=np.float64)
    query = np.zeros(y.size) if qid is None else np.asarray(qid)
    classes, edges = list[NDArray[np.int64]](), list[tuple[int, int]]()
    for q in np.unique(query):
        begin, rows = len(classes), np.flatnonzero(query == q)
        classes += [rows[y[rows] == level] for level in np.unique(y[rows])]
        for i in range(begin, len(classes)):
            edges += [(i, j) for j in range(i + 1, min(i + 2, len(classes)) if chain else len(classes))]
    return Graph(classes, edges)


def likelihood(X: Any, graph: Graph, w: FloatArray, lambda_: float) -> float:
    """L(w), equation (8), pair by pair: what is maximised, never asked for by the method. O(pairs)."""
    s = X @ w
    pairs = [np.subtract.outer(s[graph.classes[j]], s[graph.classes[i]]) for i, j in graph.edges]
    return -0.5 * lambda_ * float(w @ w) - sum(float(np.logaddexp(0.0, -z).sum()) for z in pairs)


def gradient(X: Any, graph: Graph, w: FloatArray, lambda_: float, eps: float | None = 1e-6) -> FloatArray:
    """g(w) = -lambda w - Delta_1 + Delta_2 / 2 - Delta_3 / 2: equations (13) to (17).

    eps None sums directly, "RankNCG direct" of section 6.2; else within eps, "RankNCG fast". In both the sigmoid is
    replaced by erfc (11). O(d m + S m) with eps, S classes; with the number of pairs without.
    """
    z = A * (X @ w)
    delta = np.zeros(z.size)  # Delta_1, Delta_2 and Delta_3 as weights of the rows
    for i, j in graph.edges:
        lower, upper = graph.classes[i], graph.classes[j]
        E_minus = _sums(z[lower], z[upper], eps)  # (17), at the rows of class i
        E_plus = _sums(-z[upper], -z[lower], eps)  # (17), at those of class j
        delta[lower] += 0.5 * E_minus - upper.size
        delta[upper] -= 0.5 * E_plus - lower.size
    return np.asarray(-lambda_ * w + X.T @ delta)


def _sums(y: FloatArray, z: FloatArray, eps: float | None) -> FloatArray:
    ones = np.ones(z.size)
    return direct_sums(y, z, ones) if eps is None else erfc_sums(y, z, ones, eps)


# ---- nonlinear conjugate gradients: section 4 ------------------------------------------------------------------------

#: Trials of a line search at most: the paper has no limit, but the errors of approximate slopes may allow no end.
MAX_TRIALS = 60
#: Nocedal and Wright's strong Wolfe condition on the slope; their value for conjugate gradients.
C_2 = 0.1


class Trained(NamedTuple):
    """The last point, whether the tolerance was reached, the points one by one, and the gradients evaluated."""

    w: FloatArray
    converged: bool
    iterates: list[FloatArray]
    gradients: int


def rankncg(
    X: Any,
    graph: Graph,
    lambda_: float,
    *,
    eps: float | None = 1e-6,
    tol: float = 1e-3,
    start: FloatArray | None = None,
    seed: int = 0,
    max_iter: int = 1000,
) -> Trained:
    """Maximise L by the Polak-Ribiere variant of nonlinear conjugate gradients, from gradients alone: sections 4, 6.2.

    Readings. "Tolerance 1e-3" is |g(w)| <= tol |g(w_0)|. "Randomly initialized" is w_0 ~ N(0, I) without a start.
    Of Nocedal and Wright's chapter 5, which the paper names, beta is taken as max(beta_PR, 0) and the line search ends
    by their condition on the slope, |g(w + t d).d| <= 0.1 |g(w).d|: that on the value is left out, since the paper's
    method does not evaluate L, and is not missed, L being concave.
    """
    w = np.random.default_rng(seed).standard_normal(X.shape[1]) if start is None else np.asarray(start, dtype=float)
    g = -gradient(X, graph, w, lambda_, eps)  # of -L, which is minimised
    d, goal, iterates, gradients = -g, tol * float(np.linalg.norm(g)), [w], 1
    t, slope_before = 0.0, 0.0
    while np.linalg.norm(g) > goal and len(iterates) <= max_iter:
        slope = float(g @ d)
        if slope >= 0:  # not a direction of descent: begin anew
            d, slope = -g, -float(g @ g)
        # A first trial along g of length 1, then by Nocedal and Wright's section 3.4: the same first-order change.
        trial = t * slope_before / slope if t > 0 else 1.0 / float(np.linalg.norm(g))
        t, g_next, evaluated = _search(X, graph, w, d, lambda_, eps, trial, slope)
        beta = max(float(g_next @ (g_next - g)) / float(g @ g), 0.0)
        w, d, g, slope_before = w + t * d, beta * d - g_next, g_next, slope
        iterates.append(w)
        gradients += evaluated
    return Trained(w, bool(np.linalg.norm(g) <= goal), iterates, gradients)


def _search(
    X: Any, graph: Graph, w: FloatArray, d: FloatArray, lambda_: float, eps: float | None, t: float, slope: float
) -> tuple[float, FloatArray, int]:
    """A step where the slope is C_2 of the first one, its gradient, and the evaluations: doubling, then secants.

    The slope increases along the line (L is concave), so its sign says on which side of the minimum a trial is.
    """
    low, slope_low, high, slope_high = 0.0, slope, np.inf, np.inf
    for n in count(1):
        g = -gradient(X, graph, w + t * d, lambda_, eps)
        here = float(g @ d)
        if abs(here) <= C_2 * abs(slope) or n == MAX_TRIALS:
            break
        if here < 0:
            low, slope_low = t, here
        else:
            high, slope_high = t, here
        if high == np.inf:
            t = 2.0 * t
        else:
            part = -slope_low / (slope_high - slope_low)
            t = low + (high - low) * min(max(part, 0.1), 0.9)
    return t, g, n
