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

from ..kernels.parts import draw_places
from .ordering import group_rows
from .ranking_data import RankingData

#: Queries of up to so many rows are sampled whole; of longer ones a sample has at least so many rows,
WHOLE = 32
#: in runs of so many: data on disk is read in runs.
RUN = 8
#: Bytes of X in a sample at most.
MAX_BYTES = 64 << 20
#: A sample has at most one in so many of the rows, or all of them would cost little more.
FEWEST = 3


def split_queries(data: RankingData, n_parts: int, cost: NDArray[np.float64] | None = None) -> list[RankingData]:
    """Shares of whole queries, one after the other, of which the dearest costs as little as can be.

    There are at most n_parts, and none without rows. `cost` is that of each query; None: its rows. Clusters that are
    unions of queries stay together.
    """
    unit, n_units = data.query, data.n_queries
    if data.cluster is not None and data.clusters_are_whole:
        unit, n_units = data.cluster, int(data.cluster.max(initial=0)) + 1
        if cost is not None:
            of_query = np.zeros(data.n_queries, dtype=np.int64)
            of_query[data.query] = data.cluster
            cost = np.bincount(of_query, cost, minlength=n_units).astype(np.float64)
    row, ptr = group_rows(unit, n_units)
    cuts = np.unique(ptr[_fair_cuts(np.diff(ptr).astype(np.float64) if cost is None else cost, n_parts)])
    rows = np.arange(data.n_rows) if row is None else row
    return [data.part(rows[first:last]) for first, last in itertools.pairwise(cuts)]


def _fair_cuts(cost: NDArray[np.float64], n_parts: int) -> list[int]:
    """Where to cut a list into runs, at most so many, so that the largest sum of a run is as small as can be.

    Whether runs of a sum of at most x suffice is found by taking as much as fits each time; x by bisection.
    """
    running = np.r_[0.0, np.cumsum(cost)]

    def cuts(most: float) -> list[int]:
        found = [0]
        while found[-1] < cost.size and len(found) <= n_parts:
            end = int(np.searchsorted(running, running[found[-1]] + most, side="right")) - 1
            found.append(max(end, found[-1] + 1))
        return found

    low, high = 0.0, float(running[-1])
    best = cuts(high)
    for _ in range(60):
        middle = low + 0.5 * (high - low)
        tried = cuts(middle)
        if tried[-1] == cost.size:
            high, best = middle, tried
        else:
            low = middle
    return best


def draw(data: RankingData, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
    """About n_rows rows, in whole queries (or in runs of rows of long ones), always the same; None: not worth it.

    As many queries as can be, each with at least WHOLE rows or all it has: more queries tell more than longer ones, but
    a few rows of a query have hardly a pair.

    The data holds rows number first, first + 1, ... of `of`: drawn are those that would be drawn from all of them.
    """
    total = data.n_rows if of is None else of
    if FEWEST * n_rows > total:
        return None
    row, ptr = group_rows(data.query, data.n_queries)
    given = ptr, first, n_rows / total, WHOLE, RUN
    places = np.empty(draw_places(*given, False, ptr), dtype=np.int64)
    draw_places(*given, True, places)
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
