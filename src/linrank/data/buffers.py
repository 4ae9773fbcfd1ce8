"""Numbers out of pyarrow's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers_of(column: Any, dtype: Any) -> NDArray[Any]:
    """A column of floats, NaN where it is null, or of integers without null; `dtype` is numpy's name of its type.

    Read from its buffers: pyarrow's own `to_numpy` imports pandas where that is installed, which takes half a second.
    """
    if not len(column):
        return np.empty(0, dtype=dtype)
    array = column.combine_chunks() if hasattr(column, "chunks") else column
    validity, data = array.buffers()
    part = slice(array.offset, array.offset + len(array))
    values = np.array(np.frombuffer(data, dtype=dtype)[part])
    if array.null_count:
        known = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")[part]
        values[known == 0] = np.nan
    return values


def is_arrow(column: Any) -> bool:
    """Whether this is a column of pyarrow."""
    return type(column).__module__.partition(".")[0] == "pyarrow"
