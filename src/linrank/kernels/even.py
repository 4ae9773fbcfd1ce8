"""What even losses need beside their sums over sorted scores: levels in that order, and the part that is linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel, summing_kernel


@kernel
def to_levels(order: Any, level_ptr: Any, base: int, level: Any, cursor: Any, grouped: Any) -> None:
    """Sorted positions, grouped by level and in order of score within each. O(n).

    `level` and `cursor` are work space, a place for each member and each level.
    """
    for k in range(level_ptr.size - 1):
        cursor[k] = level_ptr[k] - base
        for i in range(level_ptr[k] - base, level_ptr[k + 1] - base):
            level[i] = k
    for p in range(order.size):
        own = np.uint32(level[np.uint32(order[p])])  # unsigned: no test for negative ones
        place = cursor[own]
        grouped[place] = p
        cursor[own] = place + 1


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
def linear_sums(s: Any, middle: float, v: Any, balance: Any) -> tuple[float, float, float]:
    """Sums of v (s - middle) balance, of its absolute values, and of v |s - middle|. O(n)."""
    linear, size, moment = 0.0, 0.0, 0.0
    for i in range(s.size):
        part = v[i] * (s[i] - middle)
        linear += part * balance[i]
        size += abs(part * balance[i])
        moment += abs(part)
    return linear, size, moment


@kernel
def add_sorted(order: Any, T: Any, v: Any, u: float, out: Any) -> None:
    """Out = u v (out + T), T being in sorted order: what sums over partners are to a gradient. O(n)."""
    for p in range(order.size):
        i = np.uint32(order[p])
        out[i] = u * v[i] * (out[i] + T[p])
