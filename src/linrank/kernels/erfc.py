"""Fast sums of erfc and Gaussian functions by a truncated Fourier series: RankNCG, section 5.

    erfc(t)  = 1 - (4/pi) sum over odd n < 2p of e^{-n^2 h^2} / n  sin(2 n h t)        Beaulieu's series, equation (20)
    e^{-t^2} = (4h/sqrt(pi)) sum over odd n < 2p of e^{-n^2 h^2} cos(2 n h t)          its derivative

with t = y - z, separated about cluster centres. Sources are summed into coefficients of their cell, O(p) each; the
cells within reach of a target cell are turned to its centre, and targets evaluated there, O(p) each. (The paper
evaluates the series of every cell within reach at every target: turning them first saves a factor of about 12.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._jit import kernel, summing_kernel

#: Points whose series are followed at once, as vectors.
CHUNK = 128


@summing_kernel
def source_series(ptr: Any, z: Any, q: Any, centre: Any, h: float, work: Any, A: Any, B: Any) -> None:
    """A[k, j] = sum of q cos(2 n h (z - c_k)), n = 2 j + 1, over the sources of cell k; B the same with sin. O(N p).

    ptr cuts the sources into cells; `work` is (4, CHUNK).
    """
    cosine, sine, turn_c, turn_s = work[0], work[1], work[2], work[3]
    for k in range(ptr.size - 1):
        for first in range(ptr[k], ptr[k + 1], CHUNK):
            count = min(CHUNK, ptr[k + 1] - first)
            weights = q[first : first + count]
            for i in range(count):
                angle = 2.0 * h * (z[first + i] - centre[k])
                cosine[i], sine[i] = np.cos(angle), np.sin(angle)
                turn_c[i], turn_s[i] = np.cos(2.0 * angle), np.sin(2.0 * angle)
            for j in range(A.shape[1]):
                a, b = 0.0, 0.0
                for i in range(count):
                    a += weights[i] * cosine[i]
                    b += weights[i] * sine[i]
                    c = cosine[i] * turn_c[i] - sine[i] * turn_s[i]
                    sine[i] = sine[i] * turn_c[i] + cosine[i] * turn_s[i]
                    cosine[i] = c
                A[k, j] += a
                B[k, j] += b


@kernel
def turn_series(
    target: Any, centre: Any, A: Any, B: Any, Q: Any, reach: float, h: float, C: Any, D: Any, near: Any, right: Any
) -> None:
    """Series of all cells within reach of each target cell, about its centre: C[t], D[t]; near and right their weights.

    C[t, j] = sum over cells of A cos(2 n h (c_t - c_k)) + B sin(...), D[t, j] = sum of A sin(...) - B cos(...), so that
    sum of q sin(2 n h (y - z)) = C sin(2 n h (y - c_t)) + D cos(...). Both lists of centres increase. `right` is the
    weight of the cells to the right, out of reach. O(target cells x cells within reach x p).
    """
    total = 0.0
    for k in range(centre.size):
        total += Q[k]
    low, high, up_to_high = 0, 0, 0.0
    for t in range(target.size):
        while low < centre.size and centre[low] < target[t] - reach:
            low += 1
        while high < centre.size and centre[high] <= target[t] + reach:
            up_to_high += Q[high]
            high += 1
        right[t] = total - up_to_high
        near[t] = 0.0
        for j in range(A.shape[1]):
            C[t, j] = 0.0
            D[t, j] = 0.0
        for k in range(low, high):
            near[t] += Q[k]
            angle = 2.0 * h * (target[t] - centre[k])
            c, s = np.cos(angle), np.sin(angle)
            turn_c, turn_s = np.cos(2.0 * angle), np.sin(2.0 * angle)
            for j in range(A.shape[1]):
                C[t, j] += A[k, j] * c + B[k, j] * s
                D[t, j] += A[k, j] * s - B[k, j] * c
                c, s = c * turn_c - s * turn_s, s * turn_c + c * turn_s


@summing_kernel
def target_series(ptr: Any, y: Any, centre: Any, h: float, C: Any, D: Any, base: Any, work: Any, out: Any) -> None:
    """Out = base of the cell + sum over j of C sin(2 n h (y - c)) + D cos(2 n h (y - c)). O(M p)."""
    cosine, sine, turn_c, turn_s = work[0], work[1], work[2], work[3]
    for t in range(ptr.size - 1):
        for first in range(ptr[t], ptr[t + 1], CHUNK):
            count = min(CHUNK, ptr[t + 1] - first)
            answer = out[first : first + count]
            for i in range(count):
                angle = 2.0 * h * (y[first + i] - centre[t])
                cosine[i], sine[i] = np.cos(angle), np.sin(angle)
                turn_c[i], turn_s[i] = np.cos(2.0 * angle), np.sin(2.0 * angle)
                answer[i] = base[t]
            for j in range(C.shape[1]):
                a, b = C[t, j], D[t, j]
                for i in range(count):
                    answer[i] += a * sine[i] + b * cosine[i]
                    c = cosine[i] * turn_c[i] - sine[i] * turn_s[i]
                    sine[i] = sine[i] * turn_c[i] + cosine[i] * turn_s[i]
                    cosine[i] = c


@kernel
def direct_sums(ptr: Any, segments: Any, y: Any, q: Any, erfc: Any, gauss: Any) -> None:
    """erfc_i = sum of q_j erfc(y_i - y_j), gauss_i = sum of q_j e^{-(y_i - y_j)^2}, within the segments listed."""
    for k in range(segments.size):
        t = segments[k]
        for i in range(ptr[t], ptr[t + 1]):
            a, b = 0.0, 0.0
            for j in range(ptr[t], ptr[t + 1]):
                difference = y[i] - y[j]
                a += q[j] * math.erfc(difference)
                b += q[j] * np.exp(-difference * difference)
            erfc[i], gauss[i] = a, b


@kernel
def direct_erfc(y: Any, z: Any, q: Any, out: Any) -> None:
    """out_i = sum of q_j erfc(y_i - z_j), one by one. O(M N)."""
    for i in range(y.size):
        total = 0.0
        for j in range(z.size):
            total += q[j] * math.erfc(y[i] - z[j])
        out[i] = total


@kernel
def surrogate_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, scale: float, g: Any
) -> float:
    """Sum of u v_i v_j phi(s_i - s_j), phi' = -erfc(scale z)/2, over the rankings listed; g becomes its gradient."""
    answer = 0.0
    height = 0.5 / (scale * np.sqrt(np.pi))
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        end = level_ptr[last_level]
        for i in range(level_ptr[first_level], end):
            g[i] = 0.0
        for level in range(first_level, last_level):
            above = level_ptr[level + 1]
            for i in range(level_ptr[level], above):
                factor, sum1, sum2 = u[r] * v[i], 0.0, 0.0
                for j in range(above, end):
                    z = s[j] - s[i]
                    slope = 0.5 * math.erfc(scale * z)
                    g[j] -= factor * v[j] * slope
                    sum1 += v[j] * slope
                    sum2 += v[j] * (height * np.exp(-((scale * z) ** 2)) - z * slope)
                g[i] += factor * sum1
                answer += factor * sum2
    return answer


@kernel
def surrogate_laplacian_direct(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, scale: float, V: Any, out: Any
) -> None:
    """Out = L V for the rankings listed, with phi''(z) = scale e^{-(scale z)^2} / sqrt(pi)."""
    height = scale / np.sqrt(np.pi)
    for t in range(rankings.size):
        r = rankings[t]
        first_level, last_level = ranking_levels[r], ranking_levels[r + 1]
        end = level_ptr[last_level]
        for i in range(level_ptr[first_level], end):
            out[i] = 0.0
        for level in range(first_level, last_level):
            above = level_ptr[level + 1]
            for i in range(level_ptr[level], above):
                factor, total = u[r] * v[i], 0.0
                for j in range(above, end):
                    z = scale * (s[j] - s[i])
                    flow = v[j] * height * np.exp(-z * z) * (V[i] - V[j])
                    out[j] -= factor * flow
                    total += flow
                out[i] += factor * total
