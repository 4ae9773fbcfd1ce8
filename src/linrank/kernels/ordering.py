"""Rows by query and falling value, all queries in one sort.

A row's key holds, from the leading bits down: its query, as many bits of its value as there is room for, and its number
within the query (`sorting.py`); what the lost bits of the values left undecided is mended on the way out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel


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
