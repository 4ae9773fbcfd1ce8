"""What is known of the columns of a matrix, in two passes over it; in one where most of what it holds is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ._facts import Columns, without_rounding
from .matrix import Matrix

#: Sizes between which squares neither over- nor underflow.
SMALLEST, LARGEST = 1e-100, 1e100
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
    largest, nonzero, mean, square = _joined(over(lambda block: matrix.first_look(v, share, block)))
    deviation = _from_squares(largest, mean, square)
    if deviation is None:
        # A power of 2 near the largest: squares of numbers up to 2 neither over- nor underflow, and division is exact.
        unit = np.ldexp(1.0, np.clip(np.frexp(largest)[1] - 1, -1000, 1000))
        squares = over(lambda block: matrix.squared_deviations(share, mean, unit, block))
        deviation = unit * np.sqrt(squares[0] if len(squares) == 1 else np.sum(squares, axis=0))
    return Columns(n_rows, weight, mean, without_rounding(deviation, mean, n_rows), nonzero)


def _joined(tables: list[FloatArray]) -> FloatArray:
    """What all blocks tell, added up in their order: a row for each of the four numbers."""
    total = tables[0]
    for table in tables[1:]:
        largest = np.maximum(total[:, 0], table[:, 0])
        total += table
        total[:, 0] = largest
    return np.ascontiguousarray(total.T)


def _from_squares(largest: FloatArray, mean: FloatArray, square: FloatArray) -> FloatArray | None:
    """Deviations from mean squares; None where these are not told, or two digits or more would be lost."""
    if square.size and np.isnan(square[0]):
        return None
    if not np.all((largest <= LARGEST) & ((largest >= SMALLEST) | (largest == 0.0))):
        return None
    variance: FloatArray = square - np.square(mean)
    return np.sqrt(variance) if np.all(64.0 * variance >= square) else None
