"""Rows of a stream that early stopping scores by: some queries, chosen by their ids, or rows where there is no qid."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._errors import NoPairsError
from .._typing import FloatArray
from ..data.labelled import LabelledRows
from ..data.ranking_data import RankingData
from ..kernels.random import fill_units
from .reservoir import MEMORY, keys_of
from .rows import Rows, as_rows
from .run import accuracy

#: The next score is due once so many times as many steps have been made: the checks neither crowd nor run out.
LATER = 1.1


@dataclass(frozen=True)
class Held:
    """Held-out rows: at most 16 MB of them are kept to be scored.

    Attributes
    ----------
    fraction : float
        Part of the queries (of the rows, without qid) that is held out.
    seed, counter : uint64
        Which these are: by the query's id, or by the row's number.
    rows, y, v, key
        Those kept; `key` tells queries apart.
    next_at : float
        Steps after which the next score is due.
    full : bool
        No more rows are kept: the stream is read again, or there are enough.
    """

    fraction: float
    seed: np.uint64
    counter: np.uint64
    with_qid: bool
    rows: Rows | None = None
    y: FloatArray | None = None
    v: FloatArray | None = None
    key: NDArray[np.uint64] | None = None
    next_at: float = 0.0
    full: bool = False

    def split(self, chunk: LabelledRows) -> tuple[Held, LabelledRows]:
        """The held-out rows with those of the chunk, and the chunk without them."""
        key, query = keys_of(chunk.grades.ids), chunk.grades.query
        if self.with_qid:
            share = ((key ^ self.seed) * np.uint64(0x9E3779B97F4A7C15)).astype(np.float64)[query] / 2.0**64
        else:
            share = np.empty(chunk.n_rows)
            fill_units(self.seed, self.counter, share)
        out = np.flatnonzero(share < self.fraction)
        held = replace(self, counter=self.counter + np.uint64(chunk.n_rows))
        if out.size == 0:
            return held, chunk
        v = np.ones(chunk.n_rows) if chunk.sample_weight is None else chunk.sample_weight
        assert chunk.y is not None
        held = held._with(as_rows(chunk.X).take(out), chunk.y[out], v[out], key[query[out]])
        return held, chunk.part(np.flatnonzero(share >= self.fraction))

    def _with(self, rows: Rows, y: FloatArray, v: FloatArray, key: NDArray[np.uint64]) -> Held:
        if self.full:
            return self
        if self.rows is None or self.y is None or self.v is None or self.key is None:
            return replace(self, rows=rows, y=y, v=v, key=key)
        if self.rows.bytes_a_row * self.y.size > MEMORY:
            return replace(self, full=True)
        y, v = np.concatenate([self.y, y]), np.concatenate([self.v, v])
        return replace(self, rows=self.rows.above(rows), y=y, v=v, key=np.concatenate([self.key, key]))

    def reread(self) -> Held:
        """The same for another reading of the stream, of which the same rows are held out."""
        return replace(self, counter=np.uint64(0), full=True)

    def is_due(self, n_steps: int) -> bool:
        """Whether it is time for a score."""
        return n_steps >= self.next_at

    def scored(self, n_steps: int) -> Held:
        """The same once it has been scored."""
        return replace(self, next_at=LATER * n_steps)

    def score(self, coef: FloatArray) -> float | None:
        """Share of the held-out pairs that the weights order rightly; None where there is no pair yet."""
        if self.rows is None:
            return None
        try:
            return accuracy(RankingData(self.rows.X, self.y, self.key, sample_weight=self.v), coef)
        except NoPairsError:
            return None
