"""What is known of the columns of a matrix, in two passes over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ._facts import Columns, without_rounding
from .matrix import Matrix

#: Applies a function to the numbers of all blocks.
Over = Callable[[Callable[[int], Any]], list[Any]]


def measure_columns(matrix: Matrix, v: FloatArray | None, over: Over | None = None) -> Columns:
    """Mean, deviation and non-zeros of each column, rows counting by their weight."""
    over = over or (lambda function: [function(block) for block in range(matrix.n_blocks)])
    n_rows = matrix.shape[0]
    weight = float(n_rows) if v is None else float(v.sum())
    if v is None or not weight > 0:  # explicit pairs may stand on rows without weight
        v = np.ones(n_rows)
    share = v / float(v.sum())
    largest = _together(np.maximum, over(matrix.largest))
    # A power of 2 near the largest: squares of numbers up to 2 neither over- nor underflow, and division is exact.
    unit = np.ldexp(1.0, np.clip(np.frexp(largest)[1] - 1, -1000, 1000))
    parts = over(lambda block: matrix.transpose_dot(share, block))
    mean = parts[0]
    for part in parts[1:]:
        mean = mean + part
    squares = over(lambda block: matrix.squared_deviations(share, mean, unit, block))
    deviation = unit * np.sqrt(_together(np.add, squares))
    nonzero = _together(np.add, over(lambda block: matrix.nonzeros(v, block)))
    return Columns(n_rows, weight, mean, without_rounding(deviation, mean, n_rows), nonzero)


def _together(ufunc: np.ufunc, parts: list[Any]) -> FloatArray:
    """What blocks of rows say of each column; of a single one, itself."""
    together: FloatArray = parts[0] if len(parts) == 1 else ufunc.reduce(parts, axis=0)
    return together
