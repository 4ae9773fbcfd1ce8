"""Parsed rows put together and taken apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._lines import Parsed

ROOM = 1.05  # times the size that the first part lets expect; pages that are never written take no memory


class _Growing:
    """An array that grows at its end: the first part makes room for all, which is doubled where it is too little."""

    def __init__(self, dtype: Any, n_parts: int) -> None:
        self._array, self.size, self._n_parts = np.empty(0, dtype=dtype), 0, n_parts

    def append(self, part: NDArray[Any]) -> None:
        """Add at the end."""
        end = self.size + part.size
        if end > self._array.size:
            room = int(ROOM * part.size * self._n_parts) if self.size == 0 else 2 * end
            larger = np.empty(max(end, room), dtype=self._array.dtype)
            larger[: self.size] = self._array[: self.size]
            self._array = larger
        self._array[self.size : end] = part
        self.size = end

    def done(self) -> NDArray[Any]:
        """The array."""
        return self._array[: self.size]


def grown(parts: Iterable[Parsed], dtype: DTypeLike = np.float64, n_parts: int = 1) -> Parsed:
    """All rows of about `n_parts` parts, the values in the type wanted, in the memory of the result and of one part."""
    types = {"y": float, "weight": float, "comment": np.uint8, "comment_ends": np.int64, "ends": np.int64}
    arrays = {name: _Growing(kind, n_parts) for name, kind in {**types, "column": np.int32, "value": dtype}.items()}
    qids: list[NDArray[Any]] = []
    weighted = False
    for part in parts:
        rows_before, comment_before, entries_before = (arrays[name].size for name in ("y", "comment", "column"))
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
    return parts[0] if len(parts) == 1 else grown(parts, n_parts=len(parts))


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
