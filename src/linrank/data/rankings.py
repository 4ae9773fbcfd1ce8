"""Preferences in the one form in which they reach kernels: a list of rankings.

A *ranking* is a set of members, each a row of the data with a level, and states that every member is
preferred to every member at a lower level, with weight c_ij = u * v_i * v_j. Whatever preferences come from becomes
rankings (`preferences.py`), so a kernel knows only full orders over contiguous members.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._once import cached_property
from .._typing import FloatArray, IntArray
from ..kernels.pairs import pair_weights


@dataclass(frozen=True)
class Rankings:
    """Some rankings; members are numbered from 0, sorted by ranking, then by level.

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
    """

    row: NDArray[np.int32]
    ranking_ptr: NDArray[np.int64]
    level_ptr: NDArray[np.int64]
    ranking_levels: NDArray[np.int64]
    pairs: NDArray[np.int64]
    u: FloatArray
    v: FloatArray | None

    @property
    def n_rankings(self) -> int:
        """Number of rankings R."""
        return self.u.size

    @property
    def n_members(self) -> int:
        """Number of members M."""
        return self.row.size

    @cached_property
    def weight(self) -> float:
        """N, the sum of all c_ij."""
        return float(np.sum(self.u * self.pair_weights()))

    @cached_property
    def member_weights(self) -> FloatArray:
        """V as an array, ones where it is None."""
        return np.ones(self.row.size) if self.v is None else self.v

    @cached_property
    def longest(self) -> int:
        """Most members of a ranking."""
        return int(sizes(self.ranking_ptr).max(initial=0))

    def pair_weights(self) -> FloatArray:
        """Sum of v_i v_j over the pairs of each ranking."""
        if self.v is None:
            return self.pairs.astype(np.float64)
        out = np.empty(self.u.size)
        if out.size:
            pair_weights(np.add.reduceat(self.v, self.level_ptr[:-1]), self.ranking_levels, out)
        return out

    def member_pair_weights(self) -> FloatArray:
        """Sum of c_ij over the pairs of each member."""
        v, sizes = self.member_weights, np.diff(self.ranking_ptr)
        if not v.size:
            return v
        levels, whole = (np.add.reduceat(v, ptr[:-1]) for ptr in (self.level_ptr, self.ranking_ptr))
        others = np.repeat(whole, sizes) - np.repeat(levels, np.diff(self.level_ptr))
        return np.repeat(self.u, sizes) * v * others

    def members(self, ranking: int) -> slice:
        """The members of one ranking."""
        return slice(int(self.ranking_ptr[ranking]), int(self.ranking_ptr[ranking + 1]))

    def levels(self, ranking: int) -> NDArray[np.int64]:
        """Where each level of one ranking begins among the members, and where its last one ends."""
        return self.level_ptr[self.ranking_levels[ranking] : self.ranking_levels[ranking + 1] + 1]

    def level_numbers(self) -> IntArray:
        """The level of each member, from 0 within its ranking."""
        levels = self.ranking_levels
        number = np.arange(levels[-1]) - levels[:-1].repeat(sizes(levels))
        return number.repeat(sizes(self.level_ptr))

    def split(self, limit: int) -> tuple[IntArray, IntArray]:
        """Rankings that have at most `limit` pairs a member, and the others: found once."""
        known = self.__dict__.setdefault("_splits", {})
        if limit not in known:
            short = self.pairs <= limit * sizes(self.ranking_ptr)
            numbers = np.arange(self.n_rankings, dtype=np.int32)
            known[limit] = numbers[short], numbers[~short]
        split: tuple[IntArray, IntArray] = known[limit]
        return split

    def __getstate__(self) -> dict[str, Any]:
        """What defines it, and nothing that was found out since."""
        return {each.name: self.__dict__[each.name] for each in fields(self)}


@dataclass(frozen=True)
class Preferences(Rankings):
    """All preferences of a data set: its rankings, cut into blocks of work.

    Attributes
    ----------
    blocks : int64 (B + 1,)
        Rankings of block b; no two blocks share a row. Cut by the data alone.
    total : float
        N, the sum of all c_ij.
    n_pairs : int
        How many pairs have c_ij > 0.
    repeats : bool (R,) or None
        Rankings of explicit pairs that another ranking holds as well, so that `n_pairs` does not count them.
    """

    blocks: NDArray[np.int64]
    total: float
    n_pairs: int
    repeats: NDArray[np.bool_] | None = field(default=None, repr=False)

    @property
    def n_blocks(self) -> int:
        """Number of blocks of work."""
        return self.blocks.size - 1

    @cached_property
    def in_order(self) -> bool:
        """Whether the members are rows 0, 1, 2, ..."""
        return bool(np.all(self.row == np.arange(self.row.size)))

    def block(self, number: int) -> Rankings:
        """One block, its members numbered from 0; arrays are copied only where they count from another beginning."""
        first, last = int(self.blocks[number]), int(self.blocks[number + 1])
        levels = self.ranking_levels[first : last + 1]
        members = self.ranking_ptr[first : last + 1]
        here, level_ptr = slice(members[0], members[-1]), self.level_ptr[levels[0] : levels[-1] + 1]
        if first > 0:
            levels, members, level_ptr = levels - levels[0], members - members[0], level_ptr - members[0]
        v = None if self.v is None else self.v[here]
        return Rankings(self.row[here], members, level_ptr, levels, self.pairs[first:last], self.u[first:last], v)

    def __getstate__(self) -> dict[str, Any]:
        """What defines it, packed: sizes instead of pointers, in as few bytes as hold them."""
        u = self.u[0] if self.u.size and np.all(self.u == self.u[0]) else self.u
        levels, members = (_packed(np.diff(ptr)) for ptr in (self.ranking_levels, self.level_ptr))
        return {
            "row": self.row,
            "levels": levels,
            "members": members,
            "u": u,
            "v": self.v,
            "blocks": self.blocks,
            "total": self.total,
            "n_pairs": self.n_pairs,
            "repeats": self.repeats,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack."""
        given = dict(state)
        ranking_levels, level_ptr = (pointers(given.pop(name)) for name in ("levels", "members"))
        pairs = np.empty(ranking_levels.size - 1, dtype=np.int64)
        if pairs.size:
            pair_weights(np.diff(level_ptr), ranking_levels, pairs)
        given |= {"ranking_levels": ranking_levels, "level_ptr": level_ptr, "pairs": pairs}
        given |= {"ranking_ptr": level_ptr[ranking_levels], "u": np.broadcast_to(given["u"], pairs.shape).copy()}
        self.__dict__.update(given)


def sizes(ptr: IntArray) -> IntArray:
    """The opposite of `pointers`: what np.diff gives, in a quarter of its time where there are few."""
    return ptr[1:] - ptr[:-1]


def pointers(sizes: IntArray) -> NDArray[np.int64]:
    """Where runs of these sizes begin, and where the last one ends."""
    ptr = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def _packed(sizes: IntArray) -> IntArray:
    return sizes.astype(np.min_scalar_type(int(sizes.max(initial=0))))
