"""Sums over active partners in a ranking of few levels, position by position in the order of its scores.

The active winners of a member stand before a position `right`, its active losers from `left` on, and both move on with
the member's own position (`counting.windows`). So the sums of all values before a position, level by level, are put
into a table of some positions at a time, one vector addition each; the members whose windows end there read their
answers off it, and so for the sums of all values from a position on, going back. Scores, levels and values are read in
their order, and nothing is subtracted: a sum over no partners is 0. Any part of the positions may begin with the sums
held there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel
from ._vector import FLOAT_LANES, next_after, prefetch

#: Most levels: each has a lane.
MOST_LEVELS = FLOAT_LANES
#: Positions in a table: two of them fit the first cache.
ROWS = 128
#: Chains of additions that go on at once.
CHAINS = 4
AHEAD = 32  # members asked for before they are needed: they lie anywhere


@kernel
def level_sums(level: Any, values: Any, sums: Any) -> None:
    """Sums of the values, level by level; None: counts. O(n).

    In CHAINS sums that are added up at the end: sums is (CHAINS, FLOAT_LANES), and its first row the answer.
    """
    sums[:] = 0.0
    for p in range(level.size):
        sums[p % CHAINS, level[p]] += 1.0 if values is None else values[p]
    for chain in range(1, CHAINS):
        for k in range(FLOAT_LANES):
            sums[0, k] += sums[chain, k]


@kernel
def held_sums(sums: Any, top: int, before: Any, after: Any) -> None:
    """What is held where parts meet, by lanes as in `table_sums`: by the parts before, and by those after. O(parts)."""
    n_parts = sums.shape[0]
    before[0, :] = 0.0
    after[n_parts, :] = 0.0
    for j in range(n_parts):
        total = 0.0
        for lane in range(top):
            before[j + 1, lane] = before[j, lane] + total
            total += sums[j, 0, top - 1 - lane]
    for j in range(n_parts - 1, -1, -1):
        total = 0.0
        for lane in range(top):
            after[j, lane] = after[j + 1, lane] + total
            total += sums[j, 0, lane]


@kernel
def table_sums(
    level: Any, values: Any, bounds: Any, top: int, first: int, last: int, winners: Any, losers: Any, ahead: Any,
    back: Any, out: Any,
) -> None:  # fmt: skip
    """Sums of values (None: counts) over active winners, out[:n], and losers, out[n:], by position.

    Positions first ... last - 1 enter, at either end of them. Members winners[0] ... winners[1] - 1 have their `right`
    in first + 1 ... last and losers[0] ... losers[1] - 1 their `left` in first ... last - 1; those at the very ends
    belong to the first and the last part. Row r of `ahead` holds the sums before the r-th position of a table at levels
    above top - 1 - lane, of `back` those from a position on at levels below lane, `top` being the number of levels; at
    the start their first rows are what is held there. O(last - first), and the number of members.
    """
    n, p, q = level.size, winners[0], losers[1] - 1
    for done in range(0, last - first, ROWS):
        size = min(ROWS, last - first - done)
        low, high = first + done, last - done
        for r in range(size):
            at = low + r
            next_after(ahead, r, top - 1 - np.int64(level[at]), 1.0 if values is None else values[at])
            at = high - 1 - r
            next_after(back, r, np.int64(level[at]), 1.0 if values is None else values[at])
        while p < winners[1] and bounds[p] <= low + size:
            row = np.int64(bounds[p]) - low
            out[p] = ahead[FLOAT_LANES * row + top - 1 - np.int64(level[p])]
            p += 1
        while q >= losers[0] and bounds[n + q] >= high - size:
            row = high - np.int64(bounds[n + q])
            out[n + q] = back[FLOAT_LANES * row + np.int64(level[q])]
            q -= 1
        for k in range(FLOAT_LANES):
            ahead[k] = ahead[FLOAT_LANES * size + k]
            back[k] = back[FLOAT_LANES * size + k]


@kernel
def to_positions(order: Any, values: Any, out: Any) -> None:
    """out[p] = the value of the member at position p. O(n)."""
    for p in range(order.size):
        prefetch(values, np.int64(order[min(p + AHEAD, order.size - 1)]))
        out[p] = values[order[p]]


@kernel
def add_both(order: Any, winners: Any, losers: Any, factor: Any, out: Any) -> None:
    """out[i] += factor * (sum over active winners + over losers) of the member at each position. O(n).

    Where factor is None, out[i] becomes that sum.
    """
    for p in range(order.size):
        prefetch(out, np.int64(order[min(p + AHEAD, order.size - 1)]))
        if factor is None:
            out[order[p]] = winners[p] + losers[p]
        else:
            out[order[p]] += factor * (winners[p] + losers[p])


@kernel
def part_both(order: Any, winners: Any, losers: Any, c: Any, d: Any) -> None:
    """Sums over winners to c and over losers to d, from positions to members. O(n)."""
    for p in range(order.size):
        later = np.int64(order[min(p + AHEAD, order.size - 1)])
        prefetch(c, later)
        prefetch(d, later)
        c[order[p]] = winners[p]
        d[order[p]] = losers[p]
