"""Rows brought together: from a collection's blocks, or files, to an engine whose shards hold whole queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..._errors import DataError
from ..._typing import FloatArray
from ...data.collections import side_by_side
from . import rows as tasks
from . import table as tables
from .cluster import Cluster
from .config import Dask
from .engine import DaskEngine
from .rows import Building, Measured
from .table import Plan
from .trips import Span, on_holders

#: Partitions of less than one in so many of all bytes are joined, if they have less than `shard_bytes`.
SHARE = 32
#: Tells what is being done, and how many tasks of how many are done.
Say = Callable[..., None]


@dataclass(frozen=True)
class Collection:
    """Rows as dask collections hold them, and how they are ranked."""

    X: Any
    y: Any
    qid: Any
    sample_weight: Any
    query_weight: Any  # a collection, or a mapping from ids
    how: Building

    def chunks(self, cluster: Cluster) -> list[Any]:
        """Futures of chunks, in the order of the rows."""
        by_id = isinstance(self.query_weight, Mapping)
        blocks = side_by_side(
            self.X,
            y=self.y,
            qid=self.qid,
            sample_weight=self.sample_weight,
            query_weight=None if by_id else self.query_weight,
        )
        from dask import delayed

        load = delayed(tasks.load, pure=False)
        return cluster.compute([load(block, self.how.missing) for block in blocks])

    def alike(self, cluster: Cluster, chunks: list[Any], measured: list[Measured]) -> tuple[list[Any], list[Measured]]:
        """A collection's blocks are alike."""
        return chunks, measured


class Brought(NamedTuple):
    """An engine for a source's rows, what NaN is replaced by, and what is known of the features and queries."""

    engine: DaskEngine
    fill: FloatArray | None
    names: tuple[str, ...] | None
    with_qid: bool


def bring(
    config: Dask, source: Any, n_jobs: int | None = None, device: Any = None, say: Say = lambda *_: None
) -> Brought:
    """Bring the rows of a source together."""
    cluster = Cluster(config)
    cluster.check_workers()
    try:
        chunks = source.chunks(cluster)
        _stage(cluster, say, f"reading {len(chunks):,} partitions")
        chunks, measured = _measure(cluster, source, chunks)
        how = replace(source.how, fill=_fill(cluster, chunks, measured, source.how.missing))
        chunks, measured = _joined(cluster, chunks, measured, config.shard_bytes)
        rows = sum(one.rows for one in measured)
        _stage(cluster, say, f"bringing queries together: {rows:,} rows in {len(chunks):,} chunks")
        engine = DaskEngine(cluster, *_shards(cluster, chunks, measured, how, device, config.shard_bytes), n_jobs)
    except BaseException as error:
        if not isinstance(error, DataError):
            cluster.stop(cluster.under_way)
        cluster.let_go([])
        raise
    cluster.say = lambda done, total: None
    return Brought(engine, how.fill, measured[0].names, "qid" in measured[0].columns)


def _stage(cluster: Cluster, say: Say, text: str) -> None:
    """What is done from here on."""
    say(text)
    cluster.say = lambda done, total: say(text, done, total)


def _measure(cluster: Cluster, source: Any, chunks: list[Any]) -> tuple[list[Any], list[Measured]]:
    """Chunks that are alike, and their sizes, once all of them are there: errors of reading come out here."""
    cluster.wait(chunks)
    chunks, measured = source.alike(cluster, chunks, on_holders(cluster, tasks.measure, chunks))
    tasks.refuse_mixed(measured)
    return chunks, measured


def _fill(cluster: Cluster, chunks: list[Any], measured: list[Measured], missing: str) -> FloatArray | None:
    """What NaN is replaced by in each column."""
    if missing == "error":
        return None
    d = max(one.features for one in measured)
    if missing == "zero":
        return np.zeros(d)
    found = on_holders(cluster, tasks.means, [c for c, one in zip(chunks, measured, strict=True) if one.rows])
    count = sum((n for n, _ in found), np.zeros(d))
    share = [(n / np.maximum(count, 1.0)) * mean for n, mean in found]
    return np.sum(share, axis=0)


def _joined(
    cluster: Cluster, chunks: list[Any], measured: list[Measured], shard_bytes: int
) -> tuple[list[Any], list[Measured]]:
    """Chunks without the empty ones, and small ones joined with those that follow: by their sizes alone."""
    least = min(float(shard_bytes), sum(one.bytes for one in measured) / SHARE)
    found: list[tuple[list[Any], list[Measured]]] = []
    for chunk, one in zip(chunks, measured, strict=True):
        if one.rows == 0:
            continue
        small = found and sum(other.bytes for other in found[-1][1]) < least
        if small and one.bytes < least:
            found[-1][0].append(chunk)
            found[-1][1].append(one)
        else:
            found.append(([chunk], [one]))
    joined = [own[0] if len(own) == 1 else cluster.submit(tasks.join, own) for own, _ in found]
    sizes = [
        own[0]._replace(rows=sum(one.rows for one in own), bytes=sum(one.bytes for one in own)) for _, own in found
    ]
    return joined, sizes


def _shards(
    cluster: Cluster, chunks: list[Any], measured: list[Measured], how: Building, device: Any, shard_bytes: int
) -> tuple[list[Any], list[Span]]:
    """Shards of whole queries, and rankings that span workers."""
    n_rows, size = sum(one.rows for one in measured), sum(one.bytes for one in measured)
    if len(chunks) == 1:
        return [cluster.submit(tasks.make_shard, chunks, how, device)], []
    span_rows = max(2.0 * n_rows / len(chunks), shard_bytes * n_rows / max(size, 1))
    counts = [cluster.submit(tasks.count_queries, chunk) for chunk in chunks]
    table = cluster.submit(tables.make_table, counts, span_rows)
    plan: Plan = cluster.gather([cluster.submit(tables.plan_of, table)])[0]
    homes = [cluster.submit(tables.homes_of, table, k) for k in range(len(chunks))]

    def piece(target: int, k: int, n: int) -> Any:
        """The rows of a chunk that go to a target: all of them where it stays as it is."""
        return chunks[k] if n == measured[k].rows else cluster.submit(tasks.cut, chunks[k], homes[k], target)

    shards = [
        cluster.submit(tasks.make_shard, [piece(target, k, n) for k, n in own.items()], how, device)
        for target, own in enumerate(plan.shards)
    ]
    return shards, _spans(cluster, plan, piece, how, device)


def _spans(
    cluster: Cluster, plan: Plan, piece: Callable[[int, int, int], Any], how: Building, device: Any
) -> list[Span]:
    if plan.spans and device is not None:
        raise DataError(
            "A query spans workers, and devices count whole queries alone: leave device out, or give engines.Dask "
            "a larger shard_bytes."
        )
    spans = []
    for target, own in enumerate(plan.spans, len(plan.shards)):
        pieces = [piece(target, k, n) for k, n in own.items()]
        parts = [cluster.submit(tasks.make_part, one, how) for one in pieces]
        labels = [cluster.submit(tasks.labels_of, one) for one in pieces]
        counter = cluster.submit(tasks.make_counter, labels, how)
        spans.append(Span(parts, counter, np.cumsum(list(own.values())).tolist()))
    return spans


def words(engine: DaskEngine, n_workers: int) -> str:
    """What is held where, and what travels: told before work begins."""
    d, shards = engine.facts.features, len(engine.parts)
    held = sum(engine.bytes) / max(1, n_workers)
    text = f"{shards:,} {'shard' if shards == 1 else 'shards'} on {n_workers:,} "
    text += f"{'worker' if n_workers == 1 else 'workers'}, about {size(held)} each; a trip takes {size(8 * d)} to a "
    text += "worker and as much back from each shard, a sample up to 64 MB"
    if engine.spans:
        rows = sum(span.ends[-1] for span in engine.spans)
        text += f"; {rows:,} rows of rankings that span workers send {size(8 * rows)} of scores and get as much back"
    return text


def size(n_bytes: float) -> str:
    """Bytes in words."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"
