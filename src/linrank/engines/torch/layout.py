"""Rankings as flat arrays on a device: one entry a member, sorted by ranking, then by level."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ..._once import cached_property
from ...data.rankings import Preferences
from .ops import BITS, Tensor, power, prefix, segment_sums


class SegmentSizes:
    """How many members each of some segments has."""

    def __init__(self, sizes: NDArray[Any]) -> None:
        self._sorted = np.sort(sizes)
        self._running = np.r_[0, np.cumsum(self._sorted)]

    def at_most(self, most: float) -> int:
        """The members where each segment has at most so many, or its own."""
        limit = min(float(most), float(self._sorted[-1])) if most == most else float(self._sorted[-1])
        below = int(np.searchsorted(self._sorted, limit))
        return int(self._running[below]) + int(limit) * (self._sorted.size - below)


class Segments(NamedTuple):
    """Members by segment, a ranking or a level of one: which they are, and where each one's segment begins and ends."""

    member: Tensor | None  # None: all
    segment: Tensor
    start: Tensor
    end: Tensor
    sizes: SegmentSizes


class Layout:
    """What never changes of the rankings of a data set.

    Attributes
    ----------
    row, ranking, level : int64 (M,)
        Row, ranking and level within the ranking of each member.
    segment : int64 (M,)
        Level of each member, counted over all rankings.
    start, end : int64 (M,)
        Where the ranking of each member begins and ends.
    u, v : float64 (M,)
        Weight of each member's ranking, and of the member; v is None for unit weights.
    bits : int64 (M,)
        Exponent by which a member's weight becomes a whole number: a ranking's sum of them fits into 61 bits.
    """

    def __init__(self, preferences: Preferences, n_rows: int, device: Any) -> None:
        p, self.device, self.n_rows = preferences, device, n_rows
        sizes = np.diff(p.ranking_ptr)
        self.n_members, self.n_rankings = p.n_members, p.n_rankings
        self.longest = p.longest
        self.ranking_sizes, self._level_counts = SegmentSizes(sizes), np.diff(p.level_ptr)
        self.mean_length = float(sizes.astype(np.float64) @ sizes) / max(1, p.n_members)  # of a member's ranking
        self.n_levels = int(np.diff(p.ranking_levels).max(initial=1))
        self.in_order = p.n_members == n_rows and p.in_order
        self._ranking_ptr = p.ranking_ptr
        self._tiles: tuple[Tensor, ...] | None = None
        self.row = self.put(p.row, np.int64)
        self.ranking = self.put(np.repeat(np.arange(p.n_rankings), sizes), np.int64)
        self.level = self.put(p.level_numbers() if p.n_rankings else np.empty(0), np.int64)
        self.segment = self.put(np.repeat(np.arange(p.level_ptr.size - 1), np.diff(p.level_ptr)), np.int64)
        self.level_ptr = self.put(p.level_ptr, np.int64)
        self.start, self.end = (
            self.put(np.repeat(x, sizes), np.int64) for x in (p.ranking_ptr[:-1], p.ranking_ptr[1:])
        )
        self.u = self.put(np.repeat(p.u, sizes), np.float64)
        self.v = None if p.v is None else self.put(p.v, np.float64)
        largest = np.ones(p.n_rankings) if p.v is None else np.maximum.reduceat(np.r_[p.v, 0.0], p.ranking_ptr[:-1])
        taken = np.frexp(np.maximum(sizes, 1) * largest)[1] + 1
        self.bits = BITS - self.put(np.repeat(taken, sizes), np.int64)
        weights = np.add.reduceat(np.r_[p.member_weights, 0.0], p.ranking_ptr[:-1])
        self.square_weight = float(p.u @ weights**2)
        self._to_rows(p.row, n_rows)

    @cached_property
    def balance(self) -> Tensor:
        """(Weight at higher levels - weight at lower levels) / 2 of each member."""
        if self.v is None:
            numbers, unit = torch.ones_like(self.row), None
        else:
            unit = power(self.bits)
            numbers = (self.v * unit).round().to(torch.int64)
        running = prefix(numbers)
        lower = running[self.level_ptr[self.segment]] - running[self.start]
        higher = running[self.end] - running[self.level_ptr[self.segment + 1]]
        balance = 0.5 * (higher - lower).to(torch.float64)
        return balance if unit is None else balance / unit

    def reweighted(self, factor: Tensor) -> Layout:
        """The same rankings, each member weighing `factor` times as much, which lies between 1 and 2."""
        other = copy.copy(self)
        for name in ("balance", "pair_weight"):  # what follows from weights
            other.__dict__.pop(name, None)
        other.v, other.bits = factor if self.v is None else self.v * factor, self.bits - 1
        return other

    @property
    def all_members(self) -> Segments:
        """All of them, by ranking."""
        return Segments(None, self.ranking, self.start, self.end, self.ranking_sizes)

    @cached_property
    def repeated(self) -> Segments:
        """The members whose level has others, by level; where there are none, the first of all."""
        sizes = self._level_counts
        chosen = sizes > 1
        chosen[0] |= not chosen.any()
        kept = sizes[chosen]
        ptr = np.r_[0, np.cumsum(kept)]
        member = np.flatnonzero(np.repeat(chosen, sizes))
        arrays = (np.repeat(x, kept) for x in (np.arange(kept.size), ptr[:-1], ptr[1:]))
        segment, start, end = (self.put(x, np.int64) for x in arrays)
        return Segments(self.put(member, np.int64), segment, start, end, SegmentSizes(kept))

    @cached_property
    def pair_weight(self) -> Tensor:
        """Weight of the pairs of each member."""
        v = torch.ones_like(self.u) if self.v is None else self.v
        ranking_ptr = self.put(self._ranking_ptr, np.int64)
        others = segment_sums(v, ranking_ptr)[self.ranking] - segment_sums(v, self.level_ptr)[self.segment]
        return self.u * v * others

    def tiles(self, block: int) -> tuple[Tensor, ...]:
        """Rankings cut into tiles of so many members: where each tile and its ranking begin, and where that ends."""
        if self._tiles is None:
            count = -(-np.diff(self._ranking_ptr) // block)
            which = np.repeat(np.arange(count.size), count)
            number = np.arange(which.size) - np.repeat(np.cumsum(count) - count, count)
            begin, end = self._ranking_ptr[which], self._ranking_ptr[which + 1]
            self._tiles = tuple(self.put(x, np.int64) for x in (begin + block * number, begin, end))
        return self._tiles

    def _to_rows(self, row: NDArray[np.int32], n_rows: int) -> None:
        """How values of members are brought back: written where each row is once a member, else added up in order."""
        self.by_row: Tensor | None = None
        if not self.in_order and np.bincount(row, minlength=n_rows).max(initial=0) > 1:
            self.by_row = self.put(np.argsort(row, kind="stable"), np.int64)
            self.row_ptr = self.put(np.r_[0, np.cumsum(np.bincount(row, minlength=n_rows))], np.int64)

    def put(self, array: NDArray[Any], dtype: Any) -> Tensor:
        """An array on the device."""
        return torch.from_dlpack(np.ascontiguousarray(array, dtype=dtype)).to(self.device)

    def members(self, rows: Tensor) -> Tensor:
        """Values of the rows, member by member."""
        return rows if self.in_order else rows[self.row]

    def rows(self, members: Tensor) -> Tensor:
        """Values of the members, added up row by row."""
        if self.in_order:
            return members
        if self.by_row is not None:
            return segment_sums(members[self.by_row], self.row_ptr)
        out = torch.zeros(self.n_rows, dtype=members.dtype, device=self.device)
        out[self.row] = members
        return out
