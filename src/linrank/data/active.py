"""Active partners of all members of a block of rankings: one place chooses the kernel for each ranking.

Short rankings are compared pair by pair; others are sorted and swept, with counts taken anew per level where there are
few levels and with a tree of counts beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from .._work import Work
from ..kernels import counting as kernels
from ..kernels import sums as summing
from ..kernels._vector import FLOAT_LANES, LANES
from ..kernels.tables import MOST_LEVELS
from .checks import check_choice
from .few_levels import FewLevels, fill_windows
from .ordering import Sorted, sort_padded, work_parts
from .rankings import Rankings


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
#: No ranking has as many members.
ALWAYS = 1 << 31
#: One way of counting for all rankings; "auto" is TUNING.
COUNTINGS = {
    "auto": None,
    "pairs": Tuning(short=ALWAYS, short_to_sum=ALWAYS),
    "levels": Tuning(short=-1, short_to_sum=-1, few_levels=ALWAYS, few_levels_to_sum=ALWAYS),
    "tree": Tuning(short=-1, short_to_sum=-1, few_levels=0, few_levels_to_sum=0),
}

#: The smallest positive number: s_i - s_j is below it exactly when s_i <= s_j.
TINY = 5e-324


def check_counting(counting: str) -> None:
    """Refuse a way of counting that there is not."""
    check_choice("counting", counting, tuple(COUNTINGS))


def tuning(counting: str = "auto") -> Tuning:
    """The kernels for a way of counting."""
    return COUNTINGS[counting] or TUNING


def active_counts(
    s: FloatArray, rankings: Rankings, margin: float, c: FloatArray, d: FloatArray, work: Work, counting: str = "auto"
) -> None:
    """Fill c and d for all members of some rankings: their active partners' weights."""
    r, how = rankings, tuning(counting)
    short, long = r.split(how.short)
    if short.size:
        kernels.count_direct(s, r.v, r.level_ptr, r.ranking_levels, short, margin, c, d)
    for number in long:
        here = r.members(number)
        ranking = SortedRanking(sort_padded(s[here], work), r.levels(number), here.start, margin, work, how)
        if r.v is None:
            ranking.counts(c[here], d[here], work)
        else:
            ranking.sums(r.v[here], c[here], d[here], work)


def sorted_ranking(
    found: Sorted, levels: IntArray, base: int, margin: float, work: Work, how: Tuning
) -> SortedRanking | FewLevels:
    """One ranking, ready for sums over active partners of any values: by position where it is large, of few levels.

    Until all that are needed of the same scores are made, the room of the sort must not be used.
    """
    few = levels.size - 1 <= min(MOST_LEVELS, how.few_levels_to_sum)
    if few and len(work_parts(found.order.size)) > 1 and found.finite:
        return FewLevels(found, levels - base, margin, work)
    return SortedRanking(found, levels, base, margin, work, how)


class SortedRanking:
    """One ranking with its windows known, 12 bytes a member: sums over active partners of any values.

    Windows lie in the work and are valid until the next ranking is sorted there: `kept` takes them out of it. Sums use
    the room of "keys" and "bounds", and leave others a third one.
    """

    room = "order"

    def __init__(
        self, found: Sorted, levels: IntArray, base: int, margin: float, work: Work, how: Tuning | None = None
    ) -> None:
        n = found.order.size
        self.size, self.levels, self.base, self.how = n, levels, base, how or TUNING
        bounds = work.take("bounds", 2 * n, np.int32)
        self.where = work.take("where", 3 * n, np.int32).reshape(n, 3)
        # Infinity less infinity is below no margin: windows that begin anywhere rely on a test that does not turn back.
        parts = work_parts(n) if found.finite else [(0, n)]
        fill_windows(found, margin, bounds, parts, work)
        if len(parts) == 1:
            kernels.to_members(found.order, bounds[:n], bounds[n:], 0, self.where)
            return

        def to_members(part: tuple[int, int]) -> None:
            here = slice(*part)
            kernels.to_members(found.order[here], bounds[:n][here], bounds[n:][here], part[0], self.where)

        work.share(to_members, parts)

    def kept(self, work: Work) -> SortedRanking:
        """The same out of the work, which will make room anew."""
        self.where = work.give("where", self.where)
        return self

    def counts(self, c: NDArray[Any], d: NDArray[Any], work: Work) -> None:
        """Numbers of each member's active winners, to c, and active losers, to d. The same for any cuts."""
        words, several = self.size // 64 + 1, min(work.n_threads, len(work_parts(self.size)))
        levels, base, where = self.levels, self.base, self.where
        if several == 1:
            room, top = work.zeros("bitmap", 2 * words, np.uint64), levels.size - 1
            bitmap, running = room[:words], room[words:].view(np.int32)
            if top <= self.how.few_levels:
                kernels.count_levels(levels, base, where, 0, self.size, bitmap, running, c, d)
            else:
                kernels.count_tree(levels, base, where, 0, top, bitmap, _empty_counts(words), c, d)
            return
        ends = [self.size * k // several for k in range(several + 1)]
        rooms = work.zeros("bitmap", 2 * several * words, np.uint64).reshape(several, 2, words)

        def few(k: int) -> None:
            running = rooms[k, 1].view(np.int32)
            kernels.count_levels(levels, base, where, ends[k], ends[k + 1], rooms[k, 0], running, c, d)

        def many(k: int) -> None:
            first, last = np.searchsorted(levels, np.array(ends[k : k + 2]) + base).tolist()
            if first < last:
                held = _empty_counts(words)
                if k:
                    kernels.fill_counts(where, levels[first] - base, rooms[k, 0], held)
                kernels.count_tree(levels, base, where, first, last, rooms[k, 0], held, c, d)

        work.share(few if levels.size - 1 <= self.how.few_levels else many, range(several))

    def sums(self, values: FloatArray, c: FloatArray, d: FloatArray, work: Work) -> None:
        """Sums of values over each member's active winners, to c, and losers, to d."""
        if self.levels.size - 1 <= self.how.few_levels_to_sum:
            self._sum_levels(values, c, d, work)
        else:
            self._sum_tree(values, 1.0, (c, d), work)

    def fill(self, values: FloatArray, out: FloatArray, work: Work) -> None:
        """Sums of values over each member's active partners, winners and losers, to out."""
        if self.levels.size - 1 > self.how.few_levels_to_sum:
            out.fill(0.0)
            self._sum_tree(values, 1.0, (None, out), work)
            return
        losers = work.take("partners", self.size, np.float64)
        self._sum_levels(values, out, losers, work)
        out += losers

    def add(self, values: FloatArray, factor: float, out: FloatArray, work: Work) -> None:
        """Add factor times the same to out."""
        if self.levels.size - 1 > self.how.few_levels_to_sum:
            self._sum_tree(values, factor, (None, out), work)
            return
        both = work.take("partners", 2 * self.size, np.float64)
        c, d = both[: self.size], both[self.size :]
        self._sum_levels(values, c, d, work)
        summing.add_sums(c, d, factor, out)

    def _sum_levels(self, values: FloatArray, c: FloatArray, d: FloatArray, work: Work) -> None:
        n = self.size
        everything, running = work.take("keys", n + 1, np.float64), work.take("bounds", n + 1, np.float64)
        held = work.zeros("held", n, np.float64)
        summing.running_sums(values, self.where, everything)
        summing.sum_levels(self.levels, self.base, values, self.where, everything, held, running, c, d)

    def _sum_tree(
        self, values: FloatArray, factor: float, sums: tuple[FloatArray | None, FloatArray], work: Work
    ) -> None:
        """By a tree, on one thread: a second one would first have to enter what the first has."""
        n, levels, base = self.size, self.levels, self.base
        sizes = [n + 1]
        while sizes[-1] > FLOAT_LANES:
            sizes.append((sizes[-1] - 1) // FLOAT_LANES + 1)
        padded = [-(-size // FLOAT_LANES) * FLOAT_LANES for size in sizes]
        offsets = tuple(accumulate(padded[:-1], initial=0))
        everything = work.take("keys", n + 1, np.float64)
        tree = work.zeros("bounds", sum(padded), np.float64)
        summing.running_sums(values, self.where, everything)
        summing.sum_tree(levels, base, values, self.where, everything, tree, offsets, factor, *sums)


def _empty_counts(words: int) -> tuple[Any, Any, Any, Any]:
    """Zeroed counts over 32 words, 32 of those, 32 of those, and in all."""
    nodes = [-(-words // LANES**k) for k in (1, 2, 3)]
    return (
        np.zeros(LANES * nodes[0], np.uint16),
        np.zeros(LANES * nodes[1], np.uint16),
        np.zeros(LANES * nodes[2], np.int32),
        np.zeros(nodes[2], np.int64),
    )
