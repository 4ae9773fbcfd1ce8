"""Active partners of all members of a block of rankings: one place chooses the kernel for each ranking.

Short rankings are compared pair by pair; others are sorted and swept, with counts taken anew per level where there are
few levels and with a tree of counts beyond.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._work import Work
from ..kernels import counting
from ..kernels._vector import FLOAT_LANES, LANES
from .ordering import sort_scores


@dataclass(frozen=True)
class Tuning:
    """Where one kernel overtakes another; ``benchmarks/run.py crossovers`` prints them beside what it measures."""

    #: Pairs a member up to which a ranking is compared pair by pair: where the loss counts (hinge),
    short: int = 650
    #: where it sums as well (squared hinge),
    short_to_sum: int = 800
    #: and for the logistic loss, of which a pair costs more.
    short_logistic: int = 230
    #: Levels up to which counts, and sums, are taken anew for each level instead of kept in a tree.
    few_levels: int = 1200
    few_levels_to_sum: int = 20


TUNING = Tuning()

#: The smallest positive number: s_i - s_j is below it exactly when s_i <= s_j.
TINY = 5e-324

Floats = NDArray[np.float64]


def active_counts(s: Floats, rankings: Any, margin: float, c: Floats, d: Floats, work: Work) -> None:
    """Fill c and d for all members of some rankings: their active partners' weights."""
    r = rankings
    short, long = r.split(TUNING.short)
    if short.size:
        counting.count_direct(s, r.v, r.level_ptr, r.ranking_levels, short, margin, c, d)
    for number in long:
        here = r.members(number)
        v = None if r.v is None else r.v[here]
        count_sorted(s[here], v, r.levels(number), here.start, margin, c[here], d[here], work)


def count_sorted(
    s: Floats,
    v: Floats | None,
    levels: NDArray[np.int64],
    base: int,
    margin: float,
    c: Floats,
    d: Floats,
    work: Work,
) -> None:
    """Fill c and d of one ranking by sorting its scores and sweeping its levels."""
    SortedRanking(*sort_scores(s, work), levels, base, margin, work).fill(v, c, d, work)


class SortedRanking:
    """One ranking with its scores sorted and its windows known: sums over active partners of any values.

    Order and windows lie in the work and are valid until the next ranking is sorted there: `kept` copies them.
    """

    def __init__(
        self,
        order: NDArray[np.int32],
        sorted_s: Floats,
        levels: NDArray[np.int64],
        base: int,
        margin: float,
        work: Work,
    ) -> None:
        n = order.size
        self.order, self.levels, self.base = order, levels, base
        bounds = work.take("bounds", 2 * n, np.int32)
        self.where = work.take("where", 3 * n, np.int32).reshape(n, 3)
        counting.windows(sorted_s, margin, bounds)
        counting.to_members(self.order, bounds, self.where)

    def kept(self) -> SortedRanking:
        """A copy that does not lie in the work."""
        other = copy.copy(self)
        other.order, other.where = self.order.copy(), self.where.copy()
        return other

    def sums(self, values: Floats | None, work: Work) -> tuple[Floats, Floats]:
        """Sums of values (None: counts) over each member's active winners, and over its active losers."""
        c, d = np.empty(self.order.size), np.empty(self.order.size)
        self.fill(values, c, d, work)
        return c, d

    def fill(self, values: Floats | None, c: Floats, d: Floats, work: Work) -> None:
        """As `sums`, into given arrays."""
        n, levels, base = self.order.size, self.levels, self.base
        if values is not None:
            self._fill_sums(values, c, d, work)
            return
        words = n // 64 + 1
        bitmap = work.zeros("bitmap", words, np.uint64)
        if levels.size - 1 <= TUNING.few_levels:
            running = work.zeros("running", words, np.int32)
            counting.count_levels(levels, base, self.where, bitmap, running, c, d)
        else:
            counting.count_tree(levels, base, self.where, bitmap, *_empty_counts(words), c, d)

    def _fill_sums(self, values: Floats, c: Floats, d: Floats, work: Work) -> None:
        n, levels, base = self.order.size, self.levels, self.base
        everything = work.take("everything", n + 1, np.float64)
        counting.running_sums(values, self.order, everything)
        if levels.size - 1 <= TUNING.few_levels_to_sum:
            held, running = work.zeros("held", n, np.float64), work.take("running sums", n + 1, np.float64)
            counting.sum_levels(levels, base, values, self.where, everything, held, running, c, d)
            return
        sizes = [n + 1]
        while sizes[-1] > FLOAT_LANES:
            sizes.append((sizes[-1] - 1) // FLOAT_LANES + 1)
        padded = [-(-size // FLOAT_LANES) * FLOAT_LANES for size in sizes]
        offsets = tuple(accumulate(padded[:-1], initial=0))
        tree = work.zeros("tree", sum(padded), np.float64)
        counting.sum_tree(levels, base, values, self.where, everything, offsets, tree, c, d)


def _empty_counts(words: int) -> tuple[Any, Any, Any, Any]:
    """Zeroed counts over 32 words, 32 of those, 32 of those, and in all."""
    nodes = [-(-words // LANES**k) for k in (1, 2, 3)]
    return (
        np.zeros(LANES * nodes[0], np.uint16),
        np.zeros(LANES * nodes[1], np.uint16),
        np.zeros(LANES * nodes[2], np.int32),
        np.zeros(nodes[2], np.int64),
    )
