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

from .._typing import FloatArray
from .._work import Work
from ..kernels import counting as kernels
from ..kernels._vector import FLOAT_LANES, LANES
from .checks import check_choice
from .ordering import sort_scores
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
        v = None if r.v is None else r.v[here]
        ranking = SortedRanking(*sort_scores(s[here], work), r.levels(number), here.start, margin, work, how)
        ranking.fill(v, c[here], d[here], work)


class SortedRanking:
    """One ranking with its scores sorted and its windows known: sums over active partners of any values.

    `last`: the sorted scores are not needed again, so sums may use their room. Windows lie in the work and
    are valid until the next ranking is sorted there: `kept` takes them out of it.
    """

    def __init__(
        self,
        order: NDArray[np.int32],
        sorted_s: FloatArray,
        levels: NDArray[np.int64],
        base: int,
        margin: float,
        work: Work,
        how: Tuning | None = None,
        last: bool = True,
    ) -> None:
        n = order.size
        # The room of the sort is free after the last margin.
        self._room = ("keys", "spare keys", "order") if last else ("everything", "held", "losers")
        self.size, self.levels, self.base, self.how = n, levels, base, how or TUNING
        bounds = work.take("bounds", 2 * n, np.int32)
        self.where = work.take("where", 3 * n, np.int32).reshape(n, 3)
        kernels.windows(sorted_s, margin, bounds)
        kernels.to_members(order, bounds, self.where)

    def kept(self, work: Work) -> SortedRanking:
        """The same out of the work, which will make room anew."""
        other = copy.copy(self)
        other.where = work.give("where", self.where).reshape(self.size, 3)
        return other

    def sums(self, values: FloatArray | None, work: Work) -> tuple[FloatArray, FloatArray]:
        """Sums of values (None: counts) over each member's active winners, and over its active losers."""
        c, d = np.empty(self.size), np.empty(self.size)
        self.fill(values, c, d, work)
        return c, d

    def sum_of_both(self, values: FloatArray, work: Work, out: FloatArray | None = None) -> FloatArray:
        """Sums of values over each member's active partners, winners and losers."""
        both = np.empty(self.size) if out is None else out
        losers = work.take(self._room[2], self.size, np.float64)
        self.fill(values, both, losers, work)
        both += losers
        return both

    def fill(self, values: FloatArray | None, c: FloatArray, d: FloatArray, work: Work) -> None:
        """As `sums`, into given arrays."""
        n, levels, base = self.size, self.levels, self.base
        if values is not None:
            self._fill_sums(values, c, d, work)
            return
        words = n // 64 + 1
        bitmap = work.zeros("bitmap", words, np.uint64)
        if levels.size - 1 <= self.how.few_levels:
            running = work.zeros("running", words, np.int32)
            kernels.count_levels(levels, base, self.where, bitmap, running, c, d)
        else:
            kernels.count_tree(levels, base, self.where, bitmap, *_empty_counts(words), c, d)

    def _fill_sums(self, values: FloatArray, c: FloatArray, d: FloatArray, work: Work) -> None:
        n, levels, base = self.size, self.levels, self.base
        everything = work.take(self._room[0], n + 1, np.float64)
        kernels.running_sums(values, self.where, everything)
        if levels.size - 1 <= self.how.few_levels_to_sum:
            held, running = work.zeros(self._room[1], n, np.float64), work.take("bounds", n + 1, np.float64)
            kernels.sum_levels(levels, base, values, self.where, everything, held, running, c, d)
            return
        sizes = [n + 1]
        while sizes[-1] > FLOAT_LANES:
            sizes.append((sizes[-1] - 1) // FLOAT_LANES + 1)
        padded = [-(-size // FLOAT_LANES) * FLOAT_LANES for size in sizes]
        offsets = tuple(accumulate(padded[:-1], initial=0))
        tree = work.zeros("tree", sum(padded), np.float64)
        kernels.sum_tree(levels, base, values, self.where, everything, offsets, tree, c, d)


def _empty_counts(words: int) -> tuple[Any, Any, Any, Any]:
    """Zeroed counts over 32 words, 32 of those, 32 of those, and in all."""
    nodes = [-(-words // LANES**k) for k in (1, 2, 3)]
    return (
        np.zeros(LANES * nodes[0], np.uint16),
        np.zeros(LANES * nodes[1], np.uint16),
        np.zeros(LANES * nodes[2], np.int32),
        np.zeros(nodes[2], np.int64),
    )
