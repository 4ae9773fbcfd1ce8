"""Dask collections, block by block: what stands in the same rows of several of them is brought side by side.

Dask is not imported before there is a collection; whoever has one has it. Frames are taken by whole partitions with
all columns: taken one by one, dask would join partitions differently for each.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from .._errors import DataError

LEAD, NAME = "__linrank_lead__", "__linrank_{}__"


def is_collection(X: Any) -> bool:
    """Whether this is a dask array, frame or series."""
    return hasattr(type(X), "__dask_graph__") and hasattr(X, "ndim")


def is_frame(X: Any) -> bool:
    """Whether this is a dask frame or series."""
    return is_collection(X) and hasattr(X, "npartitions") and hasattr(X, "divisions")


def any_collection(*given: Any) -> bool:
    """Whether one of these is a collection."""
    return any(is_collection(one) for one in given)


def client_of(*given: Any) -> Any:
    """The client that holds a collection's blocks, else that of this process."""
    from distributed import Future, get_client

    for collection in given:
        if is_collection(collection):
            for task in dict(collection.__dask_graph__()).values():
                for part in (task, *getattr(task, "args", ())):
                    if isinstance(part, Future):
                        return part.client
    try:
        return get_client()
    except ValueError:
        raise DataError(
            "X is a dask collection, and there is no cluster to train on: make a client, dask.distributed.Client(), "
            "or give X.compute()."
        ) from None


def n_features(X: Any) -> int:
    """Columns of an array or frame."""
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimension(s): give rows and columns.")
    return int(X.shape[1]) if not is_frame(X) else len(X.columns)


def stand_in(X: Any) -> Any:
    """A collection without rows in this process, which has the same columns."""
    return X._meta if is_frame(X) else np.empty((0, n_features(X)))


def column_beside(X: Any, qid: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """Features, queries and the columns set aside, where the queries may be a frame's column by its name."""
    if not isinstance(qid, str):
        return X, qid, ()
    if not is_frame(X) or qid not in X.columns:
        raise DataError(f"qid={qid!r} is no column of X: name one, or give the query of each row.")
    return X.drop(columns=[qid]), X[qid], (qid,)


def without_columns(X: Any, names: tuple[str, ...]) -> Any:
    """A frame without those of these columns that it has."""
    there = [name for name in names if is_frame(X) and name in X.columns]
    return X.drop(columns=there) if there else X


def side_by_side(lead: Any, **others: Any) -> list[Any]:
    """Delayed (rows of lead, {name: rows of the other}), one a block, in their order; those that are None are left out.

    Others are arrays cut as the lead is, series of the same frame, or collections with as many partitions.
    """
    named = {name: other for name, other in others.items() if other is not None}
    if is_frame(lead):
        frame = lead.to_frame(LEAD) if lead.ndim == 1 else lead
        inner = {name: other for name, other in named.items() if is_frame(other) and _same_rows(frame, other)}
        blocks = frame.assign(**{NAME.format(name): other for name, other in inner.items()}).to_delayed()
    else:
        lead = lead if lead.ndim == 1 else lead.rechunk({1: -1})
        inner, blocks = {}, np.ravel(lead.to_delayed()).tolist()
    outer = {name: _blocks_like(lead, name, other, len(blocks)) for name, other in named.items() if name not in inner}
    from dask import delayed

    join = delayed(_together, pure=False)
    return [
        join(block, tuple(inner), tuple(outer), *(outer[name][k] for name in outer)) for k, block in enumerate(blocks)
    ]


def _same_rows(frame: Any, other: Any) -> bool:
    """Whether two expressions are of the same frame, so that they can be joined without moving a row."""
    from dask.dataframe.dask_expr._expr import are_co_aligned

    if other.ndim != 1:
        raise DataError("y, qid and weights have one column each: give series.")
    return bool(are_co_aligned(frame.expr, other.expr))


def _blocks_like(lead: Any, name: str, other: Any, n_blocks: int) -> list[Any]:
    """The blocks of another collection, or of an array in memory, cut as the lead is."""
    known = not is_frame(lead) and not np.isnan(lead.chunks[0]).any()
    if not is_collection(other):
        if not known:
            raise DataError(
                f"{name} lies in memory, and how many rows each partition of X has is not known: give {name} as a "
                "column of the same frame."
            )
        import dask.array as da

        other = da.from_array(np.asarray(other), chunks=-1)
    if known and not is_frame(other) and not np.isnan(other.chunks[0]).any():
        if other.shape[0] != lead.shape[0]:
            raise DataError(f"{name} has {other.shape[0]} values, but X has {lead.shape[0]} rows: give one per row.")
        other = other.rechunk({0: lead.chunks[0]})
    blocks = np.ravel(np.array(other.to_delayed(), dtype=object)).tolist()
    if len(blocks) != n_blocks:
        raise DataError(
            f"X comes in {n_blocks} blocks and {name} in {len(blocks)}: give both as columns of one frame, or as "
            "arrays with the same chunks."
        )
    return blocks


def _together(block: Any, inner: tuple[str, ...], outer: tuple[str, ...], *values: Any) -> tuple[Any, dict[str, Any]]:
    """In a task: a block and its companions; those of the same frame are its columns."""
    found = {name: column_values(block[NAME.format(name)]) for name in inner}
    lead = block.drop(columns=[NAME.format(name) for name in inner]) if inner else block
    if hasattr(lead, "columns") and list(lead.columns) == [LEAD]:
        lead = lead[LEAD]
    found |= {name: column_values(value) for name, value in zip(outer, values, strict=True)}
    for name, value in found.items():
        if len(value) != lead.shape[0]:
            raise DataError(
                f"A partition has {lead.shape[0]} rows, and {len(value)} values of {name}: give both from the same "
                "frame, or with the same chunks."
            )
    return lead, found


def column_values(column: Any) -> Any:
    """The values of a column: those of a nullable or Arrow type as plain numbers, or as objects."""
    if not hasattr(column, "to_numpy"):
        return np.ravel(column) if getattr(column, "ndim", 1) > 1 else np.asarray(column)
    if str(column.dtype).lower().startswith(("string", "str", "object", "category")):
        return column.to_numpy(dtype=object)
    values = column.to_numpy()
    return values if values.dtype != object else np.array(values.tolist())


def refuse_collection(X: Any, who: str, cure: str) -> None:
    """Refuse a dask collection where rows must lie in this process."""
    if is_collection(X):
        raise DataError(f"{who} takes no dask collection: {cure}.")


#: Parts into which queries are dealt to be judged: each is a task.
MOST_BUCKETS = 32


def deal(blocks: list[Any], has_qid: bool) -> list[list[Any]]:
    """For each bucket, its delayed piece of each block: queries are dealt by their ids, and are whole in a bucket.

    A piece is (rows of the lead, {name: rows}); rows keep the order of the blocks.
    """
    from dask import delayed

    n = min(len(blocks), MOST_BUCKETS) if has_qid else 1
    cut = delayed(_cut, pure=False, nout=n)
    dealt = [cut(block, n) for block in blocks]
    return [[pieces[bucket] for pieces in dealt] for bucket in range(n)]


def bucket_of(columns: dict[str, Any], n_rows: int, n: int) -> Any:
    """The bucket of each row, by its query's id."""
    from .queries import check_ids, number_queries

    if "qid" not in columns or n == 1:
        return np.zeros(n_rows, dtype=np.int64)
    query, ids = number_queries(check_ids(columns["qid"], n_rows), n_rows)
    if ids.dtype.kind in "biuMm":
        code = ids.astype(np.int64) % n
    else:
        code = np.array([crc32(one if isinstance(one, bytes) else str(one).encode()) % n for one in ids.tolist()])
    return code.astype(np.int64)[query]


def _cut(block: tuple[Any, dict[str, Any]], n: int) -> tuple[Any, ...]:
    lead, columns = block
    lead = column_values(lead)
    bucket = bucket_of(columns, lead.shape[0], n)
    found = []
    for k in range(n):
        rows = np.flatnonzero(bucket == k)
        found.append((lead[rows], {name: column[rows] for name, column in columns.items()}))
    return tuple(found)


def join_pieces(pieces: list[tuple[Any, dict[str, Any]]]) -> tuple[Any, dict[str, Any]]:
    """Pieces of a bucket, one after the other."""
    held = [piece for piece in pieces if len(piece[0])] or pieces[:1]
    names = held[0][1]
    columns: dict[str, Any] = {}
    for name in names:
        parts = [piece[1][name] for piece in held]
        same = not any(part.dtype.kind == "O" for part in parts)
        columns[name] = np.concatenate(parts if same else [part.astype(object) for part in parts])
    return np.concatenate([piece[0] for piece in held]), columns
