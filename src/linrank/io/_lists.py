"""Columns of lists, embeddings, say: as many columns of numbers."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from .._errors import DataError, LinrankError
from .._typing import FloatArray


def width_of(series: Any) -> int:
    """The length of the first list in a column, 0 if it is no column of lists."""
    kind = series.dtype
    if not (isinstance(kind, (nw.List, nw.Array)) or kind == nw.Object):
        return 0
    if isinstance(kind, nw.Array):
        return int(kind.shape[0]) if len(kind.shape) == 1 else 0
    first = next((value for value in series.head(1000).to_list() if value is not None), None)
    return len(first) if isinstance(first, (list, tuple, np.ndarray)) and np.ndim(first) == 1 else 0


def spread(series: Any, width: int) -> FloatArray:
    """A column of lists as a matrix; a list that is missing is a row of NaN, one of another length an error."""
    try:
        import pyarrow
        import pyarrow.compute as compute
    except ImportError:
        raise LinrankError("Columns of lists need an extra package: pip install 'linrank[parquet]'.") from None
    try:
        column = series.to_arrow()
        column = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
        lengths = np.asarray(compute.list_value_length(column).fill_null(width))
        if (lengths != width).any():
            row = int(np.flatnonzero(lengths != width)[0])
            raise DataError(
                f"Column {series.name!r} holds lists of {width} numbers, but one of {lengths[row]} in row {row + 1} of "
                "these: make them equally long."
            )
        flat = compute.cast(compute.list_flatten(column), pyarrow.float64())
    except (pyarrow.ArrowException, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"Column {series.name!r} holds lists of something else than numbers ({reason}).") from None
    matrix = np.full((len(column), width), np.nan)
    matrix[np.asarray(compute.is_valid(column))] = flat.to_numpy(zero_copy_only=False).reshape(-1, width)
    return matrix
