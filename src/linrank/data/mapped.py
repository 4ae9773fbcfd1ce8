"""Arrays that lie in files: read ahead of whoever uses them, and new ones beside them where memory would not do."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: Rows of mapped features that take more than this are put into a file, not into memory.
IN_MEMORY = 64 << 20
PIECE = 1 << 24  # bytes copied at a time


class _Unlocked:
    """The memory of an array, said to be writeable."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        place = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (place, False)}


def unlocked(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory as an array that counts as writeable: kernels compile anew for those that do not.

    For kernels that do not write: to do so would end the process where the memory is a file's.
    """
    return array if array.flags.writeable else np.asarray(_Unlocked(array))


def file_of(array: Any) -> np.memmap[Any, Any] | None:
    """The mapped file that an array is a view of; None: it lies in memory."""
    while array is not None:
        if isinstance(array, np.memmap) and isinstance(getattr(array, "_mmap", None), mmap.mmap):
            inner = array.base
            while isinstance(inner, np.memmap):  # views of a map are maps, too
                array, inner = inner, inner.base
            return array
        array = array.array if isinstance(array, _Unlocked) else getattr(array, "base", None)
    return None


def is_mapped(X: Any) -> bool:
    """Whether features lie in a file."""
    array = X.data if sp.issparse(X) else X
    return isinstance(array, np.ndarray) and file_of(array) is not None


class Ahead:
    """Asks the system to read pieces of a mapped array before they are used; of any other array it asks nothing.

    Pages would come one fault at a time otherwise; ``benchmarks/run.py disk`` compares a pass with ``cat``.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        file = file_of(array) if hasattr(mmap, "MADV_WILLNEED") and array.flags.c_contiguous else None
        self._map = None if file is None else file._mmap  # type: ignore[attr-defined]
        if file is not None:
            place = array.__array_interface__["data"][0] - file.__array_interface__["data"][0]
            self._first = place + file.offset % mmap.ALLOCATIONGRANULARITY
            self._step = array.nbytes // max(1, array.shape[0])

    def ask(self, first: int, last: int) -> None:
        """Rows (or entries) from `first` up to `last` will be used soon."""
        if self._map is None or last <= first:
            return
        start = self._first + first * self._step
        start -= start % mmap.PAGESIZE
        end = min(self._first + last * self._step, len(self._map))
        self._map.madvise(mmap.MADV_WILLNEED, start, end - start)


def empty_beside(array: NDArray[Any], shape: Any, dtype: Any) -> NDArray[Any]:
    """A new array in a file without a name in the folder of a mapped one: it is gone as soon as nobody uses it."""
    file = file_of(array)
    name = None if file is None else file.filename
    folder = None if name is None else os.path.dirname(os.path.realpath(name))
    if folder is None or not os.access(folder, os.W_OK):
        folder = tempfile.gettempdir()
    with tempfile.TemporaryFile(dir=folder) as new:
        made = np.memmap(new, dtype=dtype, mode="w+", shape=shape)
    made.filename = name  # where its own parts go
    return made


def room_beside(array: NDArray[Any], shape: Any, dtype: Any) -> NDArray[Any]:
    """A new array: in memory, or, where an array is mapped and this one is large, in a file beside it."""
    large = int(np.prod(shape)) * np.dtype(dtype).itemsize > IN_MEMORY
    return empty_beside(array, shape, dtype) if large and file_of(array) is not None else np.empty(shape, dtype)


def copied(X: NDArray[Any]) -> NDArray[Any]:
    """A copy that can be written to: beside a mapped array, else in memory."""
    if file_of(X) is None or X.nbytes <= IN_MEMORY:
        return np.array(X, order="C")
    return _filled(empty_beside(X, X.shape, X.dtype), X, np.arange(X.shape[0]))


def rows_of(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of features, in memory; many rows of mapped ones in a file beside them."""
    if sp.issparse(X):
        return _sparse_rows(X, rows)
    if file_of(X) is None or rows.size * X.shape[1] * X.itemsize <= IN_MEMORY:
        return np.take(X, rows, axis=0)
    return _filled(empty_beside(X, (rows.size, X.shape[1]), X.dtype), X, rows)


def _filled(out: NDArray[Any], X: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    step = max(1, PIECE // max(1, X.nbytes // max(1, X.shape[0])))
    for start in range(0, rows.size, step):
        out[start : start + step] = np.take(X, rows[start : start + step], axis=0)
    return out


def _sparse_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of CSR; scipy would bring long indices into another type, all of them."""
    if file_of(X.data) is None:
        return X[rows]
    sizes = (X.indptr[rows + 1] - X.indptr[rows]).astype(np.int64)
    indptr = np.zeros(rows.size + 1, dtype=X.indptr.dtype)
    np.cumsum(sizes, out=indptr[1:])
    nnz, start = int(indptr[-1]), 0
    made = [room_beside(X.data, (nnz,), array.dtype) for array in (X.data, X.indices)]
    breaks = np.flatnonzero(rows[1:] != rows[:-1] + 1) + 1
    for run in np.split(rows, breaks):  # rows mostly come in runs: those of a query
        if run.size:
            here = slice(int(X.indptr[run[0]]), int(X.indptr[run[-1] + 1]))
            there = slice(start, start + here.stop - here.start)
            for out, array in zip(made, (X.data, X.indices), strict=True):
                out[there] = array[here]
            start = there.stop
    return csr(made[0], made[1], indptr, (rows.size, X.shape[1]))


def csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: Any) -> Any:
    """A CSR matrix of these very arrays, sorted and each entry once: scipy's own constructor would copy long ones."""
    X = sp.csr_matrix(tuple(shape), dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def csr_part(X: Any, rows: slice) -> Any:
    """Rows that follow one another, as a view."""
    first, last = int(X.indptr[rows.start]), int(X.indptr[max(rows.start, rows.stop)])
    indptr = X.indptr[rows.start : max(rows.start, rows.stop) + 1] - X.indptr[rows.start]
    part = csr(X.data[first:last], X.indices[first:last], indptr, (indptr.size - 1, X.shape[1]))
    part.has_sorted_indices, part.has_canonical_format = X.has_sorted_indices, X.has_canonical_format
    return part
