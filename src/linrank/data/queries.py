"""Queries: their ids become numbers, and their weights are looked up by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError
from .._typing import FloatArray
from .checks import check_weights, refuse_masked
from .ordering import number_distinct, run_starts


def encode_queries(qid: ArrayLike | None, n_rows: int, what: str = "X") -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the number of each row's query, and the query ids in the order of those numbers, which is sorted."""
    return number_queries(check_ids(qid, n_rows, what), n_rows)


def number_queries(ids: NDArray[Any] | None, n_rows: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The same for ids that were checked; None: one query."""
    if ids is None:
        return np.zeros(n_rows, dtype=np.int64), np.zeros(1, dtype=np.int64)
    # Rows of a query mostly stand together: only where one begins must its id be looked up.
    new = run_starts(ids)
    query, distinct = number_distinct(ids[new])  # of objects too: they are all strings or all integers
    return query[np.cumsum(new) - 1], distinct


def check_ids(qid: ArrayLike | None, n_rows: int, what: str = "X") -> NDArray[Any] | None:
    """Query ids as an array whose entries can be compared: whole numbers, strings or dates; None stays None."""
    if qid is None:
        return None
    refuse_masked("qid", qid)
    if isinstance(qid, str):
        raise DataError(
            f"qid={qid!r} would name a column of a dataframe, as `fit` and `score` take it: give one id per row."
        )
    q = as_ids(qid)
    if q.ndim != 1 or q.size != n_rows:
        told = f"qid has shape {q.shape}, but {what} has {n_rows} rows"
        if q.ndim == 1 and q.dtype.kind in "iuf" and q.size < n_rows and np.all(q >= 0) and q.sum() == n_rows:
            raise DataError(
                f"{told}: these look like group sizes, which add up to {n_rows}: pass them to fit as group=, or give "
                "one query id per row, np.repeat(np.arange(len(group)), group)."
            )
        raise DataError(f"{told}: give one query id per row.")
    if q.dtype.kind == "f":
        if not np.all(np.isfinite(q)) or np.any(q != np.floor(q)) or np.any(np.abs(q) > 2.0**53):
            raise DataError("qid holds NaN, fractional or huge floating-point numbers: give integers or strings.")
        q = q.astype(np.int64)
    elif q.dtype.kind == "O":
        q = _check_object_ids(q)
    elif q.dtype.kind in "Mm" and np.any(np.isnat(q)):
        raise DataError("qid holds NaT: give every row a query.")
    elif q.dtype.kind not in "biuUSMm":
        raise DataError(f"qid of type {q.dtype} cannot name queries: give integers or strings.")
    return q


def as_ids(qid: ArrayLike) -> NDArray[Any]:
    """Keep a list of mixed types as objects: numpy would turn NaN among strings into the query "nan"."""
    q = np.asarray(qid)
    if isinstance(qid, (list, tuple)) and q.dtype.kind in "USf":
        objects = np.empty(len(qid), dtype=object)
        objects[:] = qid
        return objects if q.dtype.kind in "US" or any(value is None for value in qid) else q
    return q.astype(object) if q.dtype.kind == "T" else q  # numpy's StringDType


def _check_object_ids(q: NDArray[Any]) -> NDArray[Any]:
    """Number ids by their own equality: numpy's fixed-width strings would drop trailing zero bytes."""
    kinds = {type(value) for value in q.tolist()}
    text = all(issubclass(kind, str) for kind in kinds) or all(issubclass(kind, bytes) for kind in kinds)
    whole = all(issubclass(kind, (bool, int, np.integer)) for kind in kinds)
    if text or whole:
        return q
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise DataError(f"qid holds values of type {names}: give integers only, or strings only, and no None.")


def check_query_weight(
    weight: ArrayLike | Mapping[Any, float], query: NDArray[np.int64], ids: NDArray[Any]
) -> FloatArray:
    """Return the weight of each query, from one value per row or a mapping from qid."""
    series: Any = weight
    if hasattr(series, "to_dict") and hasattr(series, "index") and len(series) != query.size:
        weight = series.to_dict()  # a Series that is not by row is by qid
    if isinstance(weight, Mapping):
        names = ids.tolist()
        missing = [name for name in names if name not in weight]
        if missing:
            raise DataError(f"query_weight has no entry for qid {missing[0]!r}: give every query a weight.")
        return check_weights("query_weight", [weight[name] for name in names], ids.size)
    if np.ndim(series) == 1 and np.size(series) == ids.size != query.size:
        raise DataError(
            f"query_weight has {ids.size} values, one a query, but not the queries' names: give a mapping, "
            f"{{{ids[:1].tolist()[0]!r}: weight, ...}}, or one value per row."
        )
    w = check_weights("query_weight", weight, query.size)
    u = np.zeros(ids.size)
    u[query] = w
    if np.any(u[query] != w):
        name = ids[query[np.argmax(u[query] != w)]]
        raise DataError(
            f"query_weight differs within qid {name!r}: it must be constant within a query "
            "(weights of single rows are sample_weight)."
        )
    return u
