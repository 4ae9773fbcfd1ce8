"""The logistic loss of short rankings, pair by pair: value, gradient and Hessian products.

With one exponential a member, e^-(s_i - s_j) is a product, unless the scores span too much for that. Where all members
weigh the same, the sum of log(1 + e^-z) over the losers of i is the logarithm of a product, taken as often as that
might overflow: a pair costs a multiplication instead of a series.

Loops over losers read slices alone: whether they run in vectors must not depend on where arrays lie, or bits would.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel, summing_kernel
from .logistic import VALUE

WIDEST = 600.0  # span of scores whose exponentials, and their products, stay in range
LARGEST = 700.0  # logarithm of the largest product

_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16 = (float(p) for p in VALUE)


@inlined
def log1p_series(x: float) -> float:
    """P(x), for pairs one by one; written out, because LLVM leaves a loop over a tuple in scalars."""
    high = x * (_9 + x * (_10 + x * (_11 + x * (_12 + x * (_13 + x * (_14 + x * (_15 + x * _16)))))))
    low = x * (_1 + x * (_2 + x * (_3 + x * (_4 + x * (_5 + x * (_6 + x * (_7 + x * _8)))))))
    x2 = x * x
    x4 = x2 * x2
    return low + x4 * x4 * high


@summing_kernel
def logistic_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, g: Any, up: Any, down: Any
) -> float:
    """Sum of u v_i v_j log(1 + e^-(s_i - s_j)) over the short rankings listed, pair by pair; g becomes its gradient.

    v None: ones. `up` and `down` are work space, as long as s.
    """
    answer = 0.0
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        start, end = level_ptr[first_level], level_ptr[last_level]
        span = exponentials(s, start, end, g, up, down)
        total = 0.0
        for level in range(first_level + 1, last_level):
            here, until = level_ptr[level], level_ptr[level + 1]
            if v is None and span < WIDEST:
                total += against_losers(up, down, u[r], start, here, until, int(LARGEST / (span + 1.0)), g)
                continue
            losers, push, rise, fall = s[start:here], g[start:here], up[start:here], down[start:here]
            weights = losers if v is None else v[start:here]
            for i in range(here, until):
                s_i, up_i, down_i, sum1, sum2 = s[i], up[i], down[i], 0.0, 0.0
                factor = u[r] if v is None else u[r] * v[i]
                for j in range(losers.size):
                    z = s_i - losers[j]
                    x = min(up_i * fall[j], rise[j] * down_i) if span < WIDEST else np.exp(-abs(z))
                    even = log1p_series(x)
                    part = 1.0 / (1.0 + x)
                    slope = x * part if z > 0 else part
                    weight = 1.0 if v is None else weights[j]
                    push[j] += factor * weight * slope
                    sum1 += weight * slope
                    sum2 += weight * (even + (0.0 if z > 0 else -z))
                g[i] -= factor * sum1
                total += factor * sum2
        answer += total
    return answer


@summing_kernel
def against_losers(up: Any, down: Any, u: float, start: int, here: int, until: int, most: int, g: Any) -> float:
    """Of members from `here` to `until` against those from `start` to `here`, all of weight 1, `most` at a time."""
    total = 0.0
    for first in range(start, here, most):
        last = min(first + most, here)
        rise, push = up[first:last], g[first:last]
        for i in range(here, until):
            down_i, product, slopes = down[i], 1.0, 0.0
            for j in range(rise.size):
                x = rise[j] * down_i
                factor = 1.0 + x
                slope = x / factor
                product *= factor
                push[j] += u * slope
                slopes += slope
            g[i] -= u * slopes
            total += u * np.log(product)
    return total


@kernel
def exponentials(s: Any, start: int, end: int, g: Any, up: Any, down: Any) -> float:
    """Fill g with zeros, and up and down with e^+-(s - middle) where the scores span less than WIDEST; their span."""
    low, high = s[start], s[start]
    for i in range(start, end):
        low, high = min(low, s[i]), max(high, s[i])
        g[i] = 0.0
    span, middle = high - low, 0.5 * (low + high)
    if span < WIDEST:
        for i in range(start, end):
            up[i] = np.exp(s[i] - middle)
            down[i] = 1.0 / up[i]
    return span


@summing_kernel
def logistic_laplacian_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, V: Any, out: Any, up: Any, down: Any
) -> None:
    """Out = L V for the short rankings listed; L = sum of u v_i v_j sigma'(s_i - s_j) (1_i - 1_j)(1_i - 1_j)^T."""
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        start, end = level_ptr[first_level], level_ptr[last_level]
        span = exponentials(s, start, end, out, up, down)
        for level in range(first_level + 1, last_level):
            here = level_ptr[level]
            losers, push, values, rise = s[start:here], out[start:here], V[start:here], up[start:here]
            weights = losers if v is None else v[start:here]
            for i in range(here, level_ptr[level + 1]):
                s_i, down_i, V_i, total = s[i], down[i], V[i], 0.0
                factor = u[r] if v is None else u[r] * v[i]
                for j in range(losers.size):
                    x = rise[j] * down_i if span < WIDEST else np.exp(-abs(s_i - losers[j]))
                    part = 1.0 / (1.0 + x)
                    flow = x * part * part * (V_i - values[j])
                    if v is not None:
                        flow *= weights[j]
                    push[j] -= factor * flow
                    total += flow
                out[i] += factor * total
