"""Checks of what users give, one by one: each returns what it checked, or says in a sentence what is wrong."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..kernels.products import csr_is_sound, has_duplicates
from .collections import refuse_collection
from .dataset import Dataset
from .device import as_array, check_far, is_far
from .frames import WideRows, check_frame, describe_missing, is_frame, plain_values
from .mapped import unlocked


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a parameter value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name}={value!r} is not known: choose one of {', '.join(map(repr, choices))}.")


@dataclass(frozen=True)
class Missing:
    """Stands for somebody's own loss, solver, rule or sampler, of which a model file holds no more than the name."""

    what: str  # the parameter that it stands in for
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
    """Return X as float32 or float64, dense or CSR, without a copy where it is so already; on a device, as a tensor."""
    if _is_plain(X):
        return _in_one_piece(X)
    if is_far(X):
        return check_far(X, allow_nan=allow_nan)
    refuse_collection(X, "This", "it is LinearRanker that trains and predicts on a cluster; give X.compute() here")
    if isinstance(X, Dataset):
        raise DataError("This takes features alone, not a Dataset: give data.X, and data.y and data.qid beside it.")
    X = _as_array(as_array(X), allow_nan)
    X = X if sp.issparse(X) else _in_one_piece(X)
    if X.shape[0] >= 2**31:
        raise DataError(f"X has {X.shape[0]} rows; at most 2**31 - 1 can be used: train on a sample of them.")
    if sp.issparse(X) and not csr_is_sound(unlocked(X.data), unlocked(X.indices), unlocked(X.indptr), X.shape[1]):
        raise DataError("X is a damaged CSR matrix: indptr must rise from 0 within the data, indices name its columns.")
    if sp.issparse(X) and not X.has_sorted_indices:
        marker = np.full(X.shape[1], -1, dtype=np.int64)
        if has_duplicates(unlocked(X.indices), unlocked(X.indptr), marker):
            X = X.copy()
            X.sum_duplicates()
    elif sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _in_one_piece(X: Any) -> Any:
    """An array in C or F order: every product would copy any other."""
    return X if X.flags.c_contiguous or X.flags.f_contiguous else np.ascontiguousarray(X)


def _is_plain(X: Any) -> bool:
    """Whether X is an array that every check would let pass: these cost more than the fit of a few rows."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in (np.float64, np.float32):
        return False
    if not 0 < X.shape[0] < 2**31 or X.shape[1] == 0:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(X.sum())  # where it overflows, scikit-learn looks at each entry


def _as_array(X: Any, allow_nan: bool) -> Any:
    """X as scikit-learn takes it; what it refuses is explained."""
    from sklearn.utils import check_array  # not at the top: reading a file needs no scikit-learn

    given = check_frame(X)
    values = plain_values(given)
    if values is not None and _is_plain(values):
        return values
    X = given.values if isinstance(given, WideRows) else given
    finite = "allow-nan" if allow_nan else True
    try:
        return check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=finite, estimator="linrank"
        )
    except (ValueError, OverflowError) as error:
        raise DataError(_explained(given, error)) from None
    except TypeError as error:
        if not is_frame(given):
            raise
        raise DataError(_explained(given, error)) from None


def _explained(X: Any, error: Exception) -> str:
    """Why X cannot be used, and where it first cannot: scikit-learn's own words where these are all there is to say."""
    found = describe_missing(X) if is_frame(X) or isinstance(X, WideRows) else None
    if found is not None:
        return found
    first = str(error).partition("\n")[0]
    if "contains NaN" not in first:
        return str(error)
    if sp.issparse(X):
        entry = int(np.flatnonzero(np.isnan(X.data))[0])
        column = int(X.indices[entry]) if X.format == "csr" else None
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1 if X.format == "csr" else None
    else:
        row, column = (int(k) for k in np.argwhere(np.isnan(np.asarray(X, dtype=np.float64)))[0])
    where = "" if row is None else f" Its first is X[{row}, {column}]."
    return f"{first}{where} missing='zero' or 'mean' replaces it, where a ranker is fitted so."


def check_utilities(y: ArrayLike, n_rows: int, what: str = "X") -> FloatArray:
    """Return y as finite float64 values, one per row."""
    refuse_masked("y", y)
    if np.asarray(y).dtype.kind in "cMm":
        raise DataError(f"y holds {np.asarray(y).dtype} values: give real numbers (of dates, the days since some day).")
    try:
        given = _as_column(y)
        values = given.astype(np.float64, copy=given.flags.writeable)  # what cannot change is taken as it is
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"y must hold one real number per row: {error}.") from None
    if values.size != n_rows:
        raise DataError(f"y has {values.size} values, but {what} has {n_rows} rows: give one utility per row.")
    if not np.all(np.isfinite(values)):
        raise DataError("y contains NaN or infinity: drop those rows or give them a utility.")
    return values


def _as_column(y: Any) -> NDArray[Any]:
    """Y as an array of one dimension, as scikit-learn makes it of whatever is not so already."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iuf":
        return y
    from sklearn.utils import column_or_1d  # not at the top: reading a file needs no scikit-learn

    return np.asarray(column_or_1d(y, warn=True))


def refuse_masked(name: str, values: Any) -> None:
    """Refuse an array that hides entries."""
    if type(values) is not np.ndarray and np.ma.is_masked(values):
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
