"""Rows by query, by value within queries, and scores in order: the sorts behind rankings and metrics.

Numbers are sorted together with their places, as 64-bit keys, by digits (`kernels/sorting.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from .._work import Work
from ..kernels.hashing import number_values
from ..kernels.ordering import counting_sort, pack_descending, unpack_descending
from ..kernels.sorting import DIGIT_BITS, PLACE_BITS, count_digits, pack_scores, scatter_digits, unpack_scores

Keys = NDArray[np.uint64]

#: With fewer bits for the value than this, rows are sorted by comparison instead.
FEWEST_VALUE_BITS = 20
#: Fewer keys than this are sorted by comparison: counting digits costs as much as so many keys.
FEW_KEYS = 2048
#: Fewer scores than this are sorted as they are: to make keys of them takes as long.
FEW_SCORES = 256
#: Up to so many distinct values are numbered by hashing: the table stays in the cache. With more, sorting is as quick.
FEW_VALUES = 1 << 14


class Ordered(NamedTuple):
    """Rows grouped by query, the largest value first; equal values keep their order."""

    row: NDArray[np.int64]
    value: NDArray[np.float64]  # of each of these rows
    ptr: NDArray[np.int64]  # query q is ptr[q]:ptr[q + 1]


def run_starts(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a run of equal values starts at each place."""
    new = np.empty(values.size, dtype=bool)
    new[:1], new[1:] = True, values[1:] != values[:-1]
    return new


def number_distinct(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The number of each value among the distinct ones, and these, sorted.

    Counted where they are whole and of a narrow range, hashed where they are numbers and few, else sorted: O(m) but in
    the last case. 0.0 and -0.0 are one value.
    """
    if values.dtype.kind not in "biuf" or values.size < FEW_KEYS:
        return _by_sorting(values)
    if values.dtype == np.float16:  # differences would be rounded
        number, distinct = number_distinct(values.astype(np.float64))
        return number, distinct.astype(np.float16)
    low, high = values.min(), values.max()
    if int(high) - int(low) < values.size and (values.dtype.kind != "f" or np.all(values == np.floor(values))):
        wide = values.astype(np.int64) if values.dtype.kind in "bi" else values  # int8 would overflow
        code = (wide - low).astype(np.int64)
        there = np.zeros(int(high) - int(low) + 1, dtype=bool)
        there[code] = True
        distinct = (np.flatnonzero(there).astype(wide.dtype) + low).astype(values.dtype)
        return (np.cumsum(there) - 1)[code], distinct
    wide = values.astype(np.float64) + 0.0 if values.dtype.kind == "f" else values.astype(np.int64)
    number, found = np.empty(values.size, dtype=np.int64), np.empty(FEW_VALUES, dtype=np.uint64)
    n = number_values(wide.view(np.uint64), np.full(2 * FEW_VALUES, -1, dtype=np.int32), found, number)
    if n < 0:
        return _by_sorting(values)
    distinct = found[:n].view(wide.dtype).astype(values.dtype)
    order = np.argsort(distinct)
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    return rank[number], distinct[order]


def _by_sorting(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    order = values.argsort()
    ordered = values[order]
    if values.dtype.kind not in "biuf" or (values.size and ordered[-1] != ordered[-1]):
        distinct, number = np.unique(values, return_inverse=True)
        return number.astype(np.int64, copy=False), distinct
    number, new = np.empty(values.size, dtype=np.int64), run_starts(ordered)  # as np.unique does, in half of its time
    number[order] = new.cumsum() - 1
    return number, ordered[new]


def group_rows(query: NDArray[np.int64], n_queries: int) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Rows by query in their order (None: they are so already), and where each query begins. O(m)."""
    ptr = np.zeros(n_queries + 1, dtype=np.int64)
    np.cumsum(np.bincount(query, minlength=n_queries), out=ptr[1:])
    if n_queries == 1 or np.all(query[1:] >= query[:-1]):
        return None, ptr
    row = np.empty(query.size, dtype=np.int64)
    counting_sort(query, ptr[:-1].copy(), row)
    return row, ptr


def stable_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows by rising key, equal keys in their order: counted in O(m) where the keys >= 0 are small, else sorted."""
    n_keys = int(keys.max(initial=0)) + 1
    if n_keys > 2 * keys.size:
        return np.argsort(keys, kind="stable")
    row, _ = group_rows(keys, n_keys)
    return np.arange(keys.size) if row is None else row


def order_within(query: NDArray[np.int64], n_queries: int, values: NDArray[np.float64]) -> Ordered:
    """Order finite values within queries, the largest first. One sort of m integers, whatever the queries' lengths."""
    row, ptr = group_rows(query, n_queries)
    value = np.ascontiguousarray(values if row is None else values[row])
    index_bits, query_bits = (int(n).bit_length() for n in (np.diff(ptr).max(initial=1) - 1, n_queries - 1))
    place, ordered = np.empty(value.size, dtype=np.int64), np.empty(value.size)
    done = False
    if index_bits + query_bits <= 64 - FEWEST_VALUE_BITS:
        # Floats are finest near 0: centre them, and an offset does not eat the bits that matter.
        keys, some = np.empty(value.size, dtype=np.uint64), np.sort(value[:: value.size // 1000 + 1])
        with np.errstate(over="ignore"):
            np.subtract(value, some[some.size // 2 :][:1], out=keys.view(np.float64))
        pack_descending(keys, ptr, index_bits, query_bits)
        keys = sort_keys(keys, index_bits)
        done = unpack_descending(keys, value, ptr, index_bits, place, ordered)
    if not done:
        place = np.lexsort((-value, np.repeat(np.arange(n_queries), np.diff(ptr))))
        ordered = value[place]
    return Ordered(place if row is None else row[place], ordered, ptr)


def positions_within(query: NDArray[np.int64], ids: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """1-based position of each row within its query, the largest value first; equal values keep their order."""
    ordered = order_within(query, ids.size, values)
    positions = np.empty(values.size, dtype=np.int64)
    positions[ordered.row] = np.arange(1, values.size + 1) - np.repeat(ordered.ptr[:-1], np.diff(ordered.ptr))
    return positions


def sort_keys(keys: Keys, first_bit: int) -> Keys:
    """The keys sorted by their bits from `first_bit` up; those below hold places, in order. O(n)."""
    return _sort_digits(keys, np.empty_like(keys), first_bit)[0]


def _sort_digits(keys: Keys, spare: Keys, first_bit: int) -> tuple[Keys, Keys]:
    """The array that holds the sorted keys, and the other one."""
    if keys.size < FEW_KEYS:
        keys.sort()  # by places as well, which changes nothing
        return keys, spare
    n_digits = -(-(64 - first_bit) // DIGIT_BITS)
    counts = np.zeros((n_digits, 1 << DIGIT_BITS), dtype=np.int64)
    count_digits(keys, first_bit, counts)
    for digit, count in enumerate(counts):
        if count.max() < keys.size:  # else all are alike
            scatter_digits(keys, first_bit + DIGIT_BITS * digit, np.cumsum(count) - count, spare)
            keys, spare = spare, keys
    return keys, spare


def sort_scores(s: FloatArray, work: Work) -> tuple[NDArray[np.int32], FloatArray]:
    """Order and sorted scores, in the work: valid until the next call with it. O(n) for scores that do not crowd.

    A few are sorted by comparison, and so are scores of which too many agree in their leading bits.
    """
    n = s.size
    order = work.take("order", n, np.int32)
    keys, spare = (work.take(name, n, np.uint64) for name in ("keys", "spare keys"))
    done = False
    if n >= FEW_SCORES:
        # Floats are finest near 0: centred, an offset does not eat the bits that matter.
        some = np.sort(s[:: n // 9 + 1])
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(s, some[some.size // 2], out=keys.view(np.float64))
        pack_scores(keys)
        keys, spare = _sort_digits(keys, spare, PLACE_BITS)
        done = unpack_scores(keys, s, order, spare.view(np.float64))
    sorted_s: FloatArray = spare.view(np.float64)
    if not done:
        order[:] = np.argsort(s, kind="stable")
        np.take(s, order, out=sorted_s, mode="clip")  # "raise" would make a copy first
    return order, sorted_s
