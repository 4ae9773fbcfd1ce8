"""How pairs are drawn from preferences; each sampler says what it weighs and what its index costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import ParameterError
from .._typing import FloatArray, IntArray
from ..data.rankings import Preferences
from ..kernels import sampling

#: Rejection sampling is refused where a pair would take more tries than this on average.
MOST_TRIES = 10_000


class Sampler(ABC):
    """Draws preferences at random; the same seed and counter give the same pairs."""

    preferences: Preferences

    @abstractmethod
    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """Fill `winner` and `loser` with rows; returns the counter to go on from."""

    def _to_rows(self, winner: IntArray, loser: IntArray) -> None:
        if not self.preferences.in_order:
            sampling.to_rows(self.preferences.row, winner)
            sampling.to_rows(self.preferences.row, loser)

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the index beyond the preferences themselves."""


def _alias(threshold: FloatArray) -> NDArray[np.int32]:
    """Turn positive weights into the thresholds of Walker's alias table, and return the aliases: 12 bytes an entry."""
    alias = np.empty(threshold.size, dtype=np.int32)
    sampling.fill_alias(threshold, alias, np.empty(threshold.size, dtype=np.int32))
    return alias


def _running(p: Preferences) -> FloatArray | None:
    """Sums of v within each ranking, member by member; None for unit weights."""
    if p.v is None:
        return None
    running = np.empty(p.v.size)
    sampling.fill_running(p.ranking_ptr, p.v, running)
    return running


def _bytes(*arrays: NDArray[Any] | None) -> int:
    return sum(array.nbytes for array in arrays if array is not None)


class UniformSampler(Sampler):
    """Pairs in proportion to c_ij, to rounding.

    The index is an alias table over the levels that have others below them: linear time and 20 bytes for each, which
    is 20 bytes a row where all labels differ; row weights take 8 bytes a member more.
    """

    def __init__(self, preferences: Preferences) -> None:
        p = self.preferences = preferences
        n = p.level_ptr.size - 1 - p.n_rankings
        kind = np.int32 if p.row.size < 2**31 else np.int64
        self.threshold, self.level, self.base = np.empty(n), np.empty(n, dtype=kind), np.empty(n, dtype=kind)
        self.running = _running(p)
        sampling.fill_level_weights(
            p.ranking_levels, p.level_ptr, p.u, self.running, self.threshold, self.level, self.base
        )
        self.alias = _alias(self.threshold)

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """Fill `winner` and `loser`: O(1) a pair, O(log members) with row weights."""
        sampling.pick_entries(self.threshold, self.alias, seed, counter, np.uint64(4), winner)
        shape = self.preferences.level_ptr, self.running, self.level, self.base
        sampling.draw_uniform(*shape, seed, counter, winner, loser)
        self._to_rows(winner, loser)
        return counter + np.uint64(4 * winner.size)

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return _bytes(self.threshold, self.alias, self.level, self.base, self.running)


class BalancedSampler(Sampler):
    """A query with pairs, then two of its levels, then a row of each: every query and every two levels count the same.

    A ranking is drawn in proportion to u_r / (rankings of its query): with grades, that is the query's weight; where a
    query has several rankings (a chain, a graph, explicit pairs) its weight is the mean of theirs, and they share it in
    proportion to their own. Two levels of the ranking are then drawn alike, and in each a row in proportion to v.
    """

    def __init__(self, preferences: Preferences, query: IntArray) -> None:
        p = self.preferences = preferences
        of_ranking = query[p.row[p.ranking_ptr[:-1]]]
        self.running = _running(p)
        self.threshold = p.u / np.bincount(of_ranking)[of_ranking]
        self.alias = _alias(self.threshold)

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """Fill `winner` and `loser`: O(1) a pair, O(log members) with row weights."""
        sampling.pick_entries(self.threshold, self.alias, seed, counter, np.uint64(6), winner)
        p = self.preferences
        sampling.draw_balanced(p.ranking_levels, p.level_ptr, self.running, seed, counter, winner, loser)
        self._to_rows(winner, loser)
        return counter + np.uint64(6 * winner.size)

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return _bytes(self.threshold, self.alias, self.running)


class RejectionSampler(Sampler):
    """Pairs in proportion to c_ij without any index: rows are drawn until two of them are a pair.

    A pair takes about M max(m_r u_r v^2) / (2 N) tries, M being the members and m_r those of ranking r: few where
    rankings and weights are alike and levels balanced.
    """

    def __init__(self, preferences: Preferences) -> None:
        p = self.preferences = preferences
        heaviest = 1.0 if p.v is None else float(p.v.max()) ** 2
        self.largest = float(np.max(np.diff(p.ranking_ptr) * p.u)) * heaviest
        self.tries = p.row.size * self.largest / (2.0 * p.total)
        if not self.tries <= MOST_TRIES:
            raise ParameterError(
                f"sampling='rejection' would take about {self.tries:.0f} tries a pair on these queries, levels and "
                "weights: use sampling='uniform', which draws from the same distribution."
            )

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """Fill `winner` and `loser`: O(tries log rankings) a pair."""
        p = self.preferences
        shape = p.ranking_ptr, p.ranking_levels, p.level_ptr, p.u, p.v
        counter = np.uint64(sampling.draw_rejection(*shape, self.largest, seed, counter, winner, loser))
        self._to_rows(winner, loser)
        return counter

    @property
    def nbytes(self) -> int:
        """No index, no bytes."""
        return 0


SAMPLINGS = ("uniform", "balanced", "rejection")


def make_sampler(sampling: str, preferences: Preferences, query: IntArray) -> Sampler:
    """The sampler of that name; `query` numbers the query of each row."""
    if sampling == "balanced":
        return BalancedSampler(preferences, query)
    return UniformSampler(preferences) if sampling == "uniform" else RejectionSampler(preferences)
