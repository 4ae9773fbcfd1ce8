"""Stochastic steps on pairs: Algorithm 1 of Sculley, Large Scale Learning to Rank, 2009.

Every rule is w <- c w + d x for the difference x = x_winner - x_loser, with two numbers c and d that depend on i (the
step's number, from 1), z = w.x, |x|^2 and |w|^2 alone. So a step costs O(non-zeros of the two rows):

    w = factor * v        c only multiplies the factor
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

FACTOR, SQUARE, TOTAL, PEAK = range(4)  # places in `state`
SMALLEST, LARGEST = 1e-6, 1e6  # of the factor: beyond, the two parts of the average would cancel
REFRESH = 1024
CANCELLED = 1e-4  # of the peak
AHEAD = 4  # steps; rows lie anywhere in memory, so they are asked for before, and where they begin twice as early
LINE = 8  # entries prefetched at a time: a cache line of float64
U1, U2, U3, U4, U5, U6, U7, U8 = (np.uint64(k) for k in range(1, 9))
ALIKE = 1e-4  # of |a|^2 + |b|^2; below it |a - b|^2 is computed from the entries


class Rule(NamedTuple):
    """What a step does: two functions by their addresses, and what they are given."""

    step: Any
    projection: Any
    below: float  # |x|^2 is needed where z is below this
    alpha: float
    p: Any


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
        near = min(n + AHEAD, winner.size - 1)
        for j in range(0, v.size, LINE):  # in C order; harmless where X is not
            prefetch(X, winner[near] * v.size + j)
            prefetch(X, loser[near] * v.size + j)
        z, xx = 0.0, 0.0
        for j in range(v.size):
            x = np.float64(X[first, j]) - np.float64(X[second, j])
            z += x * v[j]
            xx += x * x if metric is None else x * x * metric[j]
        z *= factor
        c, d = rule.step(i, z, xx if z < rule.below else 0.0, factor * factor * square, rule.alpha, rule.p)
        factor *= c
        if not SMALLEST < factor < LARGEST:
            fold(v, b, total, factor)
            square, peak = square * factor * factor, peak * factor * factor
            factor, total = 1.0, 0.0
        if d != 0.0:
            k, change = d / factor, 0.0
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
        if d != 0.0 or c > 1.0:  # else w is no longer than it was
            factor *= rule.projection(factor * factor * square, rule.alpha, rule.p)
        total += factor
    state[FACTOR], state[SQUARE], state[TOTAL], state[PEAK] = factor, square, total, peak


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
        xx = csr_length(data, indices, metric, x, a0, a1, b0, b1) if z < rule.below else 0.0
        c, d = rule.step(i, z, xx, factor * factor * square, rule.alpha, rule.p)
        factor *= c
        if not SMALLEST < factor < LARGEST:
            fold(v, b, total, factor)
            square, peak = square * factor * factor, peak * factor * factor
            factor, total = 1.0, 0.0
        if d != 0.0:
            k = d / factor
            square += csr_add(data, indices, metric, v, b, total, k, a0, a1)
            peak = max(peak, square)
            square += csr_add(data, indices, metric, v, b, total, -k, b0, b1)
        peak = max(peak, square)
        if i % max(REFRESH, v.size) == 0 or square < CANCELLED * peak:
            square = peak = squared_norm(v, metric)
        if d != 0.0 or c > 1.0:  # else w is no longer than it was
            factor *= rule.projection(factor * factor * square, rule.alpha, rule.p)
        total += factor
    state[FACTOR], state[SQUARE], state[TOTAL], state[PEAK] = factor, square, total, peak
