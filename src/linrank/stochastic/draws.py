"""Draws: pairs of the rows that a sampler has looked at, by trial or by an index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import ParameterError
from .._typing import FloatArray, IntArray
from ..data.labelled import LabelledRows
from ..data.ordering import number_distinct, run_starts
from ..data.rankings import Preferences
from ..kernels import sampling as kernels
from ..kernels.random import fill_units

#: Proposals by which the tries a pair takes are estimated.
PROPOSALS = 4096


def units(seed: np.uint64, counter: np.uint64, shape: Any) -> FloatArray:
    """Numbers counter, counter + 1, ... of the random stream, from [0, 1): what samplers of one's own draw by."""
    out = np.empty(int(np.prod(shape)))
    fill_units(seed, counter, out)
    return out.reshape(shape)


class Draws(ABC):
    """Draws pairs of the rows that a sampler has looked at; the same seed and counter give the same pairs."""

    nbytes: int = 0  # of the index, beyond rankings that exact sums need as well

    @abstractmethod
    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """Fill `winner` and `loser` with rows, as many as they hold; returns the counter to go on from.

        Pair after pair: the pairs must not depend on how many are drawn at a time.
        """


class CheckedDraws(Draws):
    """The draws of somebody's own sampler."""

    def __init__(self, draws: Any, n_rows: int, name: str) -> None:
        self.draws, self.n_rows, self.name = draws, n_rows, name

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """The same pairs, if they are rows."""
        counter = np.uint64(self.draws.draw(seed, counter, winner, loser))
        if min(winner.min(), loser.min()) < 0 or max(winner.max(), loser.max()) >= self.n_rows:
            raise ParameterError(
                f"The sampler {self.name!r} drew a row outside 0 ... {self.n_rows - 1}: check its `draw`."
            )
        return counter


class Trials(Draws):
    """Rows drawn from bare labels and queries until two of them are a pair."""

    def __init__(self, rows: LabelledRows) -> None:
        assert rows.y is not None
        assert rows.values is not None
        whole = rows.values.dtype.kind in "iu" and rows.values.size > 0
        large = whole and max(abs(int(rows.values.max())), abs(int(rows.values.min()))) > 2**53
        self.y = np.ascontiguousarray(rows.values if large else rows.y)
        self.v = rows.sample_weight
        self.query, self.starts = layout(rows)
        heaviest = 1.0 if self.v is None else float(self.v.max(initial=0.0)) ** 2
        self.largest = heaviest * (1.0 if self.starts is None else float(np.diff(self.starts).max(initial=0)))

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """O(tries log queries) a pair."""
        here = self.y, self.query, self.starts, self.v, self.largest
        return np.uint64(kernels.draw_rows(*here, seed, counter, winner, loser))

    def estimated_tries(self) -> float:
        """Tries a pair, from some proposals; infinite where none is accepted."""
        if not self.largest > 0:
            return float("inf")
        here = self.y, self.query, self.starts, self.v, self.largest
        accepted = kernels.count_accepted(*here, np.uint64(0), np.uint64(0), PROPOSALS)
        return PROPOSALS / accepted if accepted else float("inf")

    def tries(self, p: Preferences) -> float:
        """Tries a pair, counted."""
        return self.y.size * self.largest * (self.y.size if self.starts is None else 1.0) / (2.0 * p.total)


NO_QUERY = np.zeros(1, dtype=np.int64)


def layout(rows: LabelledRows) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Numbers that tell queries apart, and where each begins; None where rows of a query do not stand together."""
    if rows.ids is None:
        return NO_QUERY, np.array([0, rows.n_rows])
    new = run_starts(rows.ids)
    starts = np.flatnonzero(new)
    if number_distinct(rows.ids[starts])[1].size == starts.size:
        return NO_QUERY, np.append(starts, rows.n_rows)
    whole = rows.ids.dtype.kind in "iu"
    return np.ascontiguousarray(rows.ids if whole else rows.grades.query, dtype=np.int64), None


def alias_table(threshold: FloatArray) -> NDArray[np.int32]:
    """Turn positive weights into the thresholds of Walker's alias table, and return the aliases: 12 bytes an entry."""
    alias = np.empty(threshold.size, dtype=np.int32)
    kernels.fill_alias(threshold, alias, np.empty(threshold.size, dtype=np.int32))
    return alias


class RankedDraws(Draws):
    """Draws members of rankings, and tells their rows."""

    def __init__(self, preferences: Preferences) -> None:
        self.preferences = preferences

    def _to_rows(self, winner: IntArray, loser: IntArray) -> None:
        if not self.preferences.in_order:
            kernels.to_rows(self.preferences.row, winner)
            kernels.to_rows(self.preferences.row, loser)

    def _running(self) -> FloatArray | None:
        """Sums of v within each ranking, member by member; None for unit weights."""
        p = self.preferences
        if p.v is None:
            return None
        running = np.empty(p.v.size)
        kernels.fill_running(p.ranking_ptr, p.v, running)
        return running


def _bytes(*arrays: NDArray[Any] | None) -> int:
    return sum(array.nbytes for array in arrays if array is not None)


class IndexedDraws(RankedDraws):
    """Pairs in proportion to c_ij by an alias table over levels, the general algorithm that the paper leaves out."""

    def __init__(self, preferences: Preferences) -> None:
        super().__init__(preferences)
        p = preferences
        n = p.level_ptr.size - 1 - p.n_rankings
        kind = np.int32 if p.row.size < 2**31 else np.int64
        self.threshold, self.level, self.base = np.empty(n), np.empty(n, dtype=kind), np.empty(n, dtype=kind)
        self.running = self._running()
        kernels.fill_level_weights(
            p.ranking_levels, p.level_ptr, p.u, self.running, self.threshold, self.level, self.base
        )
        self.alias = alias_table(self.threshold)
        self.nbytes = _bytes(self.threshold, self.alias, self.level, self.base, self.running)

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """O(1) a pair, O(log members) with row weights."""
        kernels.pick_entries(self.threshold, self.alias, seed, counter, np.uint64(4), winner)
        shape = self.preferences.level_ptr, self.running, self.level, self.base
        kernels.draw_uniform(*shape, seed, counter, winner, loser)
        self._to_rows(winner, loser)
        return counter + np.uint64(4 * winner.size)


class BalancedDraws(RankedDraws):
    """A ranking by an alias table, two of its levels, a member of each."""

    def __init__(self, preferences: Preferences, query: IntArray) -> None:
        super().__init__(preferences)
        p = preferences
        of_ranking = query[p.row[p.ranking_ptr[:-1]]]
        self.running = self._running()
        self.threshold = p.u / np.bincount(of_ranking)[of_ranking]
        self.alias = alias_table(self.threshold)
        self.nbytes = _bytes(self.threshold, self.alias, self.running)

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """O(1) a pair, O(log members) with row weights."""
        kernels.pick_entries(self.threshold, self.alias, seed, counter, np.uint64(6), winner)
        p = self.preferences
        kernels.draw_balanced(p.ranking_levels, p.level_ptr, self.running, seed, counter, winner, loser)
        self._to_rows(winner, loser)
        return counter + np.uint64(6 * winner.size)


class RankedTrials(RankedDraws):
    """Two members of a ranking, until they are a pair: about M max(m_r u_r v^2) / (2 N) tries."""

    def __init__(self, preferences: Preferences) -> None:
        super().__init__(preferences)
        p = preferences
        heaviest = 1.0 if p.v is None else float(p.v.max()) ** 2
        self.largest = float(np.max(np.diff(p.ranking_ptr) * p.u)) * heaviest
        self.tries = p.row.size * self.largest / (2.0 * p.total)

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """O(tries log rankings) a pair."""
        p = self.preferences
        shape = p.ranking_ptr, p.ranking_levels, p.level_ptr, p.u, p.v
        counter = np.uint64(kernels.draw_rejection(*shape, self.largest, seed, counter, winner, loser))
        self._to_rows(winner, loser)
        return counter
