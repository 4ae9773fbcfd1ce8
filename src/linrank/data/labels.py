"""Labels that carry their queries: one structured array, which scikit-learn's tools cut and hand on like any y."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError
from .dataset import Dataset
from .queries import as_ids, encode_queries

FIELDS = ("y", "qid", "rows")
#: To users of survival analysis, whose y has an event and a time.
SURVIVAL = (
    "y holds survival times with their events (fields {}): linrank ranks by utilities, and knows no censoring. Where "
    "every event was seen, give the times as y; else give pairs=, (longer, shorter) for each two rows of which the "
    "shorter one's event was seen. (Queries come along with y by linrank.labels(y, qid).)"
)


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
    kinds = sorted(y.dtype[name].kind for name in names)
    if len(names) == 2 and "b" in kinds and set(kinds) <= set("bfiu"):
        raise DataError(SURVIVAL.format(", ".join(names)))
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
