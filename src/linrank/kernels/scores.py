"""Scores X w whose bits depend on nothing but the row: not on the layout of X, nor on the rows around it.

    s_i = the sum over eight lanes, by halves, of (the sum over j = lane, lane + 8, ... of X_ij w_j, in that order)

Products and sums are rounded one by one. A zero adds nothing, so that a sparse row gives the bits of the dense one, and
float32 widens without loss. Training needs no such promise: its products (`products.py`) may take what is fastest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel
from ._vector import lane_dot

LANES = 8
#: Rows of X in F order whose lanes stay in the cache.
TILE = 1024
#: Distance of a sparse row's lanes: next to each other they would be read as one vector, which waits for single stores.
APART = 3


@inlined
def add_lanes(a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float) -> float:
    """Sum of the lanes, by halves."""
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


@kernel
def scores_by_rows(X: Any, w: Any, first: int, last: int, out: Any) -> None:
    """out[i] = s_i for rows first <= i < last of X in C order. O(entries)."""
    for i in range(first, last):
        out[i] = lane_dot(X, i, w)


@kernel
def scores_by_columns(columns: Any, w: Any, first: int, last: int, lanes: Any, out: Any) -> None:
    """The same for X in F order, given as its columns, (d, m) in C order; `lanes` is (LANES, TILE). O(entries)."""
    for start in range(first, last, TILE):
        n = min(TILE, last - start)
        lanes[:] = 0.0
        for j in range(w.size):
            column, lane, w_j = columns[j, start : start + n], lanes[j % LANES], w[j]
            for k in range(column.size):
                lane[k] += column[k] * w_j
        for k in range(n):
            out[start + k] = add_lanes(
                lanes[0, k], lanes[1, k], lanes[2, k], lanes[3, k], lanes[4, k], lanes[5, k], lanes[6, k], lanes[7, k]
            )


@kernel
def scores_of_sparse(data: Any, indices: Any, indptr: Any, w: Any, first: int, last: int, lanes: Any, out: Any) -> None:
    """The same for X in CSR with rising column indices; `lanes` as before. O(non-zeros)."""
    lane, last_lane, apart = lanes[0], np.uint64(LANES - 1), np.uint64(APART)
    for i in range(first, last):
        for k in range(LANES):
            lane[k * APART] = 0.0
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[k])
            lane[(j & last_lane) * apart] += data[k] * w[j]
        out[i] = add_lanes(
            lane[0 * APART], lane[1 * APART], lane[2 * APART], lane[3 * APART],
            lane[4 * APART], lane[5 * APART], lane[6 * APART], lane[7 * APART],
        )  # fmt: skip
