"""Stochastic steps on pairs: section 3.2 of Sculley, Large Scale Learning to Rank, 2009.

Every rule is w <- s w + c x for the difference x = x_winner - x_loser, with two numbers s and c that depend on i (the
step's number, from 1), z = w.x, |x|^2 and |w|^2 alone. So a step costs O(non-zeros of the two rows):

    w = factor * v        s only multiplies the factor
    |w|^2 = factor^2 * square
    w_1 + ... + w_t = total * v - b, total being the sum of the factors: a change of v by e adds total * e to b

v is kept in the units of X: where columns are divided by a scale, `metric` holds 1/scale^2 and lengths are those of the
scaled problem. When the factor becomes 0 or leaves its range, v and b are folded: O(d), once in many steps. Every
max(1024, d) steps, and when it has fallen far below its `peak` since, `square` is computed anew: rounding must not add
up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._jit import inlined, inlined_fused, kernel, summing_kernel, uncounted
from ._vector import prefetch

SGD, PEGASOS, PASSIVE_AGGRESSIVE, ROMMA, PASSIVE_AGGRESSIVE_THEN_PEGASOS = range(5)
HINGE, SQUARED_HINGE, LOGISTIC = range(3)
FACTOR, SQUARE, TOTAL, PEAK = range(4)  # places in `state`
SMALLEST, LARGEST = 1e-6, 1e6  # of the factor: beyond, the two parts of the average would cancel
REFRESH = 1024
CANCELLED = 1e-4  # of the peak
LONGEST, SHORTEN = 1e120, 1e-30  # of ROMMA's |w|^2, and by what w is multiplied there
AHEAD = 4  # steps; rows lie anywhere in memory, so they are asked for before, and where they begin twice as early
LINE = 8  # entries prefetched at a time: a cache line of float64
U1, U2, U3, U4, U5, U6, U7, U8 = (np.uint64(k) for k in range(1, 9))
ALIKE = 1e-4  # of |a|^2 + |b|^2; below it |a - b|^2 is computed from the entries
PARALLEL = 1e-12  # relative; below it the determinant of x and w is rounding


class Rule(NamedTuple):
    """What a step does; `decay` 0 means the step size 1/(alpha i)."""

    rule: int
    loss: int
    alpha: float
    C: float
    decay: float
    switch: int


@inlined
def pull(loss: Any, z: Any) -> Any:
    """-phi'(z)."""
    if loss == HINGE:
        return 1.0 if z < 1.0 else 0.0
    if loss == SQUARED_HINGE:
        return 2.0 * (1.0 - z) if z < 1.0 else 0.0
    return 1.0 / (1.0 + np.exp(z))


@inlined
def gradient_step(rule: Any, i: Any, z: Any, xx: Any) -> Any:
    """(s, c) of a subgradient step of size 1/(alpha i), or decay/(decay + i) but at most 1/alpha.

    The regulariser shrinks w at every step, whether the pair has loss or not. The squared hinge's pull grows with its
    error, and the first steps are long: c is bounded so that no step carries its pair beyond the margin.
    """
    eta = 1.0 / (rule.alpha * i) if rule.decay == 0.0 else min(rule.decay / (rule.decay + i), 1.0 / rule.alpha)
    s = 1.0 - 1.0 / i if rule.decay == 0.0 else 1.0 - eta * rule.alpha
    c = eta * pull(rule.loss, z)
    if rule.loss == SQUARED_HINGE and z < 1.0 and c * xx > 1.0 - s * z:
        c = (1.0 - s * z) / xx
    return s, c


@inlined
def romma_step(z: Any, xx: Any, ww: Any) -> Any:
    """(s, c) of aggressive ROMMA: the shortest w' with w'.x >= 1 and w'.w >= |w|^2.

    Both bounds are met by the paper's formula. The first alone is met by x/|x|^2, which is the answer where w = 0,
    where it meets the second as well, and where x is parallel to w.
    """
    if z >= 1.0 or xx == 0.0:
        return 1.0, 0.0
    product = xx * ww
    determinant = product - z * z
    if product <= z or determinant <= PARALLEL * product:
        return 0.0, 1.0 / xx
    return (product - z) / determinant, ww * (1.0 - z) / determinant


@inlined
def step(rule: Any, i: Any, z: Any, xx: Any, ww: Any) -> Any:
    """(s, c) of step i. PA-I: c = min(C, loss / |x|^2)."""
    if rule.rule == ROMMA:
        return romma_step(z, xx, ww)
    if rule.rule == PASSIVE_AGGRESSIVE or (rule.rule == PASSIVE_AGGRESSIVE_THEN_PEGASOS and i <= rule.switch):
        loss = max(0.0, 1.0 - z)
        return 1.0, rule.C if rule.C * xx < loss else (loss / xx if loss > 0.0 else 0.0)
    return gradient_step(rule, i, z, xx)


@inlined
def projection(rule: Any, i: Any, ww: Any) -> Any:
    """What brings w back to the ball of radius 1/sqrt(alpha), where step i ends with that; else 1.

    ROMMA's weights only ever grow, without bound where no w is right on all pairs. Once so long that the margin is
    nothing beside them they are shortened, before they overflow: no ranking depends on it.
    """
    if rule.rule == ROMMA:
        return SHORTEN if ww > LONGEST else 1.0
    ends = rule.rule == PEGASOS or (rule.rule == PASSIVE_AGGRESSIVE_THEN_PEGASOS and i >= rule.switch)
    return 1.0 / np.sqrt(rule.alpha * ww) if ends and rule.alpha * ww > 1.0 else 1.0


@kernel
def fold(v: Any, b: Any, total: float, factor: float) -> None:
    """V becomes factor * v, and b takes up what total * v stood for. O(d)."""
    for j in range(v.size):
        if b is not None:
            b[j] -= total * v[j]
        v[j] *= factor


@kernel
def squared_norm(v: Any, metric: Any) -> float:
    """Sum of v_j^2 / metric_j, metric None being 1. O(d)."""
    total = 0.0
    for j in range(v.size):
        total += v[j] * v[j] if metric is None else v[j] * v[j] / metric[j]
    return total


@summing_kernel
def dense_steps(
    X: Any, metric: Any, winner: Any, loser: Any, rule: Any, t: int, v: Any, b: Any, state: Any
) -> None:  # fmt: skip
    """Steps t + 1, t + 2, ... on the rows of a dense X; b is None without averaging. O(d) a step."""
    factor, square, total, peak = state[FACTOR], state[SQUARE], state[TOTAL], state[PEAK]
    for n in range(winner.size):
        i, first, second = t + n + 1, winner[n], loser[n]
        if n + AHEAD < winner.size:
            for j in range(0, v.size, LINE):  # in C order; harmless where X is not
                prefetch(X, winner[n + AHEAD] * v.size + j)
                prefetch(X, loser[n + AHEAD] * v.size + j)
        z, xx = 0.0, 0.0
        for j in range(v.size):
            x = np.float64(X[first, j]) - np.float64(X[second, j])
            z += x * v[j]
            xx += x * x if metric is None else x * x * metric[j]
        s, c = step(rule, i, factor * z, xx, factor * factor * square)
        factor *= s
        if not SMALLEST < factor < LARGEST:
            fold(v, b, total, factor)
            square, peak = square * factor * factor, peak * factor * factor
            factor, total = 1.0, 0.0
        if c != 0.0:
            k, change = c / factor, 0.0
            for j in range(v.size):
                x = np.float64(X[first, j]) - np.float64(X[second, j])
                old = v[j]
                new = old + (k * x if metric is None else k * x * metric[j])
                v[j] = new
                change += x * (old + new)
                if b is not None:
                    b[j] += total * (new - old)
            square += k * change
        peak = max(peak, square)
        if i % max(REFRESH, v.size) == 0 or square < CANCELLED * peak:
            square = peak = squared_norm(v, metric)
        factor *= projection(rule, i, factor * factor * square)
        total += factor
    state[FACTOR], state[SQUARE], state[TOTAL], state[PEAK] = factor, square, total, peak


@inlined
def needs_length(rule: Any, i: Any, z: Any) -> Any:
    """Whether step i depends on |x|^2; the rule is asked first, which a processor can predict."""
    gradient = rule.rule == SGD or rule.rule == PEGASOS
    later = rule.rule == PASSIVE_AGGRESSIVE_THEN_PEGASOS and i > rule.switch
    return (rule.loss == SQUARED_HINGE or not (gradient or later)) and z < 1.0


@inlined_fused
def csr_product(data: Any, indices: Any, v: Any, start: int, end: int, ahead: int, last: int) -> Any:
    """x.v of one row. Four sums at once: an addition waits for the one before. Unsigned places need no test of sign.

    Another row, from `ahead` to `last`, is asked for on the way: all at once, its lines would keep this row's waiting.
    """
    k, whole, stop = np.uint64(start), np.uint64(start + (end - start) // LINE * LINE), np.uint64(end)
    za, zb, zc, zd = 0.0, 0.0, 0.0, 0.0
    while k < whole:
        prefetch(data, ahead)
        prefetch(indices, ahead)
        ahead += LINE
        za += data[k] * v[np.uint64(indices[k])]
        zb += data[k + U1] * v[np.uint64(indices[k + U1])]
        zc += data[k + U2] * v[np.uint64(indices[k + U2])]
        zd += data[k + U3] * v[np.uint64(indices[k + U3])]
        za += data[k + U4] * v[np.uint64(indices[k + U4])]
        zb += data[k + U5] * v[np.uint64(indices[k + U5])]
        zc += data[k + U6] * v[np.uint64(indices[k + U6])]
        zd += data[k + U7] * v[np.uint64(indices[k + U7])]
        k += U8
    while ahead < last:
        prefetch(data, ahead)
        prefetch(indices, ahead)
        ahead += LINE
    while k < stop:
        za += data[k] * v[np.uint64(indices[k])]
        k += U1
    return (za + zb) + (zc + zd)


@inlined_fused
def csr_difference(data: Any, indices: Any, metric: Any, x: Any, start: int, end: int) -> Any:
    """Sum of metric_j x_j^2 over the columns of one row; they are set to 0, so what two rows share counts once."""
    xx = 0.0
    for k in range(start, end):
        j = np.uint64(indices[k])
        xx += x[j] * x[j] if metric is None else x[j] * x[j] * metric[j]
        x[j] = 0.0
    return xx


@inlined_fused
def csr_length(data: Any, indices: Any, metric: Any, x: Any, a0: int, a1: int, b0: int, b1: int) -> Any:
    """|a - b|^2 = |a|^2 + |b|^2 - 2 a.b of two rows, or entry by entry where that cancels: of equal rows it is 0.

    x is work space: zeros, and zeros again at the end.
    """
    aa, bb, ab = 0.0, 0.0, 0.0
    for k in range(a0, a1):
        j, value = np.uint64(indices[k]), np.float64(data[k])
        x[j] = value
        aa += value * value if metric is None else value * value * metric[j]
    for k in range(b0, b1):
        j, value = np.uint64(indices[k]), np.float64(data[k])
        e = value if metric is None else value * metric[j]
        bb += value * e
        ab += x[j] * e
    xx = aa + bb - 2.0 * ab
    if xx > ALIKE * (aa + bb):
        for k in range(a0, a1):
            x[np.uint64(indices[k])] = 0.0
        return xx
    for k in range(b0, b1):
        x[np.uint64(indices[k])] -= data[k]
    return csr_difference(data, indices, metric, x, a0, a1) + csr_difference(data, indices, metric, x, b0, b1)


@inlined
def add_entry(value: Any, j: Any, metric: Any, v: Any, b: Any, total: Any, k: Any) -> Any:
    """Add k metric_j value to v_j, and total times that to b_j; returns 1/k of the change of |v|^2.

    Not fused: what a row adds to 0, an equal row takes away again.
    """
    x, old = np.float64(value), v[j]
    new = old + k * (x if metric is None else x * metric[j])
    v[j] = new
    if b is not None:
        b[j] += total * (new - old)
    return x * (old + new)


@inlined
def csr_add(data: Any, indices: Any, metric: Any, v: Any, b: Any, total: Any, k: Any, start: int, end: int) -> Any:
    """Add k metric_j x_j to v and total times that to b, for one row x; returns the change of |v|^2."""
    p, whole, stop = np.uint64(start), np.uint64(start + (end - start) // 2 * 2), np.uint64(end)
    even, odd = 0.0, 0.0
    while p < whole:
        even += add_entry(data[p], np.uint64(indices[p]), metric, v, b, total, k)
        odd += add_entry(data[p + U1], np.uint64(indices[p + U1]), metric, v, b, total, k)
        p += U2
    if p < stop:
        even += add_entry(data[p], np.uint64(indices[p]), metric, v, b, total, k)
    return k * (even + odd)


@uncounted
def csr_steps(
    data: Any, indices: Any, indptr: Any, metric: Any, winner: Any, loser: Any, rule: Any, t: int,
    v: Any, b: Any, state: Any, x: Any,
) -> None:  # fmt: skip
    """Steps t + 1, t + 2, ... on the rows of a CSR matrix without duplicates. O(non-zeros of the two rows) a step.

    x is work space: d zeros, and zeros again at the end.
    """
    factor, square, total, peak = state[FACTOR], state[SQUARE], state[TOTAL], state[PEAK]
    for n in range(winner.size):
        i, first, second = t + n + 1, winner[n], loser[n]
        near, far = min(n + AHEAD, winner.size - 1), min(n + 2 * AHEAD, winner.size - 1)
        prefetch(indptr, winner[far])
        prefetch(indptr, loser[far])
        won, lost = winner[near], loser[near]
        a0, a1, b0, b1 = indptr[first], indptr[first + 1], indptr[second], indptr[second + 1]
        z = factor * csr_product(data, indices, v, a0, a1, indptr[won], indptr[won + 1])
        z -= factor * csr_product(data, indices, v, b0, b1, indptr[lost], indptr[lost + 1])
        xx = 0.0
        if needs_length(rule, i, z):
            xx = csr_length(data, indices, metric, x, a0, a1, b0, b1)
        s, c = step(rule, i, z, xx, factor * factor * square)
        factor *= s
        if not SMALLEST < factor < LARGEST:
            fold(v, b, total, factor)
            square, peak = square * factor * factor, peak * factor * factor
            factor, total = 1.0, 0.0
        if c != 0.0:
            k = c / factor
            square += csr_add(data, indices, metric, v, b, total, k, a0, a1)
            peak = max(peak, square)
            square += csr_add(data, indices, metric, v, b, total, -k, b0, b1)
        peak = max(peak, square)
        if i % max(REFRESH, v.size) == 0 or square < CANCELLED * peak:
            square = peak = squared_norm(v, metric)
        factor *= projection(rule, i, factor * factor * square)
        total += factor
    state[FACTOR], state[SQUARE], state[TOTAL], state[PEAK] = factor, square, total, peak
