"""Labels that carry their queries: one structured array, which scikit-learn's tools cut and hand on like any y."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError
from .dataset import Dataset
from .queries import as_ids, encode_queries

FIELDS = ("y", "qid", "rows")


def labels(y: ArrayLike, qid: ArrayLike) -> NDArray[Any]:
    """Utilities and queries as one array with the fields "y", "qid" and "rows".

    Everything in linrank that takes `y` and `qid` takes this as `y` instead. With it, GridSearchCV, cross_val_score and
    the like give the right number without metadata routing: whatever rows they cut, the queries come along. "rows" is
    the number of rows of the row's query, so that a query that was cut is known by it, and its score is NaN.

    Examples
    --------
    >>> from linrank import labels
    >>> labels([2.0, 0.0, 1.0], ["a", "a", "b"])["y"]
    array([2., 0., 1.])
    """
    values, ids = np.asarray(y), as_ids(qid)
    if values.dtype.names is not None:
        raise DataError("y holds labels already: give plain utilities.")
    if values.ndim != 1 or ids.shape != values.shape:
        raise DataError(f"y has shape {values.shape} and qid {ids.shape}: give one utility and one query id per row.")
    query = encode_queries(qid, values.size)[0]
    both = np.empty(values.size, dtype=[("y", values.dtype), ("qid", ids.dtype), ("rows", np.int64)])
    both["y"], both["qid"], both["rows"] = values, ids, np.bincount(query)[query]
    return both


def are_labels(y: Any) -> bool:
    """Whether y carries its queries; fields of another kind are refused."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None:
        return False
    if set(names) != set(FIELDS):
        raise DataError(f"y has the fields {', '.join(names)}: make it with linrank.labels(y, qid).")
    return True


def split_labels(y: Any, qid: Any) -> tuple[Any, Any]:
    """Utilities and queries of `labels` or a Dataset; anything else comes back as it is.

    Queries given twice must agree.
    """
    if isinstance(y, Dataset):
        own = y.without_features()
        return own.y, own.qid if qid is None else qid
    if not are_labels(y):
        return y, qid
    if qid is not None and not np.array_equal(as_ids(qid), y["qid"]):
        raise DataError("qid contradicts the queries that y carries: give qid only once.")
    return y["y"], y["qid"]
