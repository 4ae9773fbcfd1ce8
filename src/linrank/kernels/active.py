"""Active partners of all members of a block of rankings: one place chooses the kernel for each ranking.

Rankings up to `SHORT` members are compared pair by pair; longer ones are sorted and swept, with counts taken
anew per level up to `FEW_LEVELS` levels and with a tree of counts beyond. The crossovers are measured by
``benchmarks/crossovers.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import counting
from ._scratch import Scratch
from ._vector import LANES

SHORT = 500
FEW_LEVELS = 1024

Floats = NDArray[np.float64]


def active_counts(
    s: Floats,
    v: Floats | None,
    ranking_ptr: NDArray[np.int64],
    level_ptr: NDArray[np.int64],
    ranking_levels: NDArray[np.int64],
    first: int,
    last: int,
    margin: float,
    c: Floats,
    d: Floats,
    scratch: Scratch,
) -> None:
    """Fill c and d for the members of rankings first ... last - 1: their active partners' weights.

    All arrays are those of the whole data set, in the members' order.
    """
    size = np.diff(ranking_ptr[first : last + 1])
    short = first + np.flatnonzero(size <= SHORT)
    if short.size:
        counting.count_direct(s, v, level_ptr, ranking_levels, short, margin, c, d)
    for r in first + np.flatnonzero(size > SHORT):
        start, end = ranking_ptr[r], ranking_ptr[r + 1]
        levels = level_ptr[ranking_levels[r] : ranking_levels[r + 1] + 1]
        v_r = None if v is None else v[start:end]
        count_sorted(s[start:end], v_r, levels, int(start), margin, c[start:end], d[start:end], scratch)


def count_sorted(
    s: Floats,
    v: Floats | None,
    levels: NDArray[np.int64],
    base: int,
    margin: float,
    c: Floats,
    d: Floats,
    scratch: Scratch,
) -> None:
    """Fill c and d of one ranking by sorting its scores and sweeping its levels."""
    n = s.size
    order, sorted_s = sort_scores(s, scratch)
    bounds = scratch.take("bounds", 2 * n, np.int32)
    where = scratch.take("where", 3 * n, np.int32).reshape(n, 3)
    counting.windows(sorted_s, margin, bounds)
    counting.to_members(order, bounds, where)
    if v is not None:
        prefix, tree = scratch.zeros("prefix", n + 1, np.float64), scratch.zeros("tree", n + 1, np.float64)
        np.cumsum(v[order], out=prefix[1:])
        counting.count_weighted(levels, base, v, where, prefix, tree, c, d)
        return
    words = n // 64 + 1
    bitmap = scratch.zeros("bitmap", words, np.uint64)
    if levels.size - 1 <= FEW_LEVELS:
        counting.count_levels(levels, base, where, bitmap, scratch.zeros("running", words, np.int32), c, d)
    else:
        counting.count_tree(levels, base, where, bitmap, *_empty_counts(words), c, d)


def _empty_counts(words: int) -> tuple[Any, Any, Any, Any]:
    """Zeroed counts over 32 words, 32 of those, 32 of those, and in all."""
    nodes = [-(-words // LANES**k) for k in (1, 2, 3)]
    return (
        np.zeros(LANES * nodes[0], np.uint16),
        np.zeros(LANES * nodes[1], np.uint16),
        np.zeros(LANES * nodes[2], np.int32),
        np.zeros(nodes[2], np.int64),
    )


def sort_scores(s: Floats, scratch: Scratch) -> tuple[NDArray[np.int32], Floats]:
    """Return order and sorted scores: numpy's sort of keys that carry the row number in their last bits.

    Half the time of an argsort. Where too many scores agree in their leading bits, it is an argsort.
    """
    n = s.size
    bits = max(1, (n - 1).bit_length())
    keys = scratch.take("keys", n, np.float64)
    keys[:] = s
    counting.pack_keys(keys.view(np.int64), bits)
    keys.sort()
    order, sorted_s = scratch.take("order", n, np.int32), scratch.take("sorted_s", n, np.float64)
    if not counting.unpack_keys(keys.view(np.int64), s, bits, order, sorted_s):
        order[:] = np.argsort(s, kind="stable")
        np.take(s, order, out=sorted_s)
    return order, sorted_s
