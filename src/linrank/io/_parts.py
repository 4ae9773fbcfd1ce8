"""Parsed rows put together and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._lines import Parsed


def joined(parts: list[Parsed]) -> Parsed:
    """All rows of the parts, at least one; the list is emptied, so that memory is given back array by array."""
    if len(parts) == 1:
        return parts.pop()
    fields: dict[str, list[Any]] = {name: [getattr(part, name) for part in parts] for name in Parsed._fields}
    parts.clear()
    for ends, of in (("ends", "column"), ("comment_ends", "comment")):
        start = np.cumsum([0, *(array.size for array in fields[of][:-1])])
        fields[ends] = [values + first for values, first in zip(fields[ends], start, strict=True)]
    if any(weight is not None for weight in fields["weight"]):
        rows = [y.size for y in fields["y"]]
        fields["weight"] = [np.ones(n) if w is None else w for w, n in zip(fields["weight"], rows, strict=True)]
    fields["qid"] = _same_type([ids for ids in fields["qid"] if ids is not None])
    done: dict[str, Any] = {}
    for name in Parsed._fields:
        arrays = fields.pop(name)
        done[name] = None if not arrays or arrays[0] is None else np.concatenate(arrays)
    return Parsed(**done)


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


def _same_type(ids: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Query ids of all parts: integers, unless one part has strings."""
    if not any(part.dtype == object for part in ids):
        return ids
    # An integer is written as it was read: in its shortest form.
    return [part if part.dtype == object else part.astype(str).astype(object) for part in ids]
