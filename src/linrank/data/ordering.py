"""Rows by query, by value within queries, and scores in order: the sorts behind rankings and metrics.

Numbers are sorted together with their places, as 64-bit keys, by digits (`kernels/sorting.py`).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from .._work import Work
from ..kernels.hashing import number_values
from ..kernels.ordering import counting_sort, pack_descending, unpack_descending
from ..kernels.sorting import (
    DIGIT_BITS,
    PLACE_BITS,
    centre_scores,
    count_digits,
    next_cut,
    pack_scores,
    scatter_digits,
    unpack_scores,
)

Keys = NDArray[np.uint64]
Parts = list[tuple[int, int]]
Counts = NDArray[np.int64]

#: With fewer bits for the value than this, rows are sorted by comparison instead.
FEWEST_VALUE_BITS = 20
#: Fewer keys than this are sorted by comparison: counting digits costs as much as so many keys.
FEW_KEYS = 2048
#: Fewer scores than this are sorted as they are: to make keys of them takes as long.
FEW_SCORES = 256
#: Up to so many distinct values are numbered by hashing: the table stays in the cache. With more, sorting is as quick.
FEW_VALUES = 1 << 14
#: From so many members on, work on one ranking is cut into so many parts, for several threads.
LARGE, PARTS = 1 << 18, 8


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


class Sorted(NamedTuple):
    """Scores in order, in the memory of a work: valid until the next ones are sorted there."""

    order: NDArray[np.int32]
    padded: FloatArray  # between -inf and inf
    free: str  # a room of the work that is as large as theirs, and free again

    @property
    def s(self) -> FloatArray:
        """The scores alone."""
        return self.padded[1:-1]

    @property
    def finite(self) -> bool:
        """Whether all of them are numbers: others stand at the ends."""
        return bool(np.isfinite(self.padded[1]) and np.isfinite(self.padded[-2]))


def sort_padded(s: FloatArray, work: Work) -> Sorted:
    """Order and sorted scores, with a number below and above them all. O(n) for scores that do not crowd.

    A few are sorted by comparison, and so are scores of which too many agree in their leading bits.
    """
    n = s.size
    order = work.take("order", n, np.int32)
    room, padded = work.take("keys", n + 2, np.uint64), work.take("spare keys", n + 2, np.float64)
    done, free, parts = False, "keys", work_parts(n)
    # Parts are mended one by one, which takes numbers: infinity less infinity is none.
    if n >= FEW_SCORES and (len(parts) == 1 or math.isfinite(s.sum())):
        given = room[1:-1]
        keys, spare = given, padded[1:-1].view(np.uint64)
        counts = _digit_counts(len(parts)) if work.n_threads > 1 and len(parts) > 1 else None
        _pack(keys, s, parts, counts, work)
        if counts is None:
            keys, spare = _sort_digits(keys, spare, PLACE_BITS)
        else:
            keys, spare = _sort_digits_in_parts(keys, spare, PLACE_BITS, parts, counts, work)
        done = _unpack(keys, s, order, spare.view(np.float64), parts, work)
        if spare is given:
            padded, free = room.view(np.float64), "spare keys"
    if not done:
        order[:] = np.argsort(s, kind="stable")
        np.take(s, order, out=padded[1:-1], mode="clip")  # "raise" would make a copy first
    padded[0], padded[-1] = -np.inf, np.inf
    return Sorted(order, padded, free)


def work_parts(n: int) -> Parts:
    """Ranges of n numbers that several threads may share: cut by their number alone."""
    if n < LARGE:
        return [(0, n)]
    return list(pairwise(n * k // PARTS for k in range(PARTS + 1)))


def _pack(keys: Keys, s: FloatArray, parts: Parts, counts: Counts | None, work: Work) -> None:
    """Fill keys with the leading bits of the scores, and their places; count their last digit, part by part."""
    # Floats are finest near 0: centred, an offset does not eat the bits that matter.
    some = np.sort(s[:: s.size // 9 + 1])
    centre = some[some.size // 2]
    if len(parts) == 1:
        pack_scores(keys, np.uint64(centre_scores(s, centre, keys)), 0)
        return
    sizes = []

    def centred(part: tuple[int, int]) -> None:
        here = slice(*part)
        sizes.append(centre_scores(s[here], centre, keys[here]))

    work.share(centred, parts)
    largest = np.uint64(max(sizes))

    def pack(k: int) -> None:
        here = keys[slice(*parts[k])]
        pack_scores(here, largest, parts[k][0])
        if counts is not None:
            count_digits(here, PLACE_BITS, counts[k])

    work.share(pack, range(len(parts)))


def _unpack(
    keys: Keys, s: FloatArray, order: NDArray[np.int32], sorted_s: FloatArray, parts: Parts, work: Work
) -> bool:
    """Read order and scores off the keys; whether that was no more work than it should be."""
    if len(parts) == 1:
        return unpack_scores(keys, s, order, sorted_s)
    cuts, answers = [*(next_cut(keys, first) for first, _ in parts), s.size], []
    ranges = list(pairwise(cuts))

    def unpack(part: tuple[int, int]) -> None:
        here = slice(*part)
        answers.append(unpack_scores(keys[here], s, order[here], sorted_s[here]))

    work.share(unpack, ranges)
    return all(answers)


def _digit_counts(n_parts: int) -> Counts:
    """Zeros, for the counts of one digit in each part."""
    return np.zeros((n_parts, 1, 1 << DIGIT_BITS), dtype=np.int64)


def _sort_digits_in_parts(
    keys: Keys, spare: Keys, first_bit: int, parts: Parts, counts: Counts, work: Work
) -> tuple[Keys, Keys]:
    """As `_sort_digits`, each part counted and scattered by itself: the same order. The last digit is counted."""
    ranges = [slice(*part) for part in parts]
    for bit in range(first_bit, 64, DIGIT_BITS):
        if bit > first_bit:
            counts = _count_parts(keys, bit, ranges, work)
        if _scatter_parts(keys, spare, bit, ranges, counts, work):
            keys, spare = spare, keys
    return keys, spare


def _count_parts(keys: Keys, bit: int, parts: list[slice], work: Work) -> Counts:
    """How often each digit occurs, part by part."""
    counts = _digit_counts(len(parts))
    work.share(lambda k: count_digits(keys[parts[k]], bit, counts[k]), range(len(parts)))
    return counts


def _scatter_parts(keys: Keys, spare: Keys, bit: int, parts: list[slice], counts: Counts, work: Work) -> bool:
    """Put the keys into the spare ones in order of one digit; not so where all are alike."""
    by_digit = counts[:, 0].T
    if by_digit.sum(axis=1).max() == keys.size:
        return False
    place = (np.cumsum(by_digit) - by_digit.ravel()).reshape(by_digit.shape).T.copy()
    work.share(lambda k: scatter_digits(keys[parts[k]], bit, place[k], spare), range(len(parts)))
    return True
