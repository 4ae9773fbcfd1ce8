"""Metrics of dask collections: queries are dealt into buckets by their ids, whole, and each bucket is judged in a task.

Labels, scores and ids travel between workers; features are not asked for, and the client gets a few sums.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, NoPairsError, UndefinedMetricWarning
from .._typing import FloatArray
from ..data.collections import deal, is_collection, join_pieces, side_by_side
from ..data.queries import check_query_weight, encode_queries
from ._rows import Value

#: Options that hold a value for each row, where they are collections.
BY_ROW = ("sample_weight", "query_weight", "docid")
#: From (y, scores, qid, options) of whole queries to a value for each, NaN where there is none, and its weight.
Judge = Callable[[Any, Any, Any, dict[str, Any]], tuple[FloatArray, FloatArray]]


class Judged(NamedTuple):
    """A bucket's part of a mean; the queries one by one only where they were asked for."""

    total: float
    weight: float
    ids: NDArray[Any] | None
    values: FloatArray | None


def over_collection(
    name: str, judge: Judge, y: Any, scores: Any, qid: Any, per_query: bool, options: dict[str, Any]
) -> Value:
    """A metric's mean over the queries of collections, or one value per query in the order of their ids."""
    if not is_collection(scores) or getattr(getattr(y, "dtype", None), "names", None) is not None:
        raise DataError("A dask collection is judged by y, scores and qid that are all collections: give them so.")
    from dask import compute, delayed

    rows = {key: value for key in BY_ROW if is_collection(value := options.get(key))}
    plain = {key: value for key, value in options.items() if key not in rows}
    blocks = side_by_side(scores, y=y, qid=qid, **rows)
    task = delayed(_judge_bucket, pure=False)
    found: tuple[Judged | None, ...] = compute(
        *(task(pieces, judge, plain, tuple(rows), per_query) for pieces in deal(blocks, qid is not None))
    )
    judged = [one for one in found if one is not None]
    if not judged:
        raise DataError("scores is empty: give at least one row.")
    if per_query:
        values, ids = (np.concatenate([getattr(one, part) for one in judged]) for part in ("values", "ids"))
        return values[np.argsort(ids, kind="stable")]
    weight = sum(one.weight for one in judged)
    if weight > 0:
        return float(sum(one.total for one in judged) / weight)
    if name == "wmw":
        raise NoPairsError("There is no pair to judge: within a query, two rows of positive weight must differ in y.")
    text = f"{name} is not defined for any query here (no relevant rows, or none but those): the mean is NaN."
    warnings.warn(text, UndefinedMetricWarning, stacklevel=4)
    return float("nan")


def _judge_bucket(
    pieces: list[tuple[Any, dict[str, Any]]], judge: Judge, options: dict[str, Any], by_row: tuple[str, ...], each: bool
) -> Judged | None:
    """In a task: whole queries, judged."""
    scores, columns = join_pieces(pieces)
    if scores.size == 0:
        return None
    told = options | {name: columns[name] for name in by_row}
    qid = columns.get("qid")
    values, weight = judge(columns["y"], scores, qid, told)
    counts = ~np.isnan(values) & (weight > 0)
    total = float(np.sum(values[counts] * weight[counts]))
    ids = encode_queries(qid, scores.size)[1] if each else None
    return Judged(total, float(weight[counts].sum()), ids, values if each else None)


def mean_over_queries(function: Callable[..., Value]) -> Judge:
    """The judge of a metric that is a mean over queries, each by its query weight."""

    def judge(y: Any, scores: Any, qid: Any, options: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
        told = dict(options)
        weight: Mapping[Any, float] | Any = told.pop("query_weight", None)
        values = function(y, scores, qid, per_query=True, **told)
        query, ids = encode_queries(qid, len(scores))
        return values, np.ones(ids.size) if weight is None else check_query_weight(weight, query, ids)

    return judge


def refuse_pairs(pairs: Any) -> None:
    """Refuse pairs, which name rows by number."""
    if pairs is not None:
        raise DataError("pairs name rows by their numbers, which rows of a dask collection do not have: judge by y.")


def extremes(y: Any) -> tuple[float, float, bool]:
    """The smallest and the largest label of a collection, and whether there are others."""
    from dask import compute

    low, high = (float(one) for one in compute(y.min(), y.max()))
    return low, high, bool(((y != low) & (y != high)).any().compute())
