"""Algorithms 2 and 3 of P-SWX (Jin and Lin, 2014, section 3) as numba.cuda kernels: the paper's own system, readable.

One thread block a query. `gpu_quicksort.py` and `pswx.py` have the same in plain numpy, with the readings of what is
printed; `engines/torch` is what linrank uses. On a machine without a GPU these run by numba's simulator, which
NUMBA_ENABLE_CUDASIM=1 switches on before numba is imported, or compile to PTX: name a compute capability of at least
7.5, as CUDA 13 refuses numba's default.
"""

# mypy: disable-error-code="attr-defined"
# numba.cuda says at run time what it has: the simulator has the same.
from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from numba import cuda, float64, int64
from numpy.typing import NDArray

from .pswx import Parameters

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Threads of a block; section 4's minsize; pushed intervals, of which the smaller one is always popped first.
THREADS, MINSIZE, STACK = 32, 64, 64
SUMS = THREADS + 1  # a constant by name: shared arrays take no expression


@cuda.jit(device=True)
def bitonic(value: Any, row: Any, beg: int, end: int, key: Any, place: Any) -> None:
    """Sort up to MINSIZE pairs of value and row in shared memory, by Batcher's network; padded by infinity."""
    thread = cuda.threadIdx.x
    for i in range(thread, MINSIZE, THREADS):
        key[i] = value[beg + i] if beg + i < end else np.inf
        place[i] = row[beg + i] if beg + i < end else -1
    cuda.syncthreads()
    k = 2
    while k <= MINSIZE:
        j = k // 2
        while j > 0:
            for i in range(thread, MINSIZE, THREADS):
                other = i | j
                if i & j == 0 and (key[i] > key[other]) == (i & k == 0) and key[i] != key[other]:
                    key[i], key[other] = key[other], key[i]
                    place[i], place[other] = place[other], place[i]
            cuda.syncthreads()
            j //= 2
        k *= 2
    for i in range(thread, end - beg, THREADS):
        value[beg + i], row[beg + i] = key[i], place[i]
    cuda.syncthreads()


@cuda.jit(device=True)
def partition(
    value: Any, row: Any, spare_value: Any, spare_row: Any, beg: int, end: int, pivot: int, lt: Any, gt: Any
) -> int:  # fmt: skip
    """Lines 10 to 32: values up to the pivot's to its left, greater ones to its right; where it comes to lie."""
    thread = cuda.threadIdx.x
    lt[thread + 1], gt[thread + 1] = 0, 0
    for i in range(beg + thread, end, THREADS):  # lines 10 and 12 to 19
        spare_value[i], spare_row[i] = value[i], row[i]
        if i != pivot and value[i] <= value[pivot]:
            lt[thread + 1] += 1
        elif i != pivot:
            gt[thread + 1] += 1
    cuda.syncthreads()
    if thread == 0:  # lines 20 and 21: cumulative sums
        lt[0], gt[0] = 0, 0
        for k in range(THREADS):
            lt[k + 1] += lt[k]
            gt[k + 1] += gt[k]
    cuda.syncthreads()
    low, high = beg + lt[thread], end - gt[thread + 1]
    for i in range(beg + thread, end, THREADS):  # lines 22 to 29: writes without conflicts
        if i != pivot and spare_value[i] <= spare_value[pivot]:
            value[low], row[low] = spare_value[i], spare_row[i]
            low += 1
        elif i != pivot:
            value[high], row[high] = spare_value[i], spare_row[i]
            high += 1
    middle = beg + lt[THREADS]
    if thread == 0:  # lines 30 to 32
        value[middle], row[middle] = spare_value[pivot], spare_row[pivot]
    cuda.syncthreads()
    return middle


def gpu_quicksort(value: Any, row: Any, spare_value: Any, spare_row: Any, begin: Any, ends: Any) -> None:
    """Algorithm 3: each block sorts one query, values with the rows they belong to; a work stack in shared memory."""
    lt = cuda.shared.array(SUMS, int64)  # one a line: the simulator tells them apart by it
    gt = cuda.shared.array(SUMS, int64)
    key = cuda.shared.array(MINSIZE, float64)
    place = cuda.shared.array(MINSIZE, int64)
    first = cuda.shared.array(STACK, int64)
    last = cuda.shared.array(STACK, int64)
    query = cuda.blockIdx.x
    first[0], last[0] = begin[query], ends[query]  # the same by every thread
    top, random = 1, int64(query + 1)
    cuda.syncthreads()
    while top > 0:
        top -= 1
        beg, end = first[top], last[top]
        cuda.syncthreads()
        if end - beg <= MINSIZE:
            bitonic(value, row, beg, end, key, place)
            continue
        random = (1103515245 * random + 12345) & 0x7FFFFFFF  # line 11: a random pivot
        middle = partition(value, row, spare_value, spare_row, beg, end, beg + random % (end - beg), lt, gt)
        left = middle - beg < end - middle - 1
        first[top], last[top] = (middle + 1, end) if left else (beg, middle)
        first[top + 1], last[top + 1] = (beg, middle) if left else (middle + 1, end)
        top += 2
        cuda.syncthreads()


def p_swx(
    s: Any, y: Any, xv: Any, begin: Any, ends: Any, beta_plus: Any, beta_minus: Any, alpha_plus: Any, alpha_minus: Any,
    gamma_plus: Any, gamma_minus: Any,
) -> None:  # fmt: skip
    """Algorithm 2: each thread has some rows i of its block's query, and goes over sorted rows j while 1 - z > 0."""
    query = cuda.blockIdx.x
    for i in range(begin[query] + cuda.threadIdx.x, ends[query], THREADS):
        j = begin[query]
        while j < ends[query] and 1.0 - (s[j] - s[i]) > 0:  # lines 2 to 8
            if y[j] > y[i]:
                alpha_plus[i] += xv[j]
                beta_plus[i] += 1
                gamma_plus[i] += s[j]
            j += 1
        j = ends[query] - 1
        while j >= begin[query] and 1.0 - (s[i] - s[j]) > 0:  # lines 9 to 15
            if y[j] < y[i]:
                alpha_minus[i] += xv[j]
                beta_minus[i] += 1
                gamma_minus[i] += s[j]
            j -= 1


def parameters(wX: FloatArray, y: FloatArray, Xv: FloatArray, sizes: IntArray) -> Parameters:
    """Sort the rows of consecutive queries, then count: two launches, a block a query."""
    ends = np.cumsum(sizes)
    begin, value, row = ends - sizes, wX.copy(), np.arange(wX.size)
    cuda.jit(gpu_quicksort)[sizes.size, THREADS](value, row, np.empty_like(value), np.empty_like(row), begin, ends)
    found = np.zeros((6, wX.size))
    cuda.jit(p_swx)[sizes.size, THREADS](value, y[row], Xv[row], begin, ends, *found)
    back = np.empty_like(row)
    back[row] = np.arange(row.size)
    return Parameters(*found[:, back])


def ptx(capability: tuple[int, int] = (8, 0)) -> list[str]:
    """Both kernels, compiled; raises where libnvvm is missing.

    Device functions are compiled for the device that is there: one is put in its place for as long as that takes.
    """
    from numba.cuda import dispatcher

    there = SimpleNamespace(compute_capability=capability)
    number, whole = float64[::1], int64[::1]
    sorts = number, whole, number, whole, whole, whole
    counts = (number, number, number, whole, whole, *[number] * 6)
    compiled = ((gpu_quicksort, sorts), (p_swx, counts))
    with mock.patch.object(dispatcher, "get_current_device", return_value=there):
        return [cuda.compile_ptx(kernel, types, cc=capability)[0] for kernel, types in compiled]
