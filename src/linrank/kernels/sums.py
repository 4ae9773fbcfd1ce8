"""Sums of any values over active partners, as `counting.py` counts them.

    sum_levels      few levels: values by position, filled level by level and added up anew each time
    sum_tree        any number of levels: a tree of sums that follow each insertion

Both work on one ranking whose windows are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel
from ._vector import add_value_after, prefetch

AHEAD = 16  # members


@kernel
def running_sums(values: Any, where: Any, out: Any) -> None:
    """out[p] = sum of the values of the first p members by their position where[i, 0], p = 0 ... n. O(n)."""
    out[0] = 0.0
    for i in range(values.size):
        out[where[i, 0] + 1] = values[i]
    total = 0.0
    for p in range(1, out.size):
        total += out[p]
        out[p] = total


@kernel
def sum_levels(
    level_ptr: Any, base: int, values: Any, where: Any, everything: Any, held: Any, running: Any, c: Any, d: Any
) -> None:
    """Sums c and d of values over the active partners in one sorted ranking of few levels k, in O(n k).

    As `count_levels`: held[p] is the value at position p once its level has entered (zeros at the start), running[p]
    (n + 1) the sum held before position p, everything[p] the sum of all values before position p.
    """
    n = values.size
    running[:] = 0.0
    for level in range(level_ptr.size - 1):
        start, end = level_ptr[level] - base, level_ptr[level + 1] - base
        for i in range(start, end):
            d[i] = running[n] - running[where[i, 1]]
        for i in range(start, end):
            held[where[i, 0]] = values[i]
        total = 0.0
        for p in range(n):
            running[p] = total
            total += held[p]
        running[n] = total
        for i in range(start, end):
            c[i] = everything[where[i, 2]] - running[where[i, 2]]


@kernel
def add_sums(c: Any, d: Any, factor: float, out: Any) -> None:
    """Add factor (c + d) to out. O(n)."""
    for i in range(out.size):
        out[i] += factor * (c[i] + d[i])


@kernel
def sum_tree(
    level_ptr: Any, base: int, values: Any, where: Any, everything: Any, cells: Any, offsets: Any, factor: float,
    c: Any, d: Any,
) -> None:  # fmt: skip
    """Sums of values over the active partners in one sorted ranking: the sweep of `count_tree`, with floats.

    Where c is None, factor times both is added to d.

    The tree has 16 children a node. At height h, cells[offsets[h] + (p >> 4 h)] is the sum held before that cell within
    its node, so an insertion is one vector addition a height and a query one load a height. O(n log n) with logarithms
    to base 16. `cells` are zeros at the start; `offsets` is a tuple, so that its loops are unrolled. c and d
    are differences of sums: exact to rounding of the largest sum. Places are known in advance, so their leaves are
    asked for some members ahead: waiting for them would take most of the time.
    """
    held = 0.0
    for level in range(level_ptr.size - 1):
        start, end = level_ptr[level] - base, level_ptr[level + 1] - base
        for i in range(start, end):
            later = min(i + AHEAD, values.size - 1)
            leaf = np.int64(where[later, 0]) & ~15  # 16 cells, two lines
            prefetch(cells, leaf)
            prefetch(cells, leaf + 8)
            prefetch(cells, where[later, 1])
            prefetch(cells, where[later, 2])
            prefetch(everything, where[later, 2])
            before, p = 0.0, np.uint64(where[i, 1])
            for h in range(len(offsets)):
                before += cells[np.uint64(offsets[h]) + (p >> np.uint64(4 * h))]
            if c is None:
                d[i] += factor * (held - before)
            else:
                d[i] = held - before
        for i in range(start, end):
            position = where[i, 0]
            for h in range(len(offsets)):
                cell = position >> (4 * h)
                add_value_after(cells, (offsets[h] >> 4) + (cell >> 4), cell & 15, values[i])
            held += values[i]
        for i in range(start, end):
            before, p = 0.0, np.uint64(where[i, 2])
            for h in range(len(offsets)):
                before += cells[np.uint64(offsets[h]) + (p >> np.uint64(4 * h))]
            if c is None:
                d[i] += factor * (everything[p] - before)
            else:
                c[i] = everything[p] - before
