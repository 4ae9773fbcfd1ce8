"""Members by score, and the active partners of each as a range of places.

A pair (i over j) is active where s_i - s_j < m: one subtraction, in the scores' precision, decides it for both. The
least loser that is still active for a winner i is found from the largest x for which s_i - x >= m, rounded; the
winners that are active for a loser are those whose range has begun: read off the same ranges.

Whatever the number of rankings, scores in float64 take two sorts: all of them, mixed, then whole numbers of ranking and
rank. Scores in float32 take one: their bits, in the order of their values, are such a number.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from .layout import Layout
from .ops import BITS, Tensor, exponent_of, permuted, power


def threshold(s: Tensor, m: float) -> Tensor:
    """The largest x for which s - x, rounded, is at least m.

    x0 = s - m with its rounding error e (Knuth's two-difference), and half of the distance from m to the float below:
    s - x is rounded up to m from there. The answer is x0 + e + that, or a neighbour of it.
    """
    x0 = s - m
    rest = s - x0
    error = (s - (x0 + rest)) + (rest - m)
    half = 0.5 * (m - math.nextafter(m, -math.inf))
    t = x0 + (error + half)
    above, below = (torch.nextafter(t, torch.full_like(t, end)) for end in (math.inf, -math.inf))
    return torch.where(s - above >= m, above, torch.where(s - t >= m, t, below))


class Ranks:
    """Scores in float64 as whole numbers: their ranks among all."""

    def __init__(self, scores: Tensor) -> None:
        self.count = scores.shape[0] + 1
        self._all, which = torch.sort(scores)
        self.of = permuted(torch.arange(scores.shape[0], device=scores.device), which)

    def above(self, t: Tensor) -> Tensor:
        """The least number of a score above t."""
        return torch.searchsorted(self._all, t, right=True)


class Bits:
    """Scores in float32 as whole numbers: their bits, turned so that they are in the order of the values."""

    count = 1 << 32

    def __init__(self, scores: Tensor) -> None:
        self.of = self._number(scores)

    @staticmethod
    def _number(x: Tensor) -> Tensor:
        bits = (x + 0.0).view(torch.int32).to(torch.int64)  # -0 is 0
        return (bits ^ ((bits >> 31) & 0x7FFFFFFF)) + (1 << 31)

    def above(self, t: Tensor) -> Tensor:
        """The least number of a score above t, which is float64."""
        nearest = t.to(torch.float32)
        lower = torch.nextafter(nearest, torch.full_like(nearest, -math.inf))
        return self._number(torch.where(nearest.to(torch.float64) > t, lower, nearest)) + 1


class Windows(NamedTuple):
    """Places [left, end) hold the active losers of each place, among others; places [start, right) its winners."""

    left: Tensor
    right: Tensor


class Sorted:
    """Members by ranking, then by score: "places". All vectors are in their order.

    Attributes
    ----------
    order : int64 (M,)
        The member at each place; rankings begin and end where they do among members.
    s, centred : float64 (M,), in whatever precision scores are given
        Scores, and their differences to the ranking's median: one score far out does not move it.
    level : int64 (M,)
        Level within the ranking.
    """

    def __init__(self, layout: Layout, scores: Tensor) -> None:
        self.layout = layout
        self._numbers: Ranks | Bits = Bits(scores) if scores.dtype == torch.float32 else Ranks(scores)
        self._keys, self.order = torch.sort(self.keys(layout.ranking))
        self.s, self.level = scores[self.order].to(torch.float64), layout.level[self.order]
        middle = layout.start + (layout.end - layout.start) // 2
        self.centred = self.s - self.s[middle]
        first, last = self.centred[layout.start], self.centred[layout.end - 1]
        self.exponent = exponent_of(torch.maximum(first.abs(), last.abs()))
        self.v = None if layout.v is None else layout.v[self.order]

    def windows(self, m: float) -> Windows:
        """Ranges of active partners at a margin."""
        layout, numbers = self.layout, self._numbers
        left = torch.searchsorted(self._keys, layout.ranking * numbers.count + numbers.above(threshold(self.s, m)))
        place = torch.arange(layout.n_members, device=layout.device)
        right = torch.minimum(torch.searchsorted(left, place, right=True), layout.end)
        return Windows(left, right)

    def keys(self, segment: Tensor) -> Tensor:
        """Whole numbers of the members by which they are sorted by segment, then by score."""
        return segment * self._numbers.count + self._numbers.of

    def to_members(self, x: Tensor) -> Tensor:
        """Values of places, member by member."""
        return permuted(x, self.order)

    def weights(self) -> Whole:
        """The members' weights."""
        if self.v is None:
            return Whole(torch.ones_like(self.order), None)
        unit = power(self.layout.bits)
        return Whole((self.v * unit).round().to(torch.int64), 1.0 / unit)

    def moments(self) -> Whole:
        """The members' weights times their centred scores."""
        return self._whole(self.centred, self.exponent)

    def whole(self, x: Tensor) -> Whole:
        """The members' weights times a value of each place; one exponent for all, found on the device."""
        return self._whole(x, exponent_of(x.abs().max()))

    def _whole(self, x: Tensor, exponent: Tensor) -> Whole:
        unit = power(self.layout.bits - exponent)
        weighted = x if self.v is None else self.v * x
        return Whole((weighted * unit).round().to(torch.int64), 1.0 / unit)

    def weighted(self, x: Tensor) -> Tensor:
        """X times the members' weights."""
        return x if self.v is None else self.v * x


class Whole(NamedTuple):
    """Numbers as whole multiples of a power of 2, one for each ranking: summed exactly, in any order.

    A ranking's sums fit into 61 bits. Running sums over all rankings may wrap; differences within one do not.
    """

    numbers: Tensor
    unit: Tensor | None  # None: 1

    def value(self, sums: Tensor) -> Tensor:
        """Sums of the numbers, as float64."""
        x = sums.to(torch.float64)
        return x if self.unit is None else x * self.unit


assert BITS == 61
