"""Preferences in the one form in which they reach kernels: a list of rankings.

A *ranking* is a set of members, each a row of the data with a level, and states that every member is
preferred to every member at a lower level, with weight c_ij = u * v_i * v_j. Whatever preferences come from becomes
rankings (`_rankings.py`), so a kernel knows only full orders over contiguous members.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._once import cached_property
from .kernels._scratch import ScratchPool

IntArray = NDArray[Any]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Preferences:
    """All preferences of a data set, as rankings; members are sorted by ranking, then by level.

    Attributes
    ----------
    row : int32 (M,)
        The data row of each member.
    ranking_ptr : int64 (R + 1,)
        Members of ranking r: ``ranking_ptr[r]:ranking_ptr[r + 1]``.
    level_ptr : int64 (L + 1,)
        Members of level l, over all rankings.
    ranking_levels : int64 (R + 1,)
        Levels of ranking r, as positions in `level_ptr`.
    pairs : int64 (R,)
        Number of pairs of each ranking.
    u : float64 (R,)
        Weight of each ranking.
    v : float64 (M,) or None
        Weight of each member; None if all are 1.
    blocks : int64 (B + 1,)
        Rankings of block b; no two blocks share a row. Cut by the data alone.
    total : float
        N, the sum of all c_ij.
    n_pairs : int
        How many pairs have c_ij > 0.
    """

    row: NDArray[np.int32]
    ranking_ptr: NDArray[np.int64]
    level_ptr: NDArray[np.int64]
    ranking_levels: NDArray[np.int64]
    pairs: NDArray[np.int64]
    u: FloatArray
    v: FloatArray | None
    blocks: NDArray[np.int64]
    total: float
    n_pairs: int
    scratch: ScratchPool = field(default_factory=ScratchPool, repr=False, compare=False)
    _splits: dict[tuple[int, int, int], tuple[IntArray, IntArray]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def split(self, first: int, last: int, limit: int) -> tuple[IntArray, IntArray]:
        """Rankings first ... last - 1 that have at most `limit` pairs a member, and the others: found once."""
        key = first, last, limit
        if key not in self._splits:
            short = self.pairs[first:last] <= limit * np.diff(self.ranking_ptr[first : last + 1])
            numbers = np.arange(first, last, dtype=np.int32)
            self._splits[key] = numbers[short], numbers[~short]
        return self._splits[key]

    def level_numbers(self, first: int, last: int) -> IntArray:
        """The level of each member of rankings first ... last - 1, from 0 within its ranking."""
        levels = self.ranking_levels[first : last + 1]
        number = np.arange(levels[0], levels[-1]) - np.repeat(levels[:-1], np.diff(levels))
        return np.repeat(number, np.diff(self.level_ptr[levels[0] : levels[-1] + 1]))

    @cached_property
    def member_weights(self) -> FloatArray:
        """V as an array, ones where it is None."""
        return np.ones(self.row.size) if self.v is None else self.v

    @cached_property
    def longest(self) -> int:
        """Most members of a ranking."""
        return int(np.diff(self.ranking_ptr).max())

    @cached_property
    def last_row(self) -> int:
        """The last data row that is a member."""
        return int(self.row.max())

    @cached_property
    def in_order(self) -> bool:
        """Whether the members are rows 0, 1, 2, ..."""
        return bool(np.all(self.row == np.arange(self.row.size)))

    @property
    def n_rankings(self) -> int:
        """Number of rankings."""
        return self.u.size

    @property
    def n_blocks(self) -> int:
        """Number of blocks of work."""
        return self.blocks.size - 1
