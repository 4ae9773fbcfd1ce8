"""Labels that carry their queries: one structured array, which scikit-learn's tools cut and hand on like any y."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import DataError

FIELDS = ("y", "qid")


def labels(y: ArrayLike, qid: ArrayLike) -> NDArray[Any]:
    """Utilities and queries as one array with the fields "y" and "qid".

    Everything in linrank that takes `y` and `qid` takes this as `y` instead. With it, GridSearchCV, cross_val_score and
    the like give the right number without metadata routing: whatever rows they cut, the queries come along.

    Examples
    --------
    >>> from linrank import labels
    >>> labels([2.0, 0.0, 1.0], ["a", "a", "b"])["y"]
    array([2., 0., 1.])
    """
    values, ids = np.asarray(y), _ids(qid)
    if values.dtype.names is not None:
        raise DataError("y holds labels already: give plain utilities.")
    if values.ndim != 1 or ids.shape != values.shape:
        raise DataError(f"y has shape {values.shape} and qid {ids.shape}: give one utility and one query id per row.")
    both = np.empty(values.size, dtype=[("y", values.dtype), ("qid", ids.dtype)])
    both["y"], both["qid"] = values, ids
    return both


def split_labels(y: Any, qid: Any) -> tuple[Any, Any]:
    """Utilities and queries of `labels`; anything else comes back as it is. Queries given twice must agree."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None:
        return y, qid
    if set(names) != set(FIELDS):
        raise DataError(f"y has the fields {', '.join(names)}: make it with linrank.labels(y, qid).")
    if qid is not None and not np.array_equal(_ids(qid), y["qid"]):
        raise DataError("qid contradicts the queries that y carries: give qid only once.")
    return y["y"], y["qid"]


def _ids(qid: ArrayLike) -> NDArray[Any]:
    """Query ids as an array; a list of text stays one of objects, or NaN among it would become the query "nan"."""
    ids = np.asarray(qid)
    if isinstance(qid, (list, tuple)) and ids.dtype.kind in "US":
        objects = np.empty(len(qid), dtype=object)
        objects[:] = qid
        return objects
    return ids
