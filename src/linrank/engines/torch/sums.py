"""Sums over the active partners of all members at once, in whole numbers: exact, so the same bits in any order.

Few levels: running sums of all that is below each level. Many: a wavelet matrix over levels, whose rows are the bits of
the levels, the highest first; each place goes down it by one step a bit. Ranges are of places over all rankings, so
that there is no loop over rankings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch

from .layout import Layout
from .ops import Tensor, permuted, prefix
from .windows import Sorted, Windows

#: Levels up to which running sums are kept for each; a table of them takes 8 bytes a level and a member.
FEW_LEVELS = 16


class Partners(NamedTuple):
    """Sums over the active winners of each place, and over its active losers."""

    winners: Tensor
    losers: Tensor

    def minus(self, other: Partners) -> Partners:
        """Of those partners alone that the other has not."""
        return Partners(self.winners - other.winners, self.losers - other.losers)


class LevelSums(ABC):
    """Sums by ranges of places and levels, for scores that are sorted."""

    @abstractmethod
    def below(self, numbers: Tensor, queries: list[Query]) -> list[Tensor]:
        """For each query, the sum of the numbers at places [first, last) whose level is below `level`."""

    def partners(self, numbers: Tensor, layout: Layout, level: Tensor, windows: list[Windows]) -> list[Partners]:
        """Sums over active partners, for each of some margins."""
        queries = []
        for left, right in windows:
            queries += [Query(layout.start, right, level + 1), Query(left, layout.end, level)]
        found, running, answers = self.below(numbers, queries), prefix(numbers), []
        for k, (_, right) in enumerate(windows):
            all_levels = running[right] - running[layout.start]
            answers.append(Partners(all_levels - found[2 * k], found[2 * k + 1]))
        return answers


class Query(NamedTuple):
    """A range of places, and the level below which numbers are summed."""

    first: Tensor
    last: Tensor
    level: Tensor


class FewLevels(LevelSums):
    """Running sums for each level; launches do not depend on how many there are."""

    def __init__(self, layout: Layout, level: Tensor) -> None:
        levels = torch.arange(layout.n_levels + 1, device=layout.device)
        self.is_below = level < levels[:, None]

    def below(self, numbers: Tensor, queries: list[Query]) -> list[Tensor]:
        """By two look-ups each."""
        table = prefix(torch.where(self.is_below, numbers, 0))
        width, flat = table.shape[1], table.view(-1)
        return [flat[q.level * width + q.last] - flat[q.level * width + q.first] for q in queries]


class _Bit(NamedTuple):
    """One row of the wavelet matrix: zeros before each place, which places hold one, and where each goes."""

    zeros: Tensor
    is_zero: Tensor
    goes_to: Tensor
    n_zeros: Tensor
    shift: int


class ManyLevels(LevelSums):
    """A wavelet matrix: O(log k) launches."""

    def __init__(self, layout: Layout, level: Tensor) -> None:
        place = torch.arange(layout.n_members, device=layout.device)
        self.bits: list[_Bit] = []
        for shift in reversed(range(layout.n_levels.bit_length())):
            is_zero = (level >> shift) & 1 == 0
            zeros = prefix(is_zero.to(torch.int64))
            n_zeros = zeros[-1]
            goes_to = torch.where(is_zero, zeros[:-1], n_zeros + place - zeros[:-1])
            self.bits.append(_Bit(zeros, is_zero, goes_to, n_zeros, shift))
            level = permuted(level, goes_to)

    def below(self, numbers: Tensor, queries: list[Query]) -> list[Tensor]:
        """By one step a bit."""
        first, last, level = (torch.stack([q[k] for q in queries]) for k in range(3))
        answer = torch.zeros_like(first)
        for bit in self.bits:
            running = prefix(torch.where(bit.is_zero, numbers, 0))
            is_one = (level >> bit.shift) & 1 == 1
            answer += torch.where(is_one, running[last] - running[first], 0)
            before, until = bit.zeros[first], bit.zeros[last]
            first = torch.where(is_one, bit.n_zeros + first - before, before)
            last = torch.where(is_one, bit.n_zeros + last - until, until)
            numbers = permuted(numbers, bit.goes_to)
        return list(answer)


class ActiveSums:
    """Scores sorted, with windows at some margins: sums over active partners of whatever is asked."""

    def __init__(self, layout: Layout, scores: Tensor, margins: tuple[float, ...]) -> None:
        self.sorted = Sorted(layout, scores)
        self.windows = [self.sorted.windows(m) for m in margins]
        kind = FewLevels if layout.n_levels <= FEW_LEVELS else ManyLevels
        self.levels: LevelSums = kind(layout, self.sorted.level)

    def partners(self, numbers: Tensor) -> list[Partners]:
        """Sums of whole numbers over active partners, for each margin."""
        return self.levels.partners(numbers, self.sorted.layout, self.sorted.level, self.windows)
