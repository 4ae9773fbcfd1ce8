"""GPU-quicksorting, Algorithm 3 of P-SWX (section 3.2), in plain numpy: what its thread blocks do, one after another.

Several sequences, one a query, are sorted at once, each with the rows its values belong to. Sorting is by an auxiliary
buffer: counts of each thread, their cumulative sums, and writes without conflicts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def gpu_quicksort(wX: FloatArray, sizes: IntArray, *, minsize: int = 64, threads: int = 32, seed: int = 0) -> IntArray:
    """The rows of consecutive queries of the sizes given, by increasing score within each: a permutation of rows.

    minsize is 64 in section 4. Values up to the pivot's go to its left, so that equal ones are set apart one at a
    time: O(n^2) where all of a query's scores are equal, as they are at w = 0; O(n log n) expected where none are.
    """
    rng, primary = np.random.default_rng(seed), np.arange(wX.size)
    ends = np.cumsum(sizes)
    for beg, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True):  # (14), with ends exclusive
        _block(wX, primary, beg, end, minsize, threads, rng)
    return primary


def _block(
    value: FloatArray, primary: IntArray, beg: int, end: int, minsize: int, threads: int, rng: np.random.Generator
) -> None:
    """Lines 3 to 49: what one thread block does.

    Read as: the bounds worked on are those popped from the stack. As printed, they are those pushed last, which have
    been dealt with where both parts were short.
    """
    stack = [(beg, end)]
    while stack:
        beg, end = stack.pop()  # line 33
        if end - beg <= minsize:  # lines 4, 34 and 41
            primary[beg:end] = bitonic(value, primary[beg:end])
            continue
        middle = _partition(value, primary, beg, end, threads, rng)
        stack += [(beg, middle), (middle + 1, end)]  # lines 38 and 45


def _partition(value: FloatArray, primary: IntArray, beg: int, end: int, threads: int, rng: np.random.Generator) -> int:
    """Lines 10 to 32: a random pivot, smaller ones to its left; where it comes to lie.

    Three readings of what is printed: the pivot is counted on neither side (by line 17 it would be on the right, and
    again in the middle by line 31); a thread's greater ones are written forwards (backwards, line 27, they would
    leave the thread's place); rows move with their values (lines 25 and 27 write values alone).
    """
    auxiliary = primary[beg:end].copy()  # line 10
    pivot = int(rng.choice(auxiliary))  # line 11
    left = (value[auxiliary] <= value[pivot]) & (auxiliary != pivot)  # lines 14 and 24
    right = ~left & (auxiliary != pivot)
    lt = [int(left[thread::threads].sum()) for thread in range(threads)]  # lines 12 to 19
    gt = [int(right[thread::threads].sum()) for thread in range(threads)]
    less, greater = np.cumsum([0, *lt]), np.cumsum([0, *gt])  # lines 20 and 21
    for thread in range(threads):  # lines 22 to 29
        mine = slice(thread, None, threads)
        lp, gp = beg + less[thread], end - greater[thread + 1]
        primary[lp : lp + lt[thread]] = auxiliary[mine][left[mine]]
        primary[gp : gp + gt[thread]] = auxiliary[mine][right[mine]]
    middle = beg + int(less[-1])
    primary[middle] = pivot  # lines 30 to 32
    return middle


def bitonic(value: FloatArray, rows: IntArray) -> IntArray:
    """Rows by increasing value, by Batcher's bitonic network: all comparisons of a stage at once. O(n log^2 n)."""
    n = 1 << max(rows.size - 1, 0).bit_length()
    key, row = np.append(value[rows], np.full(n - rows.size, np.inf)), np.append(rows, np.full(n - rows.size, -1))
    at, k = np.arange(n), 2
    while k <= n:
        j = k // 2
        while j:
            low = at[(at & j) == 0]
            high = low | j
            swap = (key[low] > key[high]) == ((low & k) == 0)
            swap &= key[low] != key[high]
            a, b = low[swap], high[swap]
            key[a], key[b], row[a], row[b] = key[b], key[a], row[b], row[a]
            j //= 2
        k *= 2
    return row[: rows.size]
