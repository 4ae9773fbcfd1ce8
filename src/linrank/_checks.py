"""Checks of what users give, one by one: each returns what it checked, or says in a sentence what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ._errors import DataError, ParameterError
from ._preferences import FloatArray
from .kernels.ordering import begins
from .kernels.products import csr_is_sound, has_duplicates


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a parameter value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name}={value!r} is not known: choose one of {', '.join(map(repr, choices))}.")


@dataclass(frozen=True)
class Missing:
    """Stands for somebody's own loss or solver, of which a model file holds no more than the name."""

    what: str  # "loss" or "solver", the parameter that it stands in for
    name: str
    origin: str  # module and class

    def __repr__(self) -> str:
        return f"<{self.what} {self.name!r} ({self.origin}), not in the model file>"

    @property
    def cure(self) -> str:
        """What is missing, and how to go on."""
        cure = f"set {self.what}= to fit again" + (" or to predict pairs" if self.what == "loss" else "")
        return f"The {self.what} {self.name!r} ({self.origin}) is not part of linrank: {cure}."


def check_own(what: str, given: Any, choices: tuple[str, ...], members: tuple[str, ...]) -> None:
    """Refuse a loss or a solver that is neither one of the choices nor an object with these members."""
    if isinstance(given, Missing):
        raise ParameterError(given.cure)
    if isinstance(given, type):
        raise ParameterError(f"{what}={given.__name__} is a class: give an instance, {given.__name__}().")
    if given is None or isinstance(given, (str, bool, int, float)):
        check_choice(what, given, choices)
        return
    lacking = [member for member in members if not hasattr(given, member)]
    if lacking:
        raise ParameterError(
            f"{what}={given!r} has no {lacking[0]!r}: choose one of {', '.join(map(repr, choices))}, or give an object "
            f"with {', '.join(members)}; docs/extending.md shows one."
        )


def check_number(name: str, value: Any, above: float) -> None:
    """Refuse a parameter that is not a finite number above `above`."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not above < value <= sys.float_info.max:
        raise ParameterError(f"{name}={value!r} must be a finite number above {above:g}.")


def check_features(X: Any, *, allow_nan: bool = False) -> Any:
    """Return X as float32 or float64, dense or CSR, without a copy where it is so already."""
    from sklearn.utils import check_array  # not at the top: reading a file needs no scikit-learn

    finite = "allow-nan" if allow_nan else True
    try:
        X = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=finite, estimator="linrank"
        )
    except (ValueError, OverflowError) as error:
        raise DataError(str(error)) from None
    if not sp.issparse(X) and not (X.flags.c_contiguous or X.flags.f_contiguous):
        X = np.ascontiguousarray(X)  # every product would copy it otherwise
    if X.shape[0] >= 2**31:
        raise DataError(f"X has {X.shape[0]} rows; at most 2**31 - 1 can be used: train on a sample of them.")
    if sp.issparse(X) and not csr_is_sound(X.data, X.indices, X.indptr, X.shape[1]):
        raise DataError("X is a damaged CSR matrix: indptr must rise from 0 within the data, indices name its columns.")
    if sp.issparse(X) and not X.has_sorted_indices:
        marker = np.full(X.shape[1], -1, dtype=np.int64)
        if has_duplicates(X.indices, X.indptr, marker):
            X = X.copy()
            X.sum_duplicates()
    elif sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def encode_queries(qid: ArrayLike | None, n_rows: int, what: str = "X") -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the number of each row's query, and the query ids in the order of those numbers, which is sorted."""
    if qid is None:
        return np.zeros(n_rows, dtype=np.int64), np.zeros(1, dtype=np.int64)
    _refuse_masked("qid", qid)
    q = as_ids(qid)
    if q.ndim != 1 or q.size != n_rows:
        raise DataError(f"qid has shape {q.shape}, but {what} has {n_rows} rows: give one query id per row.")
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
    # Rows of a query mostly stand together: only where one begins must its id be sorted.
    new = begins(q)
    ids, query = np.unique(q[new], return_inverse=True)  # of objects too: they are all strings or all integers
    return query.astype(np.int64, copy=False)[np.cumsum(new) - 1], ids


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


def check_utilities(y: ArrayLike, n_rows: int, what: str = "X") -> FloatArray:
    """Return y as finite float64 values, one per row."""
    from sklearn.utils import column_or_1d

    _refuse_masked("y", y)
    if np.asarray(y).dtype.kind in "cMm":
        raise DataError(f"y holds {np.asarray(y).dtype} values: give real numbers (of dates, the days since some day).")
    try:
        values = np.asarray(column_or_1d(y, warn=True)).astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"y must hold one real number per row: {error}.") from None
    if values.size != n_rows:
        raise DataError(f"y has {values.size} values, but {what} has {n_rows} rows: give one utility per row.")
    if not np.all(np.isfinite(values)):
        raise DataError("y contains NaN or infinity: drop those rows or give them a utility.")
    return values


def _refuse_masked(name: str, values: Any) -> None:
    if np.ma.is_masked(values):
        raise DataError(f"{name} has masked entries: fill them in or drop their rows.")


def check_weights(name: str, weights: ArrayLike, size: int) -> FloatArray:
    """Return finite weights >= 0 as float64; one number stands for `size` of them."""
    try:
        w = np.array(weights, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{name} must hold numbers: {error}.") from None
    if w.ndim == 0:
        w = np.full(size, float(w))
    if w.shape != (size,):
        raise DataError(f"{name} has shape {w.shape}, but {size} values are needed: give one per row.")
    if not np.all(np.isfinite(w)) or np.any(w < 0):
        raise DataError(f"{name} contains negative numbers, NaN or infinity: weights must be finite and >= 0.")
    return w


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
