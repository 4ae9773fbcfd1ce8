"""Products with X by row blocks, accumulated in float64 whatever X holds; sums over columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel, summing_kernel
from ._vector import prefetch

#: How many entries ahead values and indices are asked for.
AHEAD = 512
#: Entries of a row from which on several are added at once.
LONG = 24
#: Sizes between which numbers keep their digits in float32.
SMALLEST, LARGEST = 1e-30, 1e30


@summing_kernel
def row_sums(A: Any, x: Any, first: int, last: int, left: int, right: int, out: Any) -> None:
    """out[i] = sum of A_ij x_j over left <= j < right, for rows first <= i < last of A in C order. O(entries)."""
    part = x[left:right]
    for i in range(first, last):
        row = A[i, left:right]
        total = 0.0
        for j in range(row.size):
            total += row[j] * part[j]
        out[i] = total


@summing_kernel
def column_sums(A: Any, x: Any, first: int, last: int, left: int, right: int, out: Any) -> None:
    """out[j] += sum of x_i A_ij over first <= i < last, for columns left <= j < right of A in C order. O(entries).

    A row at a time: several at once read out less often, but from memory they come slower than one after the other.
    """
    part = out[left:right]
    for i in range(first, last):
        row, x_i = A[i, left:right], x[i]
        for j in range(row.size):
            part[j] += x_i * row[j]


@summing_kernel
def slope_and_size(g: Any, s: Any, d: Any) -> tuple[float, float]:
    """Sums of g_i d_i and of |g_i s_i|; d is None where there is no line. O(size)."""
    slope, size = 0.0, 0.0
    for i in range(g.size):
        if d is not None:
            slope += g[i] * d[i]
        size += abs(g[i] * s[i])
    return slope, size


@kernel
def csr_dot(data: Any, indices: Any, indptr: Any, w: Any, first: int, last: int, out: Any) -> None:
    """out[i] = sum_j X_ij w_j for rows first <= i < last. O(non-zeros).

    Eight sums at once, because an addition waits for the one before. Unsigned positions need no test for negative ones,
    which would take a quarter of the time.
    """
    _1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    _5, _6, _7, _8 = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
    for i in range(first, last):
        start, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        whole = end - ((end - start) & _7)
        a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(start, whole, _8):
            prefetch(data, np.int64(k) + AHEAD)
            prefetch(indices, np.int64(k) + AHEAD)
            a += data[k] * w[np.uint64(indices[k])]
            b += data[k + _1] * w[np.uint64(indices[k + _1])]
            c += data[k + _2] * w[np.uint64(indices[k + _2])]
            d += data[k + _3] * w[np.uint64(indices[k + _3])]
            e += data[k + _4] * w[np.uint64(indices[k + _4])]
            f += data[k + _5] * w[np.uint64(indices[k + _5])]
            g += data[k + _6] * w[np.uint64(indices[k + _6])]
            h += data[k + _7] * w[np.uint64(indices[k + _7])]
        for k in range(whole, end):
            a += data[k] * w[np.uint64(indices[k])]
        out[i] = ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def csr_transpose_dot(data: Any, indices: Any, indptr: Any, g: Any, first: int, last: int, out: Any) -> None:
    """out[j] += sum over rows first <= i < last of X_ij g_i. O(non-zeros).

    No row names a column twice, so that four sums are read before the first of them is written.
    """
    _1, _2, _3, _4, long = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(LONG)
    for i in range(first, last):
        g_i = g[i]
        if g_i == 0.0:
            continue
        start, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        whole = end - ((end - start) & _3) if end - start >= long else start
        for k in range(start, whole, _4):
            prefetch(data, np.int64(k) + AHEAD)
            prefetch(indices, np.int64(k) + AHEAD)
            j_0, j_1 = np.uint64(indices[k]), np.uint64(indices[k + _1])
            j_2, j_3 = np.uint64(indices[k + _2]), np.uint64(indices[k + _3])
            a, b = out[j_0] + data[k] * g_i, out[j_1] + data[k + _1] * g_i
            c, d = out[j_2] + data[k + _2] * g_i, out[j_3] + data[k + _3] * g_i
            out[j_0], out[j_1], out[j_2], out[j_3] = a, b, c, d
        for k in range(whole, end):
            out[np.uint64(indices[k])] += data[k] * g_i


@kernel
def csr_squared_deviations(data: Any, indices: Any, indptr: Any, v: Any, first: int, last: int, table: Any) -> None:
    """Over the non-zeros of rows first <= i < last: sums of v_i ((X_ij - mean_j) / unit_j)^2, and of v_i. O(non-zeros).

    A row of the table holds mean_j, 1 / unit_j and both sums of column j, side by side: one place in memory an entry.
    """
    for i in range(first, last):
        v_i = v[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            column = table[np.uint64(indices[k])]
            deviation = (data[k] - column[0]) * column[1]
            column[2] += v_i * deviation * deviation
            column[3] += v_i


@kernel
def column_nonzeros(A: Any, v: Any, first: int, last: int, left: int, right: int, out: Any) -> None:
    """out[j] += sum of v_i over first <= i < last with A_ij != 0, for columns left <= j < right. O(entries)."""
    part = out[left:right]
    for i in range(first, last):
        row, v_i = A[i, left:right], v[i]
        for j in range(row.size):
            part[j] += v_i if row[j] != 0 else 0.0


@kernel
def row_nonzeros(A: Any, v: Any, first: int, last: int, left: int, right: int, out: Any) -> None:
    """out[i] += sum of v_j over left <= j < right with A_ij != 0, for rows first <= i < last. O(entries)."""
    part = v[left:right]
    for i in range(first, last):
        row = A[i, left:right]
        total = 0.0
        for j in range(row.size):
            total += part[j] if row[j] != 0 else 0.0
        out[i] += total


@kernel
def csr_first_look(data: Any, indices: Any, indptr: Any, v: Any, share: Any, first: int, last: int, table: Any) -> None:
    """Over the non-zeros of rows first <= i < last, for each column: largest |x|, and sums of v, share x, share x^2.

    A row of the table holds these four numbers of a column side by side: one place in memory an entry. O(non-zeros).
    """
    for i in range(first, last):
        v_i, share_i = v[i], share[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            column, x = table[np.uint64(indices[k])], np.float64(data[k])
            column[0] = max(column[0], abs(x))
            column[1] += v_i if x != 0.0 else 0.0
            column[2] += share_i * x
            column[3] += share_i * x * x


@kernel
def csr_largest_square(data: Any, indices: Any, indptr: Any, unit: Any, first: int, last: int) -> float:
    """Largest sum of (X_ij / unit_j)^2 over rows first <= i < last. O(non-zeros)."""
    largest = 0.0
    for i in range(first, last):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            x = data[k] / unit[indices[k]]
            total += x * x
        largest = max(largest, total)
    return largest


@kernel
def round_entries(data: Any, out: Any) -> bool:
    """Copy data to float32; False where an entry is so large or small that more than digits would be lost. O(size)."""
    kept = True
    for k in range(data.size):
        size = abs(data[k])
        kept &= SMALLEST <= size <= LARGEST or size == 0.0
        out[k] = data[k]
    return kept


@kernel
def csr_is_sound(data: Any, indices: Any, indptr: Any, n_columns: int) -> bool:
    """Whether rows lie one after the other within the data, and columns within the matrix. O(rows + non-zeros)."""
    sound = indptr[0] == 0 and indptr[-1] <= min(data.size, indices.size)
    for i in range(indptr.size - 1):
        sound &= indptr[i] <= indptr[i + 1]
    if not sound:
        return False
    n, outside = np.uint64(n_columns), 0
    for k in range(indptr[-1]):
        outside += 1 if np.uint64(indices[k]) >= n else 0
    return outside == 0


@kernel
def has_duplicates(indices: Any, indptr: Any, marker: Any) -> bool:
    """Whether a row names a column twice. O(non-zeros); `marker` holds -1 for each column at the start."""
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if marker[j] == i:
                return True
            marker[j] = i
    return False
