"""Exact Hessians X^T L X of blocks of rankings, for dense features.

Where phi'' is a sum of steps, as for losses made of squared hinges, one sweep by falling score adds up feature vectors
in a tree (`kernels/smooth.py`). For other losses it takes a Hessian product a column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._preferences import FloatArray, Rankings
from .._work import Work
from ..kernels import active, smooth
from ..kernels._vector import ROW_LANES
from ..kernels.ordering import group_rows, order_within
from ..losses._base import Steps

#: Entries of the rows for which a part of the exact Hessian is built at a time: they stay in the cache.
HESSIAN_ENTRIES = 1 << 16
#: Entries of the units' gradients at a time.
OUTER_ENTRIES = 1 << 20


def half_hessian(X: Any, unit: FloatArray, s: FloatArray, rankings: Rankings, steps: Steps, work: Work) -> FloatArray:
    """T with T + T^T = X^T L X for one block at scores s, the columns of X divided by `unit`; X is not copied.

    O(members (d^2 + d log k)), as many members at a time as stay in the cache.
    """
    p, d = rankings, X.shape[1]
    root = 1.0 / np.sqrt(unit)
    ranking = np.repeat(np.arange(p.n_rankings), np.diff(p.ranking_ptr))
    sweep = order_within(ranking, p.n_rankings, s)
    members = p.row, p.level_numbers(), p.member_weights, _partner_weights(s, p, steps, work)
    n_levels = np.diff(p.ranking_levels)
    width = -(-d // ROW_LANES) * ROW_LANES  # features, then zeros
    step = max(16, HESSIAN_ENTRIES // width)
    T, state = np.zeros((d, d)), np.zeros(len(steps[0]) + 1, dtype=np.int64)
    shapes = {"rows": step + 1, "E": step, "tree": int(n_levels.max()) + 1}
    rows, E, tree = (
        work.take(f"Hessian {name}", k * width, np.float64).reshape(k, width) for name, k in shapes.items()
    )
    for start in range(0, p.n_members, step):
        end = min(start + step, p.n_members)
        places = start, end, tree, state, rows, E
        smooth.half_hessian(X, root, (sweep.value, sweep.row), members, (sweep.ptr, n_levels, p.u), steps, *places)
        T += rows[: end - start, :d].T @ E[: end - start, :d]
    return T


def _partner_weights(s: FloatArray, p: Rankings, steps: Steps, work: Work) -> FloatArray:
    """Sum of 2 a v_j over each member's active partners."""
    n, c, d = np.zeros(s.size), np.empty(s.size), np.empty(s.size)
    for a, m in zip(*steps, strict=True):
        active.active_counts(s, p, m, c, d, work)
        n += 2.0 * a * (c + d)
    return n


def hessian_by_columns(product: Callable[[FloatArray], FloatArray], X: Any, unit: FloatArray) -> FloatArray:
    """X^T L X for dense features X / unit; `product` gives X^T L x for each column x of them."""
    d = X.shape[1]
    H = np.empty((d, d))
    for j in range(d):
        H[j] = product(np.divide(X[:, j], unit[j], dtype=np.float64))
    return 0.5 * (H + H.T)


def sum_of_squares(X: Any, g: FloatArray, unit: NDArray[np.int64], n_units: int) -> FloatArray:
    """Sum over units q of a_q a_q^T with a_q the sum of g_i x_i over its rows: some units at a time."""
    d = X.shape[1]
    row, ptr = group_rows(unit, n_units)
    row = np.arange(g.size) if row is None else row
    total, step = np.zeros((d, d)), max(1, OUTER_ENTRIES // max(d, 1))
    for first in range(0, n_units, step):
        ends = ptr[first : first + step + 1]
        here = row[ends[0] : ends[-1]]
        select = sp.csr_array((g[here], np.arange(here.size), ends - ends[0]), shape=(ends.size - 1, here.size))
        a = select @ X[here]
        a = a.toarray() if sp.issparse(a) else a
        total += a.T @ a
    return total
