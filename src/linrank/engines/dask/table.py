"""The table: where the rows of each query go, from counts of them in each chunk; made on a worker."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


def concatenate(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns one after the other; objects stay objects."""
    if any(part.dtype.kind == "O" for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


class Counts(NamedTuple):
    """The queries of a chunk, and how many rows each has there."""

    ids: NDArray[Any]
    rows: NDArray[np.int64]


class Plan(NamedTuple):
    """What the client is told: how many rows of each chunk go to each shard."""

    shards: list[dict[int, int]]
    spans: list[dict[int, int]]


class Table(NamedTuple):
    """Where the rows of each query go: a number for each of a chunk's queries; those that span workers come last."""

    homes: list[NDArray[np.int64]]
    plan: Plan


def make_table(counts: list[Counts], span_rows: float) -> Table:
    """The table: a query goes where most of its rows are; one of more rows that is in several chunks spans them."""
    ids = concatenate([count.ids for count in counts])
    rows = np.concatenate([count.rows for count in counts])
    chunk = np.repeat(np.arange(len(counts)), [count.ids.size for count in counts])
    _, query = np.unique(ids, return_inverse=True)
    n_queries = int(query.max()) + 1
    total, n_chunks_of = np.bincount(query, rows), np.bincount(query)
    spans = (total > span_rows) & (n_chunks_of > 1)
    home = _homes(query, chunk, rows, n_queries)
    group = _split_homes(home, total, spans, len(counts), float(rows.sum()) / len(counts))
    number = np.full(n_queries, -1, dtype=np.int64)
    used, number[~spans] = np.unique(group[~spans], return_inverse=True)
    number[spans] = used.size + np.arange(int(spans.sum()))
    goes = number[query]
    edge, where = np.unique(goes * len(counts) + chunk, return_inverse=True)
    plan: list[dict[int, int]] = [{} for _ in range(used.size + int(spans.sum()))]
    for key, n in zip(edge.tolist(), np.bincount(where, rows).tolist(), strict=True):
        plan[key // len(counts)][key % len(counts)] = int(n)
    ends = np.cumsum([count.ids.size for count in counts])[:-1]
    return Table(np.split(goes, ends), Plan(plan[: used.size], plan[used.size :]))


def _homes(query: NDArray[Any], chunk: NDArray[Any], rows: NDArray[Any], n_queries: int) -> NDArray[np.int64]:
    """The chunk with most rows of each query; where several have as many, they take turns."""
    order = np.lexsort((chunk, -rows, query))
    q, c, n = query[order], chunk[order], rows[order]
    first = np.searchsorted(q, np.arange(n_queries))
    best = n == n[first][q]
    ties = np.bincount(q[best], minlength=n_queries)
    return c[first + np.arange(n_queries) % ties]


def _split_homes(
    home: NDArray[np.int64], total: NDArray[Any], spans: NDArray[np.bool_], n_chunks: int, mean: float
) -> NDArray[Any]:
    """Numbers of shards: a home with more than twice the mean chunk's rows is cut into several."""
    load = np.where(spans, 0, total)
    order = np.lexsort((np.arange(home.size), home))
    running = np.cumsum(load[order]) - load[order]
    of_home = np.bincount(home, load, minlength=n_chunks)
    before = np.r_[0, np.cumsum(of_home)[:-1]]
    piece = np.zeros(home.size)
    piece[order] = (running - before[home[order]]) // max(mean, 1.0)
    found: NDArray[Any] = home * float(1 << 32) + np.where(of_home[home] > 2 * mean, piece, 0)
    return found


def plan_of(table: Table) -> Plan:
    """For the client."""
    return table.plan


def homes_of(table: Table, chunk: int) -> NDArray[np.int64]:
    """For a chunk: where each of its queries goes."""
    return table.homes[chunk]
