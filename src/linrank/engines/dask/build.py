"""Engines for data that this process holds: parts are sent as arguments of tasks, which workers can run again."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...data.parts import split_queries
from ...data.preferences import restrict
from ...data.ranking_data import RankingData
from .cluster import Cluster
from .config import Dask
from .engine import DaskEngine
from .shard import Shard
from .span import Counter, Rows
from .trips import Span

#: Bytes of X in a part: dask warns of arguments larger than 10 MB.
PART_BYTES = 6 << 20


def from_data(
    config: Dask, data: RankingData, n_jobs: int | None = None, device: Any = None, n_parts: int | None = None
) -> DaskEngine:
    """An engine over shares of whole queries; how many is said by the size of X, never by the workers."""
    cluster = Cluster(config)
    cluster.check_workers()
    X = data.X
    size = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    parts = split_queries(data, n_parts or max(1, -(-size // PART_BYTES)))
    shards = [cluster.submit(Shard, part, device) for part in parts]
    return DaskEngine(cluster, shards, n_jobs=n_jobs)


def spanning(config: Dask, data: RankingData, n_jobs: int | None = None, n_parts: int = 2) -> DaskEngine:
    """An engine whose rows lie anywhere, and whose preferences are all counted in one place."""
    cluster = Cluster(config)
    cluster.check_workers()
    ends = np.unique(np.linspace(0, data.n_rows, n_parts + 1).astype(np.int64))[1:].tolist()
    starts = [0, *ends[:-1]]
    parts = [
        cluster.submit(Rows, without_preferences(data.part(np.arange(first, last))))
        for first, last in zip(starts, ends, strict=True)
    ]
    counter = cluster.submit(Counter, without_features(data), ends)
    return DaskEngine(cluster, [], [Span(parts, counter, ends)], n_jobs)


def without_features(data: RankingData) -> RankingData:
    """The same rows; their one feature is their number."""
    return data.with_features([np.arange(data.n_rows, dtype=np.float64)[:, None]], np.arange(data.n_rows))


def without_preferences(data: RankingData) -> RankingData:
    """The same rows, and no preference between them."""
    none = restrict(data.preferences, np.empty(0, dtype=np.int64), data.query)
    return RankingData._of(data.X, data.y, data.query, data.query_ids, data.qid_from, data.sample_weight, none)
