"""Sums of the logistic loss over all pairs of a sorted ranking, by a recurrence over exponentials.

log(1 + e^-z) = -z/2 + psi(|z|) with psi(t) = t/2 + log(1 + x), x = e^-t in (0, 1]; `losses/_even.py` says what that is
good for.

log(1 + x) is a polynomial P(x) = sum_k p_k x^k up to an error that falls like 5.83^-K, because the nearest singularity,
x = -1, is that far from [0, 1]. With z between sorted scores, x^k = e^-kz is separable: the sums over all partners on
one side follow each other by state_k <- x^k state_k + q, x = e^-gap, one exponential a row. Nothing overflows, whatever
the span. With D(x) = x P'(x), about x/(1+x) = sigma(-z), and H(x) = x D'(x), about sigma'(z), value, gradient and
Hessian are exactly those of one convex function, within `ERROR` of the logistic loss:

    D(x) = x R(x),   R the interpolant of 1/(1+x) in the Chebyshev-Lobatto points,
    1/(1+x) - R(x) = omega(x) / (omega(-1) (1+x)),   omega the polynomial with those zeros,

since (1+x) times the difference is a polynomial of the degree of omega that vanishes where omega does and is 1 at -1.
x = 1 is among the points, so D(1) = 1/2 and the slopes from both sides of z = 0 agree. RankNCG, section 5, expands the
sigmoid into a Fourier series instead (`erfc.py`), which needs clusters and about three times the terms.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._jit import inlined, kernel, summing_kernel
from ._vector import FLOAT_LANES, decay_step, decay_step_two


def _times(a: list[int], b: list[int]) -> list[int]:
    product = [0] * (len(a) + len(b) - 1)
    for i, a_i in enumerate(a):
        for j, b_j in enumerate(b):
            product[i + j] += a_i * b_j
    return product


def _lobatto(degree: int) -> list[int]:
    """Coefficients of (1 - t^2) U_{degree-2}(t), t = 2 x - 1: whole numbers, so nothing is rounded."""
    t = [-1, 2]
    U = [[1], [2 * c for c in t]]
    for _ in range(degree - 3):
        longer = _times([2 * c for c in t], U[-1])
        U.append([c - (U[-2][k] if k < len(U[-2]) else 0) for k, c in enumerate(longer)])
    square = _times(t, t)
    return _times([1 - square[0], -square[1], -square[2]], U[-1])


def series(terms: int) -> tuple[list[Fraction], float]:
    """Coefficients d_1 ... d_K of D, and a bound of |D(x) - x/(1+x)|, hence of |P(x) - log(1+x)|, on [0, 1]."""
    omega = _lobatto(terms)
    at_minus_1 = sum(c * (-1) ** k for k, c in enumerate(omega))
    remainder = [Fraction(-c, at_minus_1) for c in omega]
    remainder[0] += 1
    R = [Fraction(0)] * terms
    for k in range(terms, 0, -1):  # divide by 1 + x
        R[k - 1] = remainder[k]
        remainder[k - 1] -= remainder[k]
    return R, abs(1.0 / at_minus_1)  # |(1 - t^2) U| <= 1, x/(1+x) <= 1 and its integral over dx/x at most log 2


_exact, ERROR = series(FLOAT_LANES)
_k = np.arange(1, FLOAT_LANES + 1)
#: Coefficients of D, P and H.
SLOPE: NDArray[np.float64] = np.array([float(d) for d in _exact])
VALUE: NDArray[np.float64] = SLOPE / _k
SECOND: NDArray[np.float64] = SLOPE * _k
_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16 = (float(p) for p in VALUE)


@inlined
def log1p_series(x: float) -> float:
    """P(x), for pairs one by one; written out, because LLVM leaves a loop over a tuple in scalars."""
    high = x * (_9 + x * (_10 + x * (_11 + x * (_12 + x * (_13 + x * (_14 + x * (_15 + x * _16)))))))
    low = x * (_1 + x * (_2 + x * (_3 + x * (_4 + x * (_5 + x * (_6 + x * (_7 + x * _8)))))))
    x2 = x * x
    x4 = x2 * x2
    return low + x4 * x4 * high


@kernel
def to_levels(order: Any, level_ptr: Any, base: int, cursor: Any, grouped: Any) -> None:
    """Sorted positions, grouped by level and in order of score within each. O(n log k)."""
    k = level_ptr.size - 1
    for level in range(k):
        cursor[level] = level_ptr[level] - base
    for p in range(order.size):
        i = order[p] + base
        low, high = 0, k - 1
        while low < high:
            middle = (low + high + 1) >> 1
            if level_ptr[middle] <= i:
                low = middle
            else:
                high = middle - 1
        grouped[cursor[low]] = p
        cursor[low] += 1


@kernel
def gaps(ptr: Any, s: Any, x: Any) -> None:
    """x_p = e^-(s_p - s_{p-1}), and 0 at the start of each segment of sorted scores. O(n)."""
    for t in range(ptr.size - 1):
        if ptr[t] < ptr[t + 1]:
            x[ptr[t]] = 0.0
        for p in range(ptr[t] + 1, ptr[t + 1]):
            x[p] = np.exp(s[p - 1] - s[p])


@kernel
def pair_sums(ptr: Any, s: Any, x: Any, q: Any, slope: Any, value: Any, ahead: Any, back: Any, T: Any) -> float:
    """Sum of q_i q_j psi(|s_i - s_j|) over all pairs within segments; T becomes its derivative by s over q.

    ptr cuts sorted scores s into segments; `ahead` and `back` are states of FLOAT_LANES zeros. T_i is the sum over
    partners of q_j tanh((s_i - s_j)/2)/2 = q_j (1/2 - D) to the left, minus the same to the right. Both directions go
    on at once: each is a chain in which a step waits for the one before. O(n).
    """
    answer = 0.0
    for t in range(ptr.size - 1):
        start, end = ptr[t], ptr[t + 1]
        for p in range(start, end):
            T[p] = 0.0
        left, moment, gap = 0.0, 0.0, 0.0
        ahead[:] = 0.0
        back[:] = 0.0
        for p in range(start, end):
            q_p = q[p]
            below, even = decay_step_two(ahead, x[p], q_p, slope, value)
            answer += q_p * (0.5 * (s[p] * left - moment) + even)
            T[p] += left - below
            left += q_p
            moment += q_p * s[p]
            r = start + end - 1 - p
            T[r] += decay_step(back, gap, q[r], slope)
            gap = x[r]
        for p in range(start, end):
            T[p] -= 0.5 * (left - q[p])
    return answer


@kernel
def cross_sums(s: Any, x: Any, q: Any, side: Any, slope: Any, value: Any, states: Any, T: Any) -> float:
    """As `pair_sums` for one segment, over the pairs of different sides only: two levels, and nothing cancels.

    side[p] is 0 or 1; `states` is (4, FLOAT_LANES): of either side, from the left and from the right. O(n).
    """
    n = s.size
    states[:] = 0.0
    for p in range(n):
        T[p] = 0.0
    weight, moment, rest = np.zeros(2), np.zeros(2), np.zeros(2)
    answer, gap = 0.0, 0.0
    for p in range(n):
        own, other = side[p], 1 - side[p]
        below, even = decay_step_two(states[other], x[p], 0.0, slope, value)
        decay_step(states[own], x[p], q[p], slope)
        answer += q[p] * (0.5 * (s[p] * weight[other] - moment[other]) + even)
        T[p] += 0.5 * weight[other] - below
        weight[own] += q[p]
        moment[own] += q[p] * s[p]
        r = n - 1 - p
        own, other = side[r], 1 - side[r]
        T[r] += decay_step(states[2 + other], gap, 0.0, slope) - 0.5 * rest[other]
        decay_step(states[2 + own], gap, q[r], slope)
        rest[own] += q[r]
        gap = x[r]
    return answer


@kernel
def cross_second_sums(x: Any, q: Any, side: Any, second: Any, states: Any, out: Any) -> None:
    """As `second_sums` for one segment, over the partners of the other side only. O(n)."""
    n = x.size
    states[:] = 0.0
    for p in range(n):
        out[p] = 0.0
    gap = 0.0
    for p in range(n):
        own, other = side[p], 1 - side[p]
        out[p] += decay_step(states[other], x[p], 0.0, second)
        decay_step(states[own], x[p], q[p], second)
        r = n - 1 - p
        own, other = side[r], 1 - side[r]
        out[r] += decay_step(states[2 + other], gap, 0.0, second)
        decay_step(states[2 + own], gap, q[r], second)
        gap = x[r]


@kernel
def second_sums(ptr: Any, x: Any, q: Any, second: Any, ahead: Any, back: Any, out: Any) -> None:
    """out_i = sum of q_j sigma'(s_i - s_j) over all partners within i's segment. O(n)."""
    for t in range(ptr.size - 1):
        start, end = ptr[t], ptr[t + 1]
        for p in range(start, end):
            out[p] = 0.0
        gap = 0.0
        ahead[:] = 0.0
        back[:] = 0.0
        for p in range(start, end):
            out[p] += decay_step(ahead, x[p], q[p], second)
            r = start + end - 1 - p
            out[r] += decay_step(back, gap, q[r], second)
            gap = x[r]


@kernel
def level_balance(level_ptr: Any, base: int, v: Any, balance: Any) -> None:
    """balance_i = (weight at higher levels - weight at lower levels) / 2, each added up by itself. O(n)."""
    n_levels = level_ptr.size - 1
    lower = 0.0
    for level in range(n_levels):
        start, end = level_ptr[level] - base, level_ptr[level + 1] - base
        here = 0.0
        for i in range(start, end):
            balance[i] = -0.5 * lower
            here += v[i]
        lower += here
    higher = 0.0
    for level in range(n_levels - 1, -1, -1):
        start, end = level_ptr[level] - base, level_ptr[level + 1] - base
        here = 0.0
        for i in range(start, end):
            balance[i] += 0.5 * higher
            here += v[i]
        higher += here


@summing_kernel
def logistic_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, g: Any, up: Any, down: Any
) -> float:
    """Sum of u v_i v_j log(1 + e^-(s_i - s_j)) over the short rankings listed, pair by pair; g becomes its gradient.

    One exponential a member: `up` and `down` hold e^+-(s - middle) where that stays in range, else one a pair is taken.
    """
    answer = 0.0
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        start, end = level_ptr[first_level], level_ptr[last_level]
        in_range = _exponentials(s, start, end, g, up, down)
        total = 0.0
        for level in range(first_level + 1, last_level):
            here = level_ptr[level]
            losers, push, weight = s[start:here], g[start:here], v[start:here]
            rise, fall = up[start:here], down[start:here]
            for i in range(here, level_ptr[level + 1]):
                s_i, up_i, down_i, sum1, sum2 = s[i], up[i], down[i], 0.0, 0.0
                factor = u[r] * v[i]
                for j in range(losers.size):
                    z = s_i - losers[j]
                    x = min(up_i * fall[j], rise[j] * down_i) if in_range else np.exp(-abs(z))
                    even = log1p_series(x)
                    part = 1.0 / (1.0 + x)
                    slope = x * part if z > 0 else part
                    push[j] += factor * weight[j] * slope
                    sum1 += weight[j] * slope
                    sum2 += weight[j] * (even + (0.0 if z > 0 else -z))
                g[i] -= factor * sum1
                total += factor * sum2
        answer += total
    return answer


@kernel
def _exponentials(s: Any, start: int, end: int, g: Any, up: Any, down: Any) -> bool:
    """Fill up and down with e^+-(s - middle), and g with zeros; whether the scores span little enough for it."""
    low, high = s[start], s[start]
    for i in range(start, end):
        low, high = min(low, s[i]), max(high, s[i])
        g[i] = 0.0
    middle = 0.5 * (low + high)
    in_range = high - low < 600.0
    for i in range(start, end):
        up[i] = np.exp(s[i] - middle) if in_range else 0.0
        down[i] = 1.0 / up[i] if in_range else 0.0
    return in_range


@summing_kernel
def logistic_laplacian_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, V: Any, out: Any, up: Any, down: Any
) -> None:
    """Out = L V for the short rankings listed; L = sum of u v_i v_j sigma'(s_i - s_j) (1_i - 1_j)(1_i - 1_j)^T."""
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        start, end = level_ptr[first_level], level_ptr[last_level]
        in_range = _exponentials(s, start, end, out, up, down)
        for level in range(first_level + 1, last_level):
            here = level_ptr[level]
            losers, push, weight, values = s[start:here], out[start:here], v[start:here], V[start:here]
            rise, fall = up[start:here], down[start:here]
            for i in range(here, level_ptr[level + 1]):
                s_i, up_i, down_i, V_i, total, factor = s[i], up[i], down[i], V[i], 0.0, u[r] * v[i]
                for j in range(losers.size):
                    x = min(up_i * fall[j], rise[j] * down_i) if in_range else np.exp(-abs(s_i - losers[j]))
                    part = 1.0 / (1.0 + x)
                    flow = weight[j] * x * part * part * (V_i - values[j])
                    push[j] -= factor * flow
                    total += flow
                out[i] += factor * total
