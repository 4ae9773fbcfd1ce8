"""Pairs one by one, and the differences of their rows: where few pairs are active, these make the exact Hessian.

With h = c_ij phi''(s_i - s_j) of each active pair (i over j), and D the matrix of rows sqrt(h) (x_i - x_j),
X^T L X = D^T D.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel
from ._vector import prefetch

AHEAD = 4  # pairs
LINE = 8  # entries asked for at a time: a cache line of float64


@kernel
def list_active_pairs(
    s: Any, v: Any, u: Any, level_ptr: Any, ranking_levels: Any, terms: Any, winner: Any, loser: Any, h: Any
) -> int:
    """List the members of all pairs with h = u v_i v_j phi''(s_i - s_j) > 0. How many; -1: more than there is room for.

    phi''(z) is the sum of 2 a_k over the terms with z < m_k. O(pairs).
    """
    a, m = terms
    found = 0
    for r in range(ranking_levels.size - 1):
        start = level_ptr[ranking_levels[r]]
        for level in range(ranking_levels[r] + 1, ranking_levels[r + 1]):
            here = level_ptr[level]
            for i in range(here, level_ptr[level + 1]):
                factor = u[r] * v[i]
                for j in range(start, here):
                    z, second = s[i] - s[j], 0.0
                    for k in range(len(a)):
                        second += 2.0 * a[k] if z < m[k] else 0.0
                    if second > 0.0:
                        if found == winner.size:
                            return -1
                        winner[found], loser[found], h[found] = i, j, factor * v[j] * second
                        found += 1
    return found


@kernel
def differences(
    X: Any, root: Any, row: Any, winner: Any, loser: Any, h: Any, first: int, last: int, D: Any
) -> None:  # fmt: skip
    """Fill D with the rows sqrt(h) (x_i - x_j) of pairs first ... last - 1, columns divided by `scale`. O(d) a pair.

    Features are multiplied by `root` = 1/sqrt(scale) before they are subtracted and after: features and scale may lie
    near the ends of the range.
    """
    for k in range(first, last):
        soon = min(k + AHEAD, winner.size - 1)
        for f in range(0, X.shape[1], LINE):
            prefetch(X, np.int64(row[winner[soon]]) * X.shape[1] + f)
            prefetch(X, np.int64(row[loser[soon]]) * X.shape[1] + f)
        i, j, weight, at = row[winner[k]], row[loser[k]], np.sqrt(h[k]), k - first
        for f in range(X.shape[1]):
            D[at, f] = (X[i, f] * root[f] - X[j, f] * root[f]) * root[f] * weight
