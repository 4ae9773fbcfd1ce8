"""X on disk: a dense array, or the three arrays of CSR, whichever takes less room; that is known once all is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError
from ..data.mapped import csr
from ._npy import GrowingNpy, mapped

PIECE_ENTRIES = 1 << 21  # of X at a time, where it is written again


class FeatureFiles:
    """Takes blocks of rows; the first block says which layout is likely, and in the end it is mended if need be."""

    def __init__(self, folder: Path, dense: Any, dtype: np.dtype[Any], n_features: int | None) -> None:
        self._folder, self._dense, self._dtype = folder, dense, dtype
        self._width = 0 if n_features is None else n_features
        self._fixed = n_features is not None
        self._rows = self._stored = 0
        self._table = False
        self._file: _Dense | _Sparse | None = None

    def add(self, X: Any) -> None:
        """The next rows."""
        self._table = not sp.issparse(X)
        self._width = X.shape[1] if self._table else max(self._width, X.shape[1])
        self._rows += X.shape[0]
        self._stored += X.size
        if self._file is None:
            kind = _Dense if self._wants_dense() else _Sparse
            self._file = kind(self._folder, self._dtype, self._width)
        self._file.add(X, self._width)

    def _wants_dense(self) -> bool:
        if self._table or self._dense is True:
            return True
        entry = self._dtype.itemsize
        dense = self._rows * self._width * entry
        return self._dense == "auto" and dense <= self._stored * (entry + 4) + 8 * self._rows

    def close(self) -> dict[str, Any]:
        """What is there."""
        if self._file is None or self._width == 0:
            raise DataError("No row has a feature: there is nothing to learn from.")
        self._file.close()
        if self._wants_dense() != isinstance(self._file, _Dense):
            self._file = self._file.turned(self._width)
        return {"layout": self._file.layout, "shape": [self._rows, self._width], "dtype": self._dtype.name}

    def abandon(self) -> None:
        """Close all files, which will not be used."""
        if self._file is not None:
            self._file.abandon()


class _Dense:
    layout = "dense"

    def __init__(self, folder: Path, dtype: np.dtype[Any], width: int) -> None:
        self._folder, self._dtype = folder, dtype
        self._X = GrowingNpy(folder / "X.npy", dtype, width)

    def add(self, X: Any, width: int) -> None:
        if width > (self._X.width or 0):
            self._widen(width)
        if not sp.issparse(X):
            self._X.append(X)
            return
        step = max(1, PIECE_ENTRIES // width)
        for start in range(0, X.shape[0], step):
            rows = np.zeros((min(step, X.shape[0] - start), width), dtype=self._dtype)
            part = X[start : start + step]
            rows[:, : X.shape[1]] = part.toarray()
            self._X.append(rows)

    def _widen(self, width: int) -> None:
        """A later row has a feature that none before had: all is written again."""
        self._X.close()
        narrow = self._X.path.rename(self._folder / "narrow.npy")
        self._X = GrowingNpy(self._folder / "X.npy", self._dtype, width)
        for part in _pieces(mapped(narrow)):
            rows = np.zeros((part.shape[0], width), dtype=self._dtype)
            rows[:, : part.shape[1]] = part
            self._X.append(rows)
        narrow.unlink()

    def close(self) -> None:
        self._X.close()

    def turned(self, width: int) -> _Sparse:
        """As CSR; zeros are not kept."""
        sparse = _Sparse(self._folder, self._dtype, width)
        for part in _pieces(mapped(self._X.path)):
            sparse.add(sp.csr_matrix(part), width)
        sparse.close()
        self._X.path.unlink()
        return sparse

    def abandon(self) -> None:
        self._X.abandon()


class _Sparse:
    layout = "csr"

    def __init__(self, folder: Path, dtype: np.dtype[Any], width: int) -> None:
        self._folder, self._dtype = folder, dtype
        self._data = GrowingNpy(folder / "data.npy", dtype)
        self._indices = GrowingNpy(folder / "indices.npy", np.int32)
        self._indptr = GrowingNpy(folder / "indptr.npy", np.int64)
        self._indptr.append(np.zeros(1, dtype=np.int64))

    def add(self, X: Any, width: int) -> None:
        before = self._data.rows
        self._data.append(X.data)
        self._indices.append(X.indices)
        self._indptr.append(X.indptr[1:].astype(np.int64) + before)

    def close(self) -> None:
        for file in (self._data, self._indices, self._indptr):
            file.close()
        if self._data.rows < 2**31:  # as short as the indices: scipy would make it so in memory
            long = self._indptr.path.rename(self._folder / "long.npy")
            self._indptr = GrowingNpy(self._folder / "indptr.npy", np.int32)
            for part in _pieces(mapped(long)):
                self._indptr.append(part.astype(np.int32))
            self._indptr.close()
            long.unlink()

    def turned(self, width: int) -> _Dense:
        """As a dense array."""
        dense, parts = _Dense(self._folder, self._dtype, width), (self._data, self._indices, self._indptr)
        data, indices, indptr = (mapped(file.path) for file in parts)
        step = max(1, PIECE_ENTRIES // width)
        for start in range(0, indptr.size - 1, step):
            ends = np.array(indptr[start : start + step + 1])
            entries = slice(ends[0], ends[-1])
            dense.add(csr(data[entries], indices[entries], ends - ends[0], (ends.size - 1, width)), width)
        dense.close()
        for file in parts:
            file.path.unlink()
        return dense

    def abandon(self) -> None:
        for file in (self._data, self._indices, self._indptr):
            file.abandon()


def _pieces(array: NDArray[Any]) -> Any:
    step = max(1, PIECE_ENTRIES // (array.shape[1] if array.ndim > 1 else 1))
    return (array[start : start + step] for start in range(0, array.shape[0], step))


def open_features(folder: Path, known: dict[str, Any]) -> Any:
    """X, mapped."""
    if known["layout"] == "dense":
        return mapped(folder / "X.npy")
    data, indices, indptr = (mapped(folder / f"{name}.npy") for name in ("data", "indices", "indptr"))
    return csr(data, indices, indptr, known["shape"])
