"""Distinct values, and distinct rows, numbered by hashing: linear time where they are few."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel
from .random import GOLDEN, MIX_1, S32, scramble


@kernel
def number_values(keys: Any, table: Any, found: Any, out: Any) -> int:
    """out[i] = number of keys[i] in the order of first appearance, found[number] = key; returns how many there are.

    `table` is work space, a power of two of -1: open addressing, filled to one half at most. Where `found` has no place
    for another key the answer is -1. O(size).
    """
    mask, n = np.uint64(table.size - 1), 0
    for i in range(keys.size):
        place = scramble(keys[i]) & mask
        while table[place] >= 0 and found[table[place]] != keys[i]:
            place = (place + np.uint64(1)) & mask
        if table[place] < 0:
            if n == found.size:
                return -1
            table[place], found[n] = n, keys[i]
            n += 1
        out[i] = table[place]
    return n


@kernel
def number_rows(bits: Any, indices: Any, indptr: Any, step: int, n: int, table: Any, first: Any, out: Any) -> int:
    """out[t] = number of row t * step of a CSR matrix among the distinct ones, for t < n; returns how many there are.

    `bits` are the entries as integers; first[number] is the first row of its kind, to which all others are compared
    entry by entry. `table` is work space as above; where `first` has no place for another row the answer is -1.
    O(non-zeros).
    """
    mask, found = np.uint64(table.size - 1), 0
    for t in range(n):
        start, end = indptr[t * step], indptr[t * step + 1]
        key = np.uint64(end - start)
        for k in range(start, end):
            key = (key ^ (np.uint64(bits[k]) + np.uint64(indices[k]) * GOLDEN)) * MIX_1
            key ^= key >> S32
        place = scramble(key) & mask
        while table[place] >= 0:
            other, same = indptr[first[table[place]]], True
            if indptr[first[table[place]] + 1] - other != end - start:
                same = False
            else:
                for k in range(end - start):
                    if bits[start + k] != bits[other + k] or indices[start + k] != indices[other + k]:
                        same = False
                        break
            if same:
                break
            place = (place + np.uint64(1)) & mask
        if table[place] < 0:
            if found == first.size:
                return -1
            table[place], first[found] = found, t * step
            found += 1
        out[t] = table[place]
    return found
