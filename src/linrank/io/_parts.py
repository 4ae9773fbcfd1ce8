"""Parsed rows put together and taken apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._lines import Parsed

GROWTH = 1.125  # large arrays are grown where they lie: the factor costs little time, and memory only until the end


class _Growing:
    """An array that grows at its end, without a second copy of it in memory."""

    def __init__(self, dtype: Any) -> None:
        self._array, self._size = np.empty(0, dtype=dtype), 0

    def append(self, part: NDArray[Any]) -> None:
        """Add at the end."""
        end = self._size + part.size
        if end > self._array.size:
            self._array.resize(max(end, int(GROWTH * self._array.size)), refcheck=False)
        self._array[self._size : end] = part
        self._size = end

    def done(self) -> NDArray[Any]:
        """The array, without what was left free at its end."""
        self._array.resize(self._size, refcheck=False)
        return self._array


def grown(parts: Iterable[Parsed], dtype: np.dtype[Any]) -> Parsed:
    """All rows of the parts, the values in the type wanted; memory is that of the result and of one part."""
    types = {"y": float, "weight": float, "comment": np.uint8, "comment_ends": np.int64, "ends": np.int64}
    arrays = {name: _Growing(kind) for name, kind in {**types, "column": np.int32, "value": dtype}.items()}
    qids: list[NDArray[Any]] = []
    weighted = False
    for part in parts:
        rows_before, comment_before, entries_before = (arrays[name]._size for name in ("y", "comment", "column"))
        if part.weight is not None and not weighted:
            arrays["weight"].append(np.ones(rows_before))
            weighted = True
        if weighted:
            arrays["weight"].append(np.ones(part.y.size) if part.weight is None else part.weight)
        if part.qid is not None:
            qids.append(part.qid)
        for name in ("y", "comment", "column", "value"):
            arrays[name].append(getattr(part, name))
        arrays["comment_ends"].append(part.comment_ends + comment_before)
        arrays["ends"].append(part.ends + entries_before)
    done: dict[str, Any] = {name: array.done() for name, array in arrays.items()}
    return Parsed(**{**done, "qid": _joined_ids(qids), "weight": done["weight"] if weighted else None})


def joined(parts: list[Parsed]) -> Parsed:
    """All rows of the parts."""
    return parts[0] if len(parts) == 1 else grown(parts, np.dtype(np.float64))


def part_of(rows: Parsed, start: int, stop: int) -> Parsed:
    """The rows from `start` up to `stop`."""
    entry, entry_end = (int(rows.ends[k - 1]) if k else 0 for k in (start, stop))
    byte, byte_end = (int(rows.comment_ends[k - 1]) if k else 0 for k in (start, stop))
    return Parsed(
        y=rows.y[start:stop],
        qid=None if rows.qid is None else rows.qid[start:stop],
        weight=None if rows.weight is None else rows.weight[start:stop],
        comment=rows.comment[byte:byte_end],
        comment_ends=rows.comment_ends[start:stop] - byte,
        column=rows.column[entry:entry_end],
        value=rows.value[entry:entry_end],
        ends=rows.ends[start:stop] - entry,
    )


def _joined_ids(parts: list[NDArray[Any]]) -> NDArray[Any] | None:
    """Query ids of all parts: integers, unless one part has strings."""
    if not parts:
        return None
    if any(part.dtype == object for part in parts):  # an integer is written as it was read: in its shortest form
        parts = [part if part.dtype == object else part.astype(str).astype(object) for part in parts]
    return np.concatenate(parts)
