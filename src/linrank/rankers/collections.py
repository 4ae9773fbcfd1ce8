"""Scores and positions of the rows of dask collections, made where these lie: lazy, as collections are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..data.checks import check_features
from ..data.collections import bucket_of, deal, is_frame, join_pieces, side_by_side
from ..data.ordering import positions_within
from ..data.queries import encode_queries
from ..engines.matrix import predict


def score_collection(X: Any, w: FloatArray, fill: FloatArray | None) -> Any:
    """A dask array of scores for an array, a series for a frame."""
    if is_frame(X):
        return X.map_partitions(_score_frame, w, fill, meta=("score", np.float64))
    X = X.rechunk({1: -1})
    return X.map_blocks(_score_block, w, fill, drop_axis=1, dtype=np.float64, meta=np.empty(0))


def _score_block(block: Any, w: FloatArray, fill: FloatArray | None) -> FloatArray:
    """In a task: scores of a block, which may be empty."""
    if block.shape[0] == 0:
        return np.empty(0)
    return predict(check_features(block, allow_nan=fill is not None), w, fill)


def _score_frame(frame: Any, w: FloatArray, fill: FloatArray | None) -> Any:
    """In a task: a series of scores with the frame's index."""
    import pandas as pd

    return pd.Series(_score_block(frame, w, fill), index=frame.index, name="score")


def rank_collection(scores: Any, qid: Any) -> Any:
    """Positions within queries, cut as the scores are: ids and scores meet by query, 16 bytes a row, and go back."""
    from dask import delayed

    blocks = side_by_side(scores, qid=qid)
    dealt = deal(blocks, qid is not None)
    place = delayed(_positions, pure=False, nout=len(blocks))
    buckets = [place(pieces) for pieces in dealt]
    back = delayed(_in_place, pure=False)
    found = [back(block, [bucket[k] for bucket in buckets]) for k, block in enumerate(blocks)]
    if is_frame(scores):
        import dask.dataframe as dd

        return dd.from_delayed(found, meta=("position", np.int64), verify_meta=False)
    import dask.array as da

    sizes = scores.chunks[0]
    return da.concatenate(
        [da.from_delayed(one, shape=(n,), dtype=np.int64) for one, n in zip(found, sizes, strict=True)],
        allow_unknown_chunksizes=True,
    )


def _positions(pieces: list[tuple[Any, dict[str, Any]]]) -> tuple[Any, ...]:
    """In a task: positions of whole queries, for each of the pieces that they came in."""
    ends = np.cumsum([len(scores) for scores, _ in pieces])[:-1]
    scores, columns = join_pieces(pieces)
    if scores.size == 0:
        return tuple(np.empty(0, dtype=np.int64) for _ in pieces)
    positions = positions_within(*encode_queries(columns.get("qid"), scores.size), np.ascontiguousarray(scores))
    return tuple(np.split(positions, ends))


def _in_place(block: tuple[Any, dict[str, Any]], dealt: list[Any]) -> Any:
    """In a task: the positions of a block's rows, in their order."""
    scores, columns = block
    n_rows = len(scores)
    bucket = bucket_of(columns, n_rows, len(dealt))
    found = np.empty(n_rows, dtype=np.int64)
    for k, positions in enumerate(dealt):
        found[bucket == k] = positions
    if not hasattr(scores, "index"):
        return found
    import pandas as pd

    return pd.Series(found, index=scores.index, name="position")
