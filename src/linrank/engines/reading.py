"""How an engine reads X for the members of its blocks: as it is, or, for directions, to fewer digits and faster.

Directions need neither all digits nor every row: sparse entries are read in float32, and rows that are equal entry by
entry, as items rated by many users are, once for all of them. Where rows are short and columns long, entries are read
column by column: the end of each row costs as much as some entries, as no processor guesses it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from ..data.mapped import file_of
from ..kernels import products
from ..kernels.hashing import number_rows
from .matrix import FLOAT32_ENTRIES, Matrix, SparseMatrix, fits_float32

#: Rows looked at before all are: from how many of them are equal follows about how many distinct ones there are.
TRIAL = 4096
#: Equal rows are read once where so many are alike on average.
ALIKE = 4


#: Rows of fewer entries are read by columns, where these have so many in each block.
SHORT, LONG = 20, 16
#: Rows of a block of columns: so many can be told apart by two bytes.
BLOCK_ROWS = 1 << 16


class Multiplied(Protocol):
    """As much of a matrix as products ask for."""

    shape: tuple[int, int]

    @property
    def n_blocks(self) -> int:
        """Number of blocks of rows."""

    def dot(self, w: FloatArray, block: int, out: FloatArray) -> None:
        """out[rows] = X[rows] w."""

    def transpose_dot(self, g: FloatArray, block: int) -> FloatArray:
        """X[rows]^T g[rows]."""


class Reading(NamedTuple):
    """A matrix, and the row of it that each member of each block has."""

    matrix: Multiplied
    rows: list[IntArray]
    shared: bool = False  # whether members of different blocks have the same row


def fast_reading(exact: Reading) -> Reading:
    """For directions: a copy in float32 of the rows, or of the distinct ones; X itself where neither pays."""
    matrix = exact.matrix
    if not isinstance(matrix, Matrix):
        return exact
    if isinstance(matrix, SparseMatrix) and (found := distinct_rows(matrix)) is not None:
        first, number = found
        few = matrix.take(first)
        return Reading(few.in_float32() or few, [number[rows] for rows in exact.rows], True)
    if isinstance(matrix, SparseMatrix) and (columns := ByColumns.of(matrix)) is not None:
        return exact._replace(matrix=columns)
    return exact._replace(matrix=matrix.in_float32() or matrix)


class ByColumns:
    """A sparse matrix in float32, each block of its rows stored by columns."""

    def __init__(self, matrix: SparseMatrix, n_blocks: int) -> None:
        self.shape = matrix.shape
        self._cuts = np.linspace(0, self.shape[0], n_blocks + 1).astype(np.int64)
        self._blocks = [self._stored(matrix, first, last) for first, last in pairwise(self._cuts.tolist())]

    @staticmethod
    def of(matrix: SparseMatrix) -> ByColumns | None:
        """The same matrix by columns; None where that loses more than digits or is no faster."""
        (m, d), entries = matrix.shape, matrix.data.size
        n_blocks = max(-(-m // BLOCK_ROWS), matrix.n_blocks)
        if entries < FLOAT32_ENTRIES or entries >= SHORT * m or entries < LONG * d * n_blocks:
            return None
        if file_of(matrix.data) is not None:  # this copy would be in memory
            return None
        return ByColumns(matrix, n_blocks) if fits_float32(matrix.data) else None

    def _stored(self, matrix: SparseMatrix, first: int, last: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        start, end = int(matrix.indptr[first]), int(matrix.indptr[last])
        indptr = matrix.indptr[first : last + 1] - start
        data = matrix.data[start:end].astype(np.float32)
        X = sp.csr_array((data, matrix.indices[start:end], indptr), shape=(last - first, self.shape[1])).tocsc()
        return X.data, X.indices.astype(np.uint16), X.indptr

    @property
    def n_blocks(self) -> int:
        """Number of blocks of rows."""
        return len(self._blocks)

    def dot(self, w: FloatArray, block: int, out: FloatArray) -> None:
        """out[rows] = X[rows] w: a column after the other is added."""
        here = out[self._cuts[block] : self._cuts[block + 1]]
        here[:] = 0.0
        products.csr_transpose_dot(*self._blocks[block], w, 0, self.shape[1], here)

    def transpose_dot(self, g: FloatArray, block: int) -> FloatArray:
        """X[rows]^T g[rows]."""
        total = np.empty(self.shape[1])
        here = g[self._cuts[block] : self._cuts[block + 1]]
        products.csr_dot(*self._blocks[block], here, 0, self.shape[1], total)
        return total


def distinct_rows(matrix: SparseMatrix) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """First rows of each kind, and the kind of every row; None where few rows are equal.

    Of n rows drawn out of many kinds, D, about n^2 / (2 D) are equal to one before.
    """
    m = matrix.shape[0]
    n = min(TRIAL, m)
    trial = _number(matrix, m // max(n, 1), n, n)
    repeats = 0 if trial is None else n - trial[0].size
    if 2 * repeats < min(n, ALIKE * n * n / max(m, 1)):
        return None
    return _number(matrix, 1, m, m // ALIKE)


def _number(matrix: SparseMatrix, step: int, n: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """The kinds of every step-th row, n of them; None where there are more than `most`."""
    table = np.full(2 << int(max(most, 1)).bit_length(), -1, dtype=np.int32)
    first, number = np.empty(most, dtype=np.int64), np.empty(n, dtype=np.int32)
    bits = matrix.data.view(np.uint64 if matrix.data.itemsize == 8 else np.uint32)
    found = number_rows(bits, matrix.indices, matrix.indptr, step, n, table, first, number)
    return None if found < 0 else (first[:found], number)
