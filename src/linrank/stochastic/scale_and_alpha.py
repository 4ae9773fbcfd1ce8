"""What a descent must know of its rows before it begins: scale and alpha, without ranking them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._errors import ParameterError, overflow_ignored
from .._typing import FloatArray
from ..data.labelled import LabelledRows
from ..defaults import DENSE, choose_alpha, choose_scale
from ..engines import Columns
from ..engines._facts import RowWeights
from ..engines.columns import measure_columns
from ..engines.matrix import as_matrix
from .draws import layout
from .rows import as_rows

#: Of more rows than four times this so many are measured: a deviation is then known to one per cent.
SAMPLE_ROWS = 1 << 14


def columns_of(rows: LabelledRows) -> Columns:
    """The columns, from a sample of the rows where all of them are mostly other than 0; a rare value is not missed."""
    if rows.sample_weight is None and rows.n_rows > 4 * SAMPLE_ROWS and as_rows(rows.X).is_cheap_to_sample:
        chosen = np.linspace(0, rows.n_rows - 1, SAMPLE_ROWS).astype(np.int64)
        columns = measure_columns(as_matrix(as_rows(rows.X).take(chosen).X), None)
        if np.all(columns.share > DENSE):
            return replace(columns, rows=rows.n_rows)
    return measure_columns(as_matrix(rows.X), rows.sample_weight)


def effective_rows(rows: LabelledRows) -> float:
    """How many rows there are to learn from: as `Facts` says, or counted without ranking them where that can be."""
    bare = rows.compared_in_full and rows.sample_weight is None and not rows.weighs_queries
    starts = layout(rows)[1] if bare and "ranked" not in rows.__dict__ else None
    if starts is None:
        return RowWeights.of(rows.ranked).effective
    y, first = rows.values, starts[:-1]
    assert y is not None
    several = np.maximum.reduceat(y, first) > np.minimum.reduceat(y, first)
    n = int(np.diff(starts)[several].sum())
    return float(n) if n else RowWeights.of(rows.ranked).effective  # which says that there is no pair


def given_scale(scale: Any, n_features: int) -> FloatArray | None:
    """The numbers to divide by, if they were given."""
    if isinstance(scale, (bool, np.bool_, str)):
        return None
    numbers = np.array(scale, dtype=np.float64)
    if numbers.shape != (n_features,):
        raise ParameterError(f"scale has shape {numbers.shape}, but X has {n_features} features: give one for each.")
    return numbers


def choose(scale: Any, alpha: Any, loss: str, rows: LabelledRows) -> tuple[FloatArray | None, float, Columns | None]:
    """What columns are divided by, alpha, and what was measured for them."""
    numbers = given_scale(scale, rows.n_features)
    estimates = numbers is None and bool(scale)
    if not estimates and not isinstance(alpha, str):
        return numbers, float(alpha), None
    with overflow_ignored():
        columns = columns_of(rows)
        if numbers is None:
            numbers = choose_scale(scale, columns)
        n_rows = effective_rows(rows) if isinstance(alpha, str) else 1.0
        return numbers, choose_alpha(alpha, loss, columns, numbers, n_rows), columns
