"""Pairs with at least one row of the chunk at hand: those of rows that were kept have been drawn from before.

The law, whatever the order in which rows arrive: in each chunk a pair (i, j) of a query, of which i is new, is drawn in
proportion to c_ij if j is new, or else to c_ij seen / kept if j is among the rows kept, and never if it is not. As j is
kept with probability kept / seen, the expected weight of every pair that came by is c_ij, in the chunk where its later
row arrives.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from ..data.labelled import LabelledRows
from ..data.ordering import stable_order
from ..data.rankings import pointers
from ..kernels.trials import draw_fresh
from .draws import PROPOSALS, Draws, alias_table
from .samplers import Sampler, Uniform

#: Where a pair takes more tries than this by drawing a new row first, drawing any pair may take fewer.
FEW_TRIES = 16.0


def over_fresh(sampler: Sampler, rows: LabelledRows, n_new: int) -> Draws:
    """Draws from the rows, of which the first n_new are new, of pairs with a new row; there must be one."""
    if rows.n_rows == n_new:
        return sampler.over(rows)
    if isinstance(sampler, Uniform) and rows.compared_in_full:
        first = NewFirst(rows, n_new)
        if first.estimated_tries() <= FEW_TRIES:
            return first
    return Filtered(sampler.over(rows), n_new)


def count_fresh(rows: LabelledRows, n_new: int) -> int:
    """How many pairs have a new row."""
    p = rows.ranked.preferences
    if rows.n_rows == n_new:
        return p.n_pairs
    return p.n_pairs - rows.ranked.part(np.arange(n_new, rows.n_rows)).preferences.n_pairs


class Filtered(Draws):
    """What another draws, without the pairs of two old rows."""

    def __init__(self, draws: Draws, n_new: int) -> None:
        self.draws, self.n_new, self.nbytes = draws, n_new, draws.nbytes

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """As many as are missing are drawn until none is: so the stream is used up to the last pair, and no further."""
        n = 0
        while n < winner.size:
            counter = self.draws.draw(seed, counter, winner[n:], loser[n:])
            good = np.flatnonzero(np.minimum(winner[n:], loser[n:]) < self.n_new)
            winner[n : n + good.size], loser[n : n + good.size] = winner[n:][good], loser[n:][good]
            n += good.size
        return counter


class NewFirst(Draws):
    """A query, a new row of it, and another row of it, until y differs: constant time a try."""

    def __init__(self, rows: LabelledRows, n_new: int) -> None:
        assert rows.y is not None
        query, n_queries = rows.grades.query, rows.grades.n_queries
        v = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
        new, old = np.bincount(query[:n_new], minlength=n_queries), np.bincount(query[n_new:], minlength=n_queries)
        given, weight = np.ones(rows.n_rows), np.zeros(n_queries)  # v without what an old row stands for
        given[:n_new] = v[:n_new]
        heaviest_old = np.zeros(n_queries)
        np.maximum.at(heaviest_old, query[n_new:], v[n_new:])
        given[n_new:] = v[n_new:] / np.where(heaviest_old > 0, heaviest_old, 1.0)[query[n_new:]]
        half, u = new / 2.0, 1.0 if rows.grades.u is None else rows.grades.u  # a pair of two new rows is met twice
        weight = u * new * (half + old * heaviest_old) * _several_levels(rows)
        used = np.flatnonzero(weight > 0)
        self.threshold = weight[used].astype(np.float64)
        self.alias = alias_table(self.threshold)
        order = stable_order(query[:n_new])
        self.new_row, self.new_ptr = _of(order, pointers(new), used)
        order = n_new + stable_order(query[n_new:])
        self.old_row, self.old_ptr = _of(order, pointers(old), used)
        self.old_share = (old * heaviest_old / (half + old * heaviest_old))[used]
        self.y = rows.y
        self.v = None if np.all(given == 1) else given
        self.heaviest = 1.0 if self.v is None else float(self.v.max()) ** 2
        self.nbytes = 32 * used.size + 8 * rows.n_rows

    def draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray) -> np.uint64:
        """O(tries) a pair."""
        return self._draw(seed, counter, winner, loser, 2**62)

    def _draw(self, seed: np.uint64, counter: np.uint64, winner: IntArray, loser: IntArray, most: int) -> np.uint64:
        table = self.threshold, self.alias, self.new_ptr, self.new_row, self.old_ptr, self.old_row, self.old_share
        weights = self.y, self.v, self.heaviest
        return np.uint64(draw_fresh(*table, *weights, seed, counter, winner, loser, most))

    def estimated_tries(self) -> float:
        """Tries a pair, from some proposals; infinite where none is accepted."""
        if self.threshold.size == 0:
            return float("inf")
        winner, loser = np.full((2, PROPOSALS + 1), -1, dtype=np.int64)
        self._draw(np.uint64(0), np.uint64(0), winner, loser, PROPOSALS)
        accepted = int(np.argmin(winner))
        return PROPOSALS / accepted if accepted else float("inf")


def _several_levels(rows: LabelledRows) -> FloatArray:
    """1 for queries in which y differs, 0 for others."""
    query, y = rows.grades.query, rows.y
    assert y is not None
    low, high = np.full(rows.grades.n_queries, np.inf), np.full(rows.grades.n_queries, -np.inf)
    np.minimum.at(low, query, y)
    np.maximum.at(high, query, y)
    return (high > low).astype(np.float64)


def _of(row: IntArray, ptr: IntArray, used: IntArray) -> tuple[IntArray, IntArray]:
    """The rows of some queries, and where each begins."""
    size = np.diff(ptr)[used]
    begin = pointers(size)
    where = np.repeat(ptr[used] - begin[:-1], size) + np.arange(begin[-1])
    return row[where], begin
