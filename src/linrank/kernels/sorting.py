"""Sorting numbers together with their places: one 64-bit key for both, sorted by its digits.

A key holds the leading bits of a number and, below them, its place. Places come in order and the sort is stable, so
only the leading bits are sorted: digits of 11 bits, the last one first, each by counting. What the lost bits of the
numbers left undecided is mended on the way out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel
from ._vector import prefetch

DIGIT_BITS = 11
AHEAD = 24  # scores asked for before they are needed: they lie anywhere
PLACE_BITS = 31  # of a score's key, below 33 bits of the score
MASK = np.uint64((1 << DIGIT_BITS) - 1)
SIGN, ONE = np.uint64(1 << 63), np.uint64(1)
OCTAVES = 32  # of scores that are told apart; what is smaller still than the largest is a tie, to be mended
HALF = np.uint64(OCTAVES << 52)
LOST = np.uint64(58 + PLACE_BITS - 64)  # bits of a score, sign and 57 others, that have no room in its key


@kernel
def count_digits(keys: Any, first_bit: int, counts: Any) -> None:
    """counts[t, x] = how many keys have x as digit t, from `first_bit` up. O(n)."""
    for i in range(keys.size):
        rest = keys[i] >> np.uint64(first_bit)
        for t in range(counts.shape[0]):
            counts[t, rest & MASK] += 1
            rest >>= np.uint64(DIGIT_BITS)


@kernel
def scatter_digits(keys: Any, first_bit: int, place: Any, out: Any) -> None:
    """Put the keys in order of one digit; place[x] is where those with digit x begin, and is used up. O(n)."""
    for i in range(keys.size):
        x = (keys[i] >> np.uint64(first_bit)) & MASK
        out[place[x]] = keys[i]
        place[x] += 1


@kernel
def centre_scores(s: Any, centre: float, keys: Any) -> int:
    """Fill keys with the bits of s - centre; the largest bits of its size, which grow with it. O(n)."""
    values, largest = keys.view(np.float64), np.uint64(0)
    for i in range(keys.size):
        values[i] = s[i] - centre
    for i in range(keys.size):
        largest = max(largest, keys[i] & ~SIGN)
    return np.int64(largest)  # type: ignore[return-value]


@kernel
def pack_scores(keys: Any, largest: Any, first: int) -> None:
    """Turn the bits of floats into (float, place), the places from `first` on. O(n).

    Of the exponents, only the 32 largest that occur are told apart: that leaves 27 bits for the digits of a number.
    """
    smallest = largest - HALF + ONE if largest >= HALF else np.uint64(0)
    for i in range(keys.size):
        size = keys[i] & ~SIGN
        size = size - smallest if size > smallest else np.uint64(0)
        rising = HALF - size if keys[i] >= SIGN else HALF + size
        keys[i] = ((rising >> LOST) << np.uint64(PLACE_BITS)) | np.uint64(first + i)


@kernel
def next_cut(keys: Any, p: int) -> int:
    """The first position from p on whose sorted key differs from the one before in more than its place."""
    while 0 < p < keys.size and keys[p] >> np.uint64(PLACE_BITS) == keys[p - 1] >> np.uint64(PLACE_BITS):
        p += 1
    return p


@kernel
def unpack_scores(keys: Any, s: Any, order: Any, sorted_s: Any) -> bool:
    """Read order and sorted scores off the sorted keys, and mend what the lost bits left out of order. O(n).

    Of all positions, or of those between two cuts (`next_cut`): what is out of order lies between the same ones.
    Returns False where mending costs more than a few moves a score: scores crowd together, sort them anew.
    """
    places = (ONE << np.uint64(PLACE_BITS)) - ONE
    budget = 4 * keys.size + 64
    for p in range(keys.size):
        prefetch(s, np.int64(keys[min(p + AHEAD, keys.size - 1)] & places))
        i = np.int64(keys[p] & places)
        score = s[i]
        q = p
        while q > 0 and sorted_s[q - 1] > score:
            sorted_s[q] = sorted_s[q - 1]
            order[q] = order[q - 1]
            q -= 1
        budget -= p - q
        if budget < 0:
            return False
        sorted_s[q] = score
        order[q] = i
    return True
