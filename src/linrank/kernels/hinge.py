"""From active counts to the hinge's value and subgradient; gathers and scatters between rows and members."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel


@kernel
def hinge_sums(s: Any, v: Any, u: Any, ranking_ptr: Any, first: int, last: int, margin: float, c: Any, d: Any) -> float:
    """Sum of u v_i v_j max(0, margin - (s_i - s_j)) over rankings first ... last - 1; d becomes its gradient.

    Lemmas 1 and 2 of TreeRSVM: with e = v (c - d), the sum is margin * sum(v c) + sum(s e), its gradient e.
    Scores enter as differences to their ranking's mean (e sums to 0), or a common offset would eat the digits; the mean
    is weighted by |e|, or one score far out, without active pairs, would do the same. v is None for unit weights.
    O(members).
    """
    value = 0.0
    for r in range(first, last):
        start, end = ranking_ptr[r], ranking_ptr[r + 1]
        mean = 0.0
        total = 0.0
        for i in range(start, end):
            size = abs(c[i] - d[i]) if v is None else v[i] * abs(c[i] - d[i])
            mean += size * s[i]
            total += size
        if total > 0.0:
            mean /= total
        active = 0.0
        moment = 0.0
        for i in range(start, end):
            weight = 1.0 if v is None else v[i]
            e_i = weight * (c[i] - d[i])
            active += weight * c[i]
            moment += (s[i] - mean) * e_i
            d[i] = u[r] * e_i
        value += u[r] * (margin * active + moment)
    return value


@kernel
def weighted_sum(v: Any, u: Any, ranking_ptr: Any, first: int, last: int, c: Any) -> float:
    """Sum of u v_i c_i over rankings first ... last - 1: the weight of their active pairs. O(members)."""
    value = 0.0
    for r in range(first, last):
        total = 0.0
        for i in range(ranking_ptr[r], ranking_ptr[r + 1]):
            total += c[i] if v is None else v[i] * c[i]
        value += u[r] * total
    return value


@kernel
def ranking_sums(v: Any, u: Any, ranking_ptr: Any, c: Any, out: Any) -> None:
    """out[r] = sum of u v_i c_i over the members of ranking r. O(members)."""
    for r in range(u.size):
        total = 0.0
        for i in range(ranking_ptr[r], ranking_ptr[r + 1]):
            total += c[i] if v is None else v[i] * c[i]
        out[r] = u[r] * total


@kernel
def gather(row: Any, values: Any, first: int, last: int, out: Any) -> None:
    """out[i] = values[row[i]] for members first ... last - 1. O(members); np.take would convert the indices first."""
    for i in range(first, last):
        out[i] = values[np.uint32(row[i])]  # unsigned: no test for negative ones


@kernel
def scatter_add(row: Any, values: Any, factor: float, first: int, last: int, out: Any) -> None:
    """out[row[i]] += factor * values[i] for members first ... last - 1. O(members)."""
    for i in range(first, last):
        out[np.uint32(row[i])] += factor * values[i]
