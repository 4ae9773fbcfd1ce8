"""The bundle method's quadratic programme: a small, dense, usually singular QP over the simplex.

    maximise   b.x - |A^T x|^2 / (2 alpha)      over x >= 0, sum(x) = 1,      given G = A A^T

With more planes than features G is singular, which general solvers answer by regularising or by
failing. This active-set method keeps a support of affinely independent planes, on which the
problem is strictly concave, and exchanges a plane for a dependent one along the direction that they share. It
starts from the previous answer, so an iteration of the bundle costs a few small Cholesky factors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from ..._typing import FloatArray

#: A plane counts as dependent on the support when so little of it (relative) lies outside the support's span.
DEPENDENT = 1e-10
#: Slopes so small beside heights (both as in the programme) are told apart by this unit, or solutions would cancel.
FLAT = 1e-3


def maximise_over_simplex(G: FloatArray, b: FloatArray, alpha: float, x: FloatArray) -> FloatArray:
    """Return the maximiser, starting from a feasible x. O(k^3) per exchange, k the size of the support."""
    x = x.copy()
    beta = alpha * b
    size, height = float(G.diagonal().max()), float(np.abs(beta).max())
    shift = max(size, FLAT * height) or 1.0  # any will do, as sum(x) = 1
    tolerance = 1e-14 * (size + height)
    support = [int(i) for i in np.flatnonzero(x)]
    for _ in range(10 * b.size + 100):
        slack = beta - G @ x
        j = int(np.argmax(slack))
        if slack[j] - x @ slack <= tolerance:
            break
        if not support:  # all fell to zero by underflow
            x[j], support = 1.0, [j]
        elif j not in support:
            support = _enter(G, shift, x, support, j)
        support = _settle(G, beta, shift, x, support)
    total = x.sum()
    return x / total if total > 0 else np.full(b.size, 1.0 / b.size)


def _solve(K: FloatArray, right: FloatArray) -> FloatArray:
    """K^-1 right for a positive definite K; a trace of ridge where rounding made it indefinite."""
    _, answer, info = dposv(K, right)
    ridge = 1e-14 * float(K.diagonal().max())
    for _ in range(7):
        if info == 0:
            break
        _, answer, info = dposv(K + ridge * np.eye(len(K)), right)
        ridge *= 100
    solution: FloatArray = answer
    return solution


def _enter(G: FloatArray, shift: float, x: FloatArray, support: list[int], j: int) -> list[int]:
    """Add plane j; if it depends on the support, move along the shared direction until one plane leaves."""
    S: NDArray[np.intp] = np.array(support, dtype=np.intp)
    column = G[S, j] + shift
    y = _solve(G[S[:, None], S] + shift, column)
    outside = G[j, j] + shift - column @ y
    if outside > DEPENDENT * (G[j, j] + shift):
        return [*support, j]
    shrinking = np.flatnonzero(y > 0)
    if shrinking.size == 0:
        return [*support, j]
    ratios = x[S[shrinking]] / y[shrinking]
    out = int(shrinking[np.argmin(ratios)])
    step = float(ratios.min())
    x[S] = np.maximum(x[S] - step * y, 0.0)
    x[S[out]] = 0.0
    x[j] = step
    return [i for i in support if i != support[out]] + [j]


def _settle(G: FloatArray, beta: FloatArray, shift: float, x: FloatArray, support: list[int]) -> list[int]:
    """Maximise on the support; planes whose multiplier would become negative leave it."""
    while True:
        S = np.array(support, dtype=np.intp)
        right = np.array([beta[S], np.ones(S.size)]).T
        solved = _solve(G[S[:, None], S] + shift, right)
        level = (1.0 - solved[:, 0].sum()) / solved[:, 1].sum()
        target = solved[:, 0] + level * solved[:, 1]
        if target.min() >= 0 or S.size == 1:
            x[S] = np.maximum(target, 0.0)
            return [i for i in support if x[i] > 0]
        negative = np.flatnonzero(target < 0)
        ratios = x[S[negative]] / (x[S[negative]] - target[negative])
        out = int(negative[np.argmin(ratios)])
        x[S] = np.maximum(x[S] + float(ratios.min()) * (target - x[S]), 0.0)
        x[S[out]] = 0.0
        support = [i for i in support if i != support[out]]
