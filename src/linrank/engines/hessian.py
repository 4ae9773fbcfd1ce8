"""Exact Hessians X^T L X of blocks of rankings, for dense features.

Where phi'' is a sum of steps, as for losses made of squared hinges, one sweep by falling score adds up feature vectors
in a tree (`kernels/smooth.py`). For other losses it takes a Hessian product a column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from .._work import Work
from ..data import active
from ..data.ordering import order_within
from ..data.rankings import Rankings, sizes
from ..kernels import differences, smooth
from ..kernels._vector import ROW_LANES
from ..losses import Curvature
from ..losses._base import Steps


@dataclass(frozen=True)
class Tuning:
    """When a Hessian is made of the differences of active pairs; ``benchmarks/run.py hessian`` prints both ways."""

    looked_at: float = 64.0  # most pairs a member that are looked at
    active: float = 1.5  # most active pairs a member with many features,
    active_narrow: float = 40.0  # and so many over (d + 8) more

    def room(self, members: int, d: int) -> int:
        """Most active pairs of so many members."""
        return int((self.active + self.active_narrow / (d + 8)) * members)


TUNING = Tuning()

#: Entries of the rows for which a part of the exact Hessian is built at a time: they stay in the cache.
HESSIAN_ENTRIES = 1 << 16
FEWEST_ROWS = 256  # though these be more entries: a d x d matrix is added for each part


class Pairs(NamedTuple):
    """Active pairs of a block: members i and j of each, and h = c_ij phi''(s_i - s_j)."""

    winner: IntArray
    loser: IntArray
    h: FloatArray


def half_hessian(X: Any, unit: FloatArray, s: FloatArray, rankings: Rankings, steps: Steps, work: Work) -> FloatArray:
    """T with T + T^T = X^T L X for one block at scores s, the columns of X divided by `unit`; X is not copied.

    By the differences of active pairs where those are few, else by a sweep.
    """
    pairs = active_pairs(s, X.shape[1], rankings, steps, work)
    return by_sweep(X, unit, s, rankings, steps, work) if pairs is None else by_pairs(X, unit, rankings, pairs, work)


def active_pairs(s: FloatArray, d: int, rankings: Rankings, steps: Steps, work: Work) -> Pairs | None:
    """The active pairs of a block; None where there are so many, or so many to look at, that a sweep is faster."""
    p, n_pairs = rankings, int(rankings.pairs.sum())
    if n_pairs > TUNING.looked_at * p.n_members:
        return None
    room = min(n_pairs, TUNING.room(p.n_members, d))
    winner, loser = (work.take(f"Hessian {name}", room, np.int32) for name in ("winner", "loser"))
    h = work.take("Hessian h", room, np.float64)
    shape = p.level_ptr, p.ranking_levels
    found = differences.list_active_pairs(s, p.member_weights, p.u, *shape, steps, winner, loser, h)
    return None if found < 0 else Pairs(winner[:found], loser[:found], h[:found])


def explicit_pairs(curvature: Curvature, rankings: Rankings, work: Work) -> Pairs:
    """The pairs of a block whose rankings have two members each, whatever the loss: L times the winners' indicator."""
    loser, winner = np.arange(rankings.n_members, dtype=np.int32).reshape(-1, 2).T
    wins = np.tile([0.0, 1.0], rankings.n_rankings)
    h = curvature.product(wins, work)[1::2]
    active = h > 0.0
    return Pairs(winner[active], loser[active], h[active])


def by_pairs(X: Any, unit: FloatArray, rankings: Rankings, pairs: Pairs, work: Work) -> FloatArray:
    """T with T + T^T = D^T D, the rows of D sqrt(h) (x_i - x_j): O(d^2) a pair, some pairs at a time."""
    d = X.shape[1]
    root, step = 1.0 / np.sqrt(unit), _rows_at_a_time(d)
    T, part = np.zeros((d, d)), work.take("Hessian part", d * d, np.float64).reshape(d, d)
    D = work.take("Hessian rows", step * d, np.float64).reshape(step, d)
    for start in range(0, pairs.h.size, step):
        end = min(start + step, pairs.h.size)
        differences.differences(X, root, rankings.row, *pairs, start, end, D)
        here = D[: end - start]
        T += np.matmul(here.T, here, out=part)  # BLAS computes half of it
    T *= 0.5
    return T


def by_sweep(X: Any, unit: FloatArray, s: FloatArray, rankings: Rankings, steps: Steps, work: Work) -> FloatArray:
    """T with T + T^T = X^T L X. O(members (d^2 + d log k)), as many members at a time as stay in the cache."""
    p, d = rankings, X.shape[1]
    ranking = np.arange(p.n_rankings).repeat(sizes(p.ranking_ptr))
    sweep = order_within(ranking, p.n_rankings, s)
    members = p.row, p.level_numbers(), p.member_weights, _partner_weights(s, p, steps, work)
    n_levels = sizes(p.ranking_levels)
    width = -(-d // ROW_LANES) * ROW_LANES  # features, then zeros
    root, step = 1.0 / np.sqrt(unit), _rows_at_a_time(width)
    T, state = np.zeros((d, d)), np.zeros(len(steps[0]) + 1, dtype=np.int64)
    part = work.take("Hessian part", d * d, np.float64).reshape(d, d)
    shapes = {"rows": step + 1, "E": step, "tree": int(n_levels.max()) + 1}
    rows, E, tree = (
        work.take(f"Hessian {name}", k * width, np.float64).reshape(k, width) for name, k in shapes.items()
    )
    for start in range(0, p.n_members, step):
        places = start, min(start + step, p.n_members), tree, state, rows, E
        sweeps = (sweep.value, sweep.row), members, (sweep.ptr, n_levels, p.u), steps
        n = smooth.half_hessian(X, root, *sweeps, *places)
        T += np.matmul(rows[:n, :d].T, E[:n, :d], out=part)
    return T


def _rows_at_a_time(width: int) -> int:
    return max(FEWEST_ROWS, HESSIAN_ENTRIES // width)


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
