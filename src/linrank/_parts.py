"""Parts of a data set that keep queries whole: shares of work for several engines, and samples.

Rows are counted query by query, in the order of the queries' numbers, whatever their order in the data. So an engine
that holds the later queries of a data set knows, from the number of rows before its own, which of them are in a sample.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._data import RankingData
from .kernels.ordering import group_rows

#: Queries of up to so many rows are sampled whole; of longer ones a sample has at least so many rows,
WHOLE = 32
#: in runs of so many: data on disk is read in runs.
RUN = 8
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
    return [data.part(rows[first:last]) for first, last in itertools.pairwise(cuts)]


def draw(data: RankingData, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
    """About n_rows rows, in whole queries (or in runs of rows of long ones), always the same; None: not worth it.

    The data holds rows number first, first + 1, ... of `of`: drawn are those that would be drawn from all of them.
    """
    total = data.n_rows if of is None else of
    if FEWEST * n_rows > total:
        return None
    row, ptr = group_rows(data.query, data.n_queries)
    places = _places(ptr, first, n_rows / total)
    rows = places if row is None else row[places]
    return data.part(within_limit(data.X, data.query, rows, one_more=of is not None))


def within_limit(
    X: Any, query: NDArray[np.int64], rows: NDArray[np.int64], one_more: bool = False
) -> NDArray[np.int64]:
    """The first of these rows that take at most MAX_BYTES, in whole queries where there are several.

    With `one_more`, those up to the first row that is too much: whoever joins parts then stops there as well, and does
    not go on with the rows of the next part.
    """
    if sp.issparse(X):
        sizes = (X.indptr[rows + 1] - X.indptr[rows]) * (X.data.itemsize + X.indices.itemsize) + X.indptr.itemsize
        n = int(np.searchsorted(np.cumsum(sizes), MAX_BYTES, side="right"))
    else:
        n = MAX_BYTES // max(1, X.shape[1] * X.itemsize)
    if n >= rows.size:
        return rows
    if one_more:
        return rows[: n + 1]
    whole = np.flatnonzero(query[rows[: n + 1]] != query[rows[n]])
    return rows[: whole[-1] + 1] if whole.size else rows[:n]


def _places(ptr: NDArray[np.int64], first: int, share: float) -> NDArray[np.int64]:
    """Places, by query, of the rows drawn from queries ptr: about that share of them.

    As many queries as can be, each with at least WHOLE rows or all it has: more queries tell more than longer ones, but
    a few rows of a query have hardly a pair. Chance depends on where a query begins among all rows, and on that alone.
    """
    size, begin = np.diff(ptr), ptr[:-1]
    wanted = np.minimum(size, np.maximum(share * size, WHOLE))  # rows of a query, if it is drawn
    drawn = np.flatnonzero(_chance(first + begin) * wanted < share * size)
    n_runs = np.where(wanted[drawn] < size[drawn], np.ceil(wanted[drawn] / RUN), 1.0).astype(np.int64)
    of = np.repeat(drawn, n_runs)  # the query of each run
    number = np.arange(of.size) - np.repeat(np.cumsum(n_runs) - n_runs, n_runs)
    stretch = size[of] / np.repeat(n_runs, n_runs)
    length = np.minimum(np.where(wanted[of] < size[of], RUN, size[of]), stretch.astype(np.int64))
    start = begin[of] + (number * stretch).astype(np.int64)
    start += (_chance(first + start) * (stretch - length)).astype(np.int64)
    places = np.repeat(start - (np.cumsum(length) - length), length) + np.arange(length.sum())
    return np.asarray(places, dtype=np.int64)


def _chance(number: NDArray[np.int64]) -> NDArray[np.float64]:
    """Numbers between 0 and 1 that look random: SplitMix64's, always the same."""
    z = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))).astype(np.float64) / 2.0**64
