"""Features brought to a common scale within each query."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import FloatArray
from .ordering import group_rows, run_starts

METHODS = ("minmax", "standard")


class QueryScale(NamedTuple):
    """What is subtracted from and what divides each feature of each query, (Q, d)."""

    shift: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: Any, query: NDArray[np.int64], n_queries: int, method: str) -> QueryScale:
        """As found in X: minimum and range, or mean and standard deviation."""
        return (_measure_sparse if sp.issparse(X) else _measure_dense)(X, query, n_queries, method)

    def applied(self, X: Any, query: NDArray[np.int64]) -> Any:
        """X, scaled, in its own type."""
        if sp.issparse(X):
            X = X.copy()
            rows = np.repeat(query, np.diff(X.indptr))
            X.data = ((X.data - self.shift[rows, X.indices]) / self.scale[rows, X.indices]).astype(X.dtype)
            return X
        if self.shift.shape[0] == 1:
            return ((X - self.shift[0]) / self.scale[0]).astype(X.dtype, copy=False)
        out = X - self.shift[query]
        out /= self.scale[query]
        return out.astype(X.dtype, copy=False)


def _measure_dense(X: Any, query: NDArray[np.int64], n_queries: int, method: str) -> QueryScale:
    row, ptr = group_rows(query, n_queries)
    rows = X if row is None else X[row]
    start = ptr[:-1]
    low, high = np.minimum.reduceat(rows, start), np.maximum.reduceat(rows, start)
    low, high = low.astype(np.float64), high.astype(np.float64)
    if method == "minmax":
        return QueryScale(low, _not_zero(high - low, high > low))
    n, which = np.diff(ptr)[:, None], np.repeat(np.arange(n_queries), np.diff(ptr))
    mean = low + np.add.reduceat(rows - low[which], start) / n  # from the minimum: a constant is its own mean, exactly
    square = np.add.reduceat((rows - mean[which]) ** 2, start) / n
    return QueryScale(mean, _not_zero(np.sqrt(square), high > low))


def _measure_sparse(X: Any, query: NDArray[np.int64], n_queries: int, method: str) -> QueryScale:
    """The same, from the stored entries and the number of the others. O(entries log entries + queries * features)."""
    d = X.shape[1]
    cell = np.repeat(query, np.diff(X.indptr)) * d + X.indices
    order = np.argsort(cell, kind="stable")
    values, cells = X.data[order].astype(np.float64), cell[order]
    start = np.flatnonzero(run_starts(cells))
    where, stored = cells[start], np.diff(np.r_[start, cells.size])
    low, high, mean, square = np.zeros((4, n_queries * d))
    n = np.bincount(query, minlength=n_queries)[where // d]
    if where.size:
        filled = stored == n
        low[where] = np.minimum(np.minimum.reduceat(values, start), np.where(filled, np.inf, 0.0))
        high[where] = np.maximum(np.maximum.reduceat(values, start), np.where(filled, -np.inf, 0.0))
        mean[where] = np.add.reduceat(values, start) / n
        deviation = np.add.reduceat((values - np.repeat(mean[where], stored)) ** 2, start)
        square[where] = (deviation + (n - stored) * mean[where] ** 2) / n
    shift, scale = (low, high - low) if method == "minmax" else (mean, np.sqrt(square))
    return QueryScale(shift.reshape(n_queries, d), _not_zero(scale, high > low).reshape(n_queries, d))


def _not_zero(scale: FloatArray, varies: NDArray[np.bool_]) -> FloatArray:
    """The scale, 1 where a feature is constant (or varies by less than floats can divide by)."""
    return np.where(varies & (scale > 0), scale, 1.0)
