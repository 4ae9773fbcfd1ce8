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

from ._jit import inlined, kernel
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
#: Gaps up to this are small.
NEAR = 1 / 16


@inlined
def exp_near_0(z: float) -> float:
    """e^z for |z| <= NEAR, to a unit in the last place: the next term is z^10 / 10!."""
    high = 1 / 120 + z * (1 / 720 + z * (1 / 5040 + z * (1 / 40320 + z * (1 / 362880))))
    return 1.0 + z * (1.0 + z * (1 / 2 + z * (1 / 6 + z * (1 / 24 + z * high))))


@kernel
def gaps(ptr: Any, s: Any, x: Any) -> None:
    """x_p = e^-(s_p - s_{p-1}), and 0 at the start of each segment of sorted scores. O(n).

    Most gaps of a crowded segment are small: all are taken by a polynomial, in vectors, and then the others once more.
    """
    for t in range(ptr.size - 1):
        start, end = ptr[t], ptr[t + 1]
        if start == end:
            continue
        x[start] = 0.0
        before, after, here = s[start : end - 1], s[start + 1 : end], x[start + 1 : end]
        crowded = s[end - 1] - s[start] < 0.5 * NEAR * (end - start)
        if crowded:
            for p in range(here.size):
                here[p] = exp_near_0(before[p] - after[p])
        for p in range(here.size):
            z = before[p] - after[p]
            if not crowded or z < -NEAR:
                here[p] = np.exp(z)


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
