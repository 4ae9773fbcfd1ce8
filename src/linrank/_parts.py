"""Parts of a data set that keep queries whole: shares of work for several engines, and samples.

Rows are counted query by query, in the order of the queries' numbers, whatever their order in the data. So an engine
that holds the later queries of a data set knows, from the number of rows before its own, which of them are in a sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._data import RankingData
from .kernels.ordering import group_rows

#: A sample is made of runs of so many rows, or of the queries that begin in them: data on disk is read in runs.
RUN = 16
#: A query with more than this share of a sample's rows is sampled itself.
LARGEST_SHARE = 0.25
#: Bytes of X in a sample at most.
MAX_BYTES = 64 << 20
#: A sample has at most one in so many of the rows, or all of them would cost little more.
FEWEST = 3


def split_queries(data: RankingData, n_parts: int) -> list[RankingData]:
    """Shares of whole queries with about as many rows each: at most n_parts, and none without rows."""
    row, ptr = group_rows(data.query, data.n_queries)
    wanted = np.arange(1, n_parts) * (data.n_rows / n_parts)
    cuts = np.unique(np.r_[0, ptr[np.searchsorted(ptr, wanted)], data.n_rows])
    rows = np.arange(data.n_rows) if row is None else row
    return [data.part(rows[first:last]) for first, last in zip(cuts[:-1], cuts[1:], strict=True)]


def draw(data: RankingData, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
    """About n_rows rows, in whole queries (or in runs of rows of a giant one), always the same; None: not worth it.

    The data holds rows number first, first + 1, ... of `of`: drawn are those that would be drawn from all of them.
    """
    total = data.n_rows if of is None else of
    if FEWEST * n_rows > total:
        return None
    row, ptr = group_rows(data.query, data.n_queries)
    places = _places(ptr, first, _runs(n_rows, total), LARGEST_SHARE * n_rows)
    rows = places if row is None else row[places]
    return data.part(within_limit(data.X, data.query, rows))


def within_limit(X: Any, query: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first of these rows that take at most MAX_BYTES, in whole queries where there are several."""
    if sp.issparse(X):
        bytes_ = np.diff(X.indptr)[rows] * (X.data.itemsize + X.indices.itemsize) + X.indptr.itemsize
    else:
        bytes_ = np.full(rows.size, X.shape[1] * X.itemsize)
    n = int(np.searchsorted(np.cumsum(bytes_), MAX_BYTES, side="right"))
    if n == rows.size:
        return rows
    whole = np.flatnonzero(query[rows[: n + 1]] != query[rows[n]])
    return rows[: whole[-1] + 1] if whole.size else rows[:n]


def _runs(n_rows: int, total: int) -> NDArray[np.int64]:
    """Where runs begin: one at random in each of as many equal stretches of the rows, always the same."""
    n_runs = max(1, n_rows // RUN)
    stretch = total / n_runs
    jitter = np.random.default_rng(0).random(n_runs) * max(stretch - RUN, 0.0)
    begin: NDArray[np.int64] = (np.arange(n_runs) * stretch + jitter).astype(np.int64)
    return begin


def _places(ptr: NDArray[np.int64], first: int, runs: NDArray[np.int64], giant: float) -> NDArray[np.int64]:
    """Rows of the queries ptr that are drawn: whole queries that begin in a run, and of giant ones their rows in runs.

    Rows are counted from 0 here, and from `first` in the runs.
    """
    size = np.diff(ptr)
    begin = first + ptr[:-1]
    run = np.searchsorted(runs, begin, side="right") - 1
    inside = (run >= 0) & (begin < runs[np.maximum(run, 0)] + RUN)
    chosen = np.zeros(ptr[-1] + 1, dtype=np.int64)
    whole = inside & (size <= giant)
    np.add.at(chosen, ptr[:-1][whole], 1)
    np.add.at(chosen, ptr[1:][whole], -1)
    drawn = np.cumsum(chosen[:-1]) > 0
    for q in np.flatnonzero(size > giant):
        here = (runs[:, None] + np.arange(RUN)).ravel() - first
        drawn[here[(here >= ptr[q]) & (here < ptr[q + 1])]] = True
    return np.flatnonzero(drawn)
