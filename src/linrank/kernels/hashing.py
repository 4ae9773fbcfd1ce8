"""Distinct values numbered by hashing: linear time where they are few."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel
from .random import scramble


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
