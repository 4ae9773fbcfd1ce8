"""Missing values: NaN in X is an error, a zero, or the column's mean; the one place that says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray
from .checks import check_choice, check_features
from .device import fill_far, is_far
from .mapped import copied, csr, is_mapped

MISSING = ("error", "zero", "mean")
PIECE_ENTRIES = 1 << 20  # of X in a piece: no second matrix in memory


def learn_missing(X: Any, policy: str) -> tuple[Any, FloatArray | None]:
    """X checked and without NaN, and what NaN is replaced by in each column; None and an error with "error".

    The mean is that of the column's other values, the zeros of a sparse X included and rows counting the same; that of
    a column without any value is 0.
    """
    check_choice("missing", policy, MISSING)
    if policy == "error":
        return X, None
    if is_far(X):
        return fill_far(X, policy == "mean")
    X = check_features(X, allow_nan=True)
    fill = _means(X) if policy == "mean" else np.zeros(X.shape[1])
    return fill_missing(X, fill), fill


def fill_missing(X: Any, fill: FloatArray | None) -> Any:
    """X checked, NaN replaced by its column's entry of `fill`, in a copy if there is any; None: NaN is an error."""
    X = check_features(X, allow_nan=fill is not None)
    if fill is None or X.shape[1] != fill.size:  # the caller will say that the number of features is wrong
        return X
    return replace_missing(X, fill)


def replace_missing(X: Any, fill: FloatArray) -> Any:
    """`fill_missing` of X that was checked before, NaN allowed."""
    if sp.issparse(X):
        nan = np.flatnonzero(np.isnan(X.data))
        if nan.size:
            X = csr(copied(X.data), X.indices, X.indptr, X.shape) if is_mapped(X) else X.copy()
            X.data[nan] = fill[X.indices[nan]]
        return X
    original = X
    for start, piece in pieces(original):
        row, column = np.nonzero(np.isnan(piece))
        if row.size:
            X = copied(original) if X is original else X
            X[start + row, column] = fill[column]
    return X


def _means(X: Any) -> FloatArray:
    n_rows, n_features = X.shape
    if sp.issparse(X):
        known = ~np.isnan(X.data)
        count = n_rows - np.bincount(X.indices[~known], minlength=n_features)
        share = X.data[known] / np.maximum(count, 1)[X.indices[known]]  # divided first: the sum cannot overflow
        return np.bincount(X.indices[known], share, minlength=n_features).astype(np.float64)
    count = n_rows - sum(np.isnan(piece).sum(axis=0) for _, piece in pieces(X))
    mean = np.zeros(n_features)
    for _, piece in pieces(X):
        mean += np.nansum(piece / np.maximum(count, 1), axis=0, dtype=np.float64)
    return mean


def pieces(X: Any) -> Iterator[tuple[int, Any]]:
    """X in pieces of rows, each with the number of its first row."""
    step = max(1, PIECE_ENTRIES // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        yield start, X[start : start + step]
