"""Entries of rows into a dense matrix."""

from __future__ import annotations

from typing import Any

from .._jit import uncounted


@uncounted
def scatter(column: Any, value: Any, end: Any, out: Any) -> None:
    """Put the entries of each row, up to `end`, into its row of the matrix; all else stays as it is. O(entries)."""
    k = 0
    for row in range(end.size):
        while k < end[row]:
            out[row, column[k]] = value[k]
            k += 1
