"""Rows by query and falling value, all queries in one sort.

A row's key holds, from the leading bits down: its query, as many bits of its value as there is room for, and its number
within the query (`sorting.py`); what the lost bits of the values left undecided is mended on the way out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel
from .sorting import sort_keys

#: With fewer bits for the value than this, rows are sorted by comparison instead.
FEWEST_VALUE_BITS = 20


class Ordered(NamedTuple):
    """Rows grouped by query, the largest value first; equal values keep their order."""

    row: NDArray[np.int64]
    value: NDArray[np.float64]  # of each of these rows
    ptr: NDArray[np.int64]  # query q is ptr[q]:ptr[q + 1]


def begins(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where each run of equal values begins."""
    new = np.ones(values.size, dtype=bool)
    new[1:] = values[1:] != values[:-1]
    return new


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
        keys = np.empty(value.size, dtype=np.uint64)
        with np.errstate(over="ignore"):
            np.subtract(value, np.median(value[:: value.size // 1000 + 1]), out=keys.view(np.float64))
        pack_descending(keys, ptr, index_bits, query_bits)
        keys = sort_keys(keys, index_bits)
        done = unpack_descending(keys, value, ptr, index_bits, place, ordered)
    if not done:
        place = np.lexsort((-value, np.repeat(np.arange(n_queries), np.diff(ptr))))
        ordered = value[place]
    return Ordered(place if row is None else row[place], ordered, ptr)


@kernel
def counting_sort(query: Any, place: Any, row: Any) -> None:
    """Fill row with the rows by query, in their order; place[q] is where query q begins, and is used up. O(m)."""
    for i in range(query.size):
        q = query[i]
        row[place[q]] = i
        place[q] += 1


@kernel
def pack_descending(keys: Any, ptr: Any, index_bits: int, query_bits: int) -> None:
    """Turn the bits of floats into (query, value, number within the query): ascending keys are falling values. O(m)."""
    one = np.uint64(1)
    sign = one << np.uint64(63)
    lost = np.uint64(index_bits + query_bits)
    for q in range(ptr.size - 1):
        head = np.uint64(q) << np.uint64(64 - query_bits) if query_bits > 0 else np.uint64(0)
        for i in range(ptr[q], ptr[q + 1]):
            bits = keys[i]
            if bits == sign:  # -0.0 is 0.0
                bits = np.uint64(0)
            rising = ~bits if bits >= sign else bits | sign
            keys[i] = head | ((~rising >> lost) << np.uint64(index_bits)) | np.uint64(i - ptr[q])


@kernel
def unpack_descending(keys: Any, value: Any, ptr: Any, index_bits: int, place: Any, ordered: Any) -> bool:
    """Read places and values off the sorted keys, and mend what the lost bits left out of order. O(m).

    Returns False where mending takes more than a few moves a row: values crowd together, sort them by comparison.
    """
    mask = (np.uint64(1) << np.uint64(index_bits)) - np.uint64(1)
    budget = 4 * keys.size + 64
    for query in range(ptr.size - 1):
        start = ptr[query]
        for p in range(start, ptr[query + 1]):
            i = start + np.int64(keys[p] & mask)
            here = value[i]
            q = p
            while q > start and ordered[q - 1] < here:
                ordered[q] = ordered[q - 1]
                place[q] = place[q - 1]
                q -= 1
            budget -= p - q
            if budget < 0:
                return False
            ordered[q] = here
            place[q] = i
    return True
