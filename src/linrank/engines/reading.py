"""How an engine reads X for the members of its blocks: as it is, or, for directions, to fewer digits and faster.

Directions need neither all digits nor every row: sparse entries are read in float32, and rows that are equal entry by
entry, as items rated by many users are, once for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import IntArray
from ..kernels.hashing import number_rows
from .matrix import Matrix, SparseMatrix

#: Rows looked at before all are: from how many of them are equal follows about how many distinct ones there are.
TRIAL = 4096
#: Equal rows are read once where so many are alike on average.
ALIKE = 4


class Reading(NamedTuple):
    """A matrix, and the row of it that each member of each block has."""

    matrix: Matrix
    rows: list[IntArray]
    shared: bool = False  # whether members of different blocks have the same row


def fast_reading(exact: Reading) -> Reading:
    """For directions: a copy in float32 of the rows, or of the distinct ones; X itself where neither pays."""
    matrix = exact.matrix
    if isinstance(matrix, SparseMatrix) and (found := distinct_rows(matrix)) is not None:
        first, number = found
        few = matrix.take(first)
        return Reading(few.in_float32() or few, [number[rows] for rows in exact.rows], True)
    return exact._replace(matrix=matrix.in_float32() or matrix)


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
