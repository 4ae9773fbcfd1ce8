"""Queries that may go on in a later chunk: a sample of the rows seen of each, within a bound on memory.

The rows kept of a query are a uniform sample of those seen since it was opened (algorithm R). They stand for all of
them: each weighs seen / kept. Where the memory is used up all samples become smaller, alike; then the queries that have
not been seen for longest are closed. Rows of a closed query that comes again have lost their pairs with those before:
that is counted.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from ..data.labelled import LabelledRows
from ..data.ordering import stable_order
from ..kernels.random import GOLDEN, MIX_1, MIX_2, fill_units
from .rows import Rows, as_rows

#: Rows of open queries take no more memory than this, and a sample has room for so many rows before any is closed.
MEMORY, FEWEST_ROWS = 16 << 20, 4
#: Closed queries that are remembered, 16 bytes each: with more, what is told to be lost is a lower bound.
MOST_CLOSED = 1 << 20

Keys = NDArray[np.uint64]


def keys_of(ids: NDArray[Any]) -> Keys:
    """64 bits for each id, the same in every process; 1 and "1" are different."""
    if ids.dtype.kind in "biuMm":
        x = ids.astype(np.int64).view(np.uint64) + GOLDEN
        for shift, mix in ((30, MIX_1), (27, MIX_2)):  # SplitMix64, as `kernels/random.py`
            x = (x ^ (x >> np.uint64(shift))) * mix
        return x ^ (x >> np.uint64(31))
    if ids.dtype.kind == "O" and all(isinstance(name, (bool, int, np.integer)) for name in ids.tolist()):
        return keys_of(np.array([int(name) % 2**64 for name in ids.tolist()], dtype=np.uint64))
    names = (f"{type(name).__name__} {name}".encode() for name in ids.tolist())
    digests = b"".join(hashlib.blake2b(name, digest_size=8).digest() for name in names)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


class Kept(NamedTuple):
    """Rows kept of open queries: whose they are, and their places in the sample."""

    rows: Rows
    y: FloatArray
    v: FloatArray
    owner: NDArray[np.int64]
    place: NDArray[np.int64]

    def take(self, chosen: IntArray) -> Kept:
        """Some of them."""
        y, v, owner, place = self.y[chosen], self.v[chosen], self.owner[chosen], self.place[chosen]
        return Kept(self.rows.take(chosen), y, v, owner, place)

    def above(self, other: Kept) -> Kept:
        """These, and others below."""
        numbers = (np.concatenate([a, b]) for a, b in ((self.owner, other.owner), (self.place, other.place)))
        values = (np.concatenate([a, b]) for a, b in ((self.y, other.y), (self.v, other.v)))
        return Kept(self.rows.above(other.rows), *values, *numbers)


@dataclass(frozen=True)
class Closed:
    """Closed queries, sorted by key, and how many rows were seen of each."""

    key: Keys = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    seen: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def of(self, keys: Keys) -> NDArray[np.int64]:
        """Rows seen of queries, 0 where they were never closed."""
        if self.key.size == 0:
            return np.zeros(keys.size, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.key, keys), self.key.size - 1)
        return np.where(self.key[place] == keys, self.seen[place], 0)

    def plus(self, keys: Keys, seen: NDArray[np.int64]) -> Closed:
        """With some more rows of some queries."""
        if keys.size == 0:
            return self
        key, where = np.unique(np.concatenate([self.key, keys]), return_inverse=True)
        total = np.bincount(where, np.concatenate([self.seen, seen])).astype(np.int64)
        return Closed(key, total) if key.size <= MOST_CLOSED else self


@dataclass(frozen=True)
class OpenQueries:
    """Samples of the rows of open queries, the query seen last standing last.

    Attributes
    ----------
    size, most : int
        Rows kept of a query at most, and open queries at most.
    seed, counter : uint64
        The random stream of the samples, and its next unused number.
    limit : int
        Rows kept of a query by now: `size`, or less where memory is short.
    key, seen
        Of each open query: its id's 64 bits, and its rows since it was opened.
    closed
        The queries that were open once.
    met, lost : int
        Pairs of rows of one query, of any labels, that came by; and those of them whose earlier row was forgotten.
    """

    size: int
    most: int
    seed: np.uint64
    counter: np.uint64 = field(default_factory=lambda: np.uint64(0))
    limit: int = 0
    key: Keys = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    seen: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    kept: Kept | None = None
    closed: Closed = field(default_factory=Closed)
    met: int = 0
    lost: int = 0

    def without_rows(self) -> OpenQueries:
        """The same with no query open and none remembered: what is next is a new reading of the stream."""
        none = np.empty(0, dtype=np.int64)
        return replace(self, key=none.astype(np.uint64), seen=none, kept=None, closed=Closed())

    def places(self, keys: Keys) -> NDArray[np.int64]:
        """Where queries stand among the open ones; -1: nowhere."""
        if self.key.size == 0:
            return np.full(keys.size, -1, dtype=np.int64)
        order = np.argsort(self.key)
        place = order[np.minimum(np.searchsorted(self.key, keys, sorter=order), self.key.size - 1)]
        return np.where(self.key[place] == keys, place, -1)

    def working_set(self, chunk: LabelledRows, keys: Keys) -> LabelledRows:
        """The chunk's rows, then those kept of its queries, each of which weighs as many rows as it stands for."""
        place = self.places(keys)
        if self.kept is None or not np.any(place >= 0):
            return chunk
        query = np.full(self.key.size, -1, dtype=np.int64)  # of an open query, in the chunk
        query[place[place >= 0]] = np.flatnonzero(place >= 0)
        chosen = np.flatnonzero(query[self.kept.owner] >= 0)
        old, grades = self.kept.take(chosen), chunk.grades
        stands_for = (self.seen / np.bincount(self.kept.owner, minlength=self.key.size))[old.owner]
        v = np.ones(chunk.n_rows) if chunk.sample_weight is None else chunk.sample_weight
        assert chunk.y is not None
        weights = np.concatenate([v, old.v * stands_for])
        return chunk.replaced(
            as_rows(chunk.X).above(old.rows).X,
            np.concatenate([chunk.y, old.y]),
            np.concatenate([grades.query, query[old.owner]]),
            None if np.all(weights == 1) else weights,
        )

    def after(self, chunk: LabelledRows, keys: Keys) -> OpenQueries:
        """The open queries once the chunk has been seen."""
        query = chunk.grades.query
        n_new = np.bincount(query, minlength=keys.size)
        place = self.places(keys)
        before = np.where(place >= 0, self.seen[place] if self.seen.size else 0, 0)
        forgotten = self.closed.of(keys)
        limit = self.limit or self.size
        met = int(np.sum(n_new * (before + forgotten) + n_new * (n_new - 1) // 2))
        lost = int(np.sum(n_new * forgotten))
        kept = self._sampled(chunk, place, before, limit)
        seen = np.concatenate([self.seen, np.zeros(np.count_nonzero(place < 0), dtype=np.int64)])
        slot = np.where(place >= 0, place, self.key.size + np.cumsum(place < 0) - 1)
        seen[slot] += n_new
        last = np.full(seen.size, -1, dtype=np.int64)  # a query's last row in the chunk
        last[slot[query]] = np.arange(query.size)
        grown = replace(
            self,
            counter=self.counter + np.uint64(query.size),
            limit=limit,
            key=np.concatenate([self.key, keys[place < 0]]),
            seen=seen,
            kept=kept,
            met=self.met + met,
            lost=self.lost + lost,
        )
        return grown._chosen(np.argsort(last, kind="stable"))._within_memory()

    def _sampled(self, chunk: LabelledRows, place: IntArray, before: IntArray, limit: int) -> Kept:
        """Row number n of a query takes place n while there is room, then a random one of n places if it is kept."""
        query = chunk.grades.query
        order = stable_order(query)
        first = np.concatenate([[0], np.cumsum(np.bincount(query, minlength=place.size))])[:-1]
        number = np.empty(query.size, dtype=np.int64)
        number[order] = np.arange(query.size) - first[query[order]] + 1
        number += before[query]
        unit = np.empty(query.size)
        fill_units(self.seed, self.counter, unit)
        spot = np.where(number <= limit, number - 1, np.floor(unit * number).astype(np.int64))
        slot = np.where(place >= 0, place, self.key.size + np.cumsum(place < 0) - 1)[query]
        taken = np.flatnonzero(spot < limit)
        code = slot[taken] * limit + spot[taken]
        _, newest = np.unique(code[::-1], return_index=True)  # of rows with the same place the last one stays
        taken, code = taken[::-1][newest], code[::-1][newest]
        v = np.ones(query.size) if chunk.sample_weight is None else chunk.sample_weight
        assert chunk.y is not None
        new = Kept(as_rows(chunk.X).take(taken), chunk.y[taken], v[taken], slot[taken], spot[taken])
        if self.kept is None:
            return new
        stay = np.flatnonzero(~np.isin(self.kept.owner * limit + self.kept.place, code))
        return new.above(self.kept.take(stay)) if stay.size else new

    def _chosen(self, order: IntArray) -> OpenQueries:
        """The last `most` of the queries in this order; the others are closed."""
        assert self.kept is not None
        order, gone = order[-self.most :], order[: -self.most]
        number = np.full(self.key.size, -1, dtype=np.int64)
        number[order] = np.arange(order.size)
        owner = number[self.kept.owner]
        kept = self.kept._replace(owner=owner)
        if gone.size:
            kept = kept.take(np.flatnonzero(owner >= 0))
        closed = self.closed.plus(self.key[gone], self.seen[gone])
        return replace(self, key=self.key[order], seen=self.seen[order], kept=kept, closed=closed)

    def _within_memory(self) -> OpenQueries:
        """Smaller samples of all queries, then fewer queries, where the rows take more than the memory they have."""
        assert self.kept is not None
        room = max(1, int(MEMORY / max(1.0, self.kept.rows.bytes_a_row)))
        if self.kept.y.size <= room:
            return self
        count = np.bincount(self.kept.owner, minlength=self.key.size)
        limit = self.limit
        while limit > FEWEST_ROWS and np.minimum(count, limit).sum() > room:
            limit = max(FEWEST_ROWS, limit * 3 // 4)
        smaller = self._thinned(limit) if limit < self.limit else self
        upto = np.cumsum(np.minimum(count, limit)[::-1])  # from the query seen last
        most = max(1, int(np.searchsorted(upto, room, side="right")))
        return replace(replace(smaller, most=most)._chosen(np.arange(self.key.size)), most=self.most)

    def _thinned(self, limit: int) -> OpenQueries:
        """At most `limit` rows of each query: a uniform sample of a uniform sample is one."""
        assert self.kept is not None
        n = self.kept.y.size
        unit = np.empty(n)
        fill_units(self.seed, self.counter, unit)
        order = np.lexsort((unit, self.kept.owner))
        count = np.bincount(self.kept.owner, minlength=self.key.size)
        rank = np.arange(n) - np.concatenate([[0], np.cumsum(count)])[:-1][self.kept.owner[order]]
        stay = rank < limit
        kept = self.kept.take(order[stay])._replace(place=rank[stay])
        return replace(self, limit=limit, kept=kept, counter=self.counter + np.uint64(n))
