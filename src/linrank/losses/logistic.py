"""The pairwise logistic loss, phi(z) = log(1 + e^-z), without enumerating the pairs: RankNCG, section 3, made exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._data import RankingData
from .._preferences import FloatArray, IntArray, Preferences
from ..kernels import active
from ..kernels import logistic as kernels
from ..kernels._scratch import Scratch
from ._base import Curvature, Loss, LossPoint, Map, evaluate_blocks, multiply_blocks, split_block


@dataclass(frozen=True)
class Logistic(Loss):
    """Mean of log(1 + e^-(s_i - s_j)) to 3e-12, in O(m log m) for any real-valued utilities: one sort, two sweeps."""

    name: ClassVar[str] = "logistic"
    hessian_by_columns: ClassVar[bool] = True

    @property
    def value_at_zero(self) -> float:
        """phi(0)."""
        return float(np.log(2.0))

    def at(self, scores: FloatArray, data: RankingData, map: Map = map) -> LossPoint:
        """Value and gradient at the scores, with their curvature for Hessian products."""
        p = data.preferences

        def evaluate(s: FloatArray, block: int, g: FloatArray, scratch: Scratch) -> _Block:
            return _evaluate_block(s, p, block, g, scratch)

        s, gradient, blocks = evaluate_blocks(scores, p, map, evaluate)
        value, spread = sum(b.value for b in blocks), sum(b.spread for b in blocks)
        error = kernels.ERROR + 4.0 * float(np.finfo(np.float64).eps) * spread / p.total
        return LossPoint(value / p.total, gradient, LogisticCurvature(s, p, [b.long for b in blocks], map), error)


@dataclass(frozen=True)
class _Block:
    """What evaluating a block of rankings gave."""

    value: float
    spread: float  # sum of the absolute values which cancel in it
    long: list[SortedPairs]


def _evaluate_block(s: FloatArray, p: Preferences, block: int, g: FloatArray, scratch: Scratch) -> _Block:
    short, long = split_block(p, block, active.SHORT_LOGISTIC)
    value, spread, kept = 0.0, 0.0, []
    if short.size:
        shape = p.level_ptr, p.ranking_levels, short
        up, down = (scratch.take(name, s.size, np.float64) for name in ("up", "down"))
        value += kernels.logistic_direct(s, p.member_weights, p.u, *shape, g, up, down)
    for r in long:
        start, end = p.ranking_ptr[r : r + 2]
        levels = p.level_ptr[p.ranking_levels[r] : p.ranking_levels[r + 1] + 1] - start
        pairs = SortedPairs(int(r), s[start:end], p.member_weights[start:end], levels, scratch)
        value += float(p.u[r]) * pairs.value
        spread += float(p.u[r]) * pairs.spread
        np.multiply(p.u[r], pairs.gradient, out=g[start:end])
        kept.append(pairs)
    return _Block(value, spread, kept)


class SortedPairs:
    """One ranking's logistic sums: over all its pairs, less those within levels (see `kernels/logistic.py`)."""

    def __init__(self, ranking: int, s: FloatArray, v: FloatArray, levels: IntArray, scratch: Scratch) -> None:
        order, sorted_s = active.sort_scores(s, scratch)
        self.ranking, self.v, self.order = ranking, v, order.copy()
        self.everything = np.array([0, s.size])
        self.levels = levels
        centred = sorted_s - sorted_s[s.size // 2]
        self.by_level: IntArray | None = None  # sorted positions, level by level; None if no level has two members
        if levels.size - 1 < s.size:
            self.by_level = np.empty(s.size, dtype=np.int32)
            kernels.to_levels(self.order, levels, 0, np.empty(levels.size - 1, dtype=np.int64), self.by_level)
        self._sum(centred, v[order], scratch)

    def _sum(self, s: FloatArray, v: FloatArray, scratch: Scratch) -> None:
        """Value and gradient, the ranking's weight u left out."""
        self.x, T = _gaps(self.everything, s), np.empty(s.size)
        even = _pair_sums(self.everything, s, self.x, v, T)
        if self.by_level is not None:
            within, s_within = np.empty(s.size), s[self.by_level]
            self.x_within = _gaps(self.levels, s_within)
            even -= _pair_sums(self.levels, s_within, self.x_within, v[self.by_level], within)
            T[self.by_level] -= within
        balance = np.empty(s.size)
        kernels.level_balance(self.levels, 0, self.v, balance)
        linear = v * s * balance[self.order]
        self.value = float(linear.sum()) + even
        self.spread = float(np.abs(linear).sum()) + abs(even)
        balance[self.order] += T
        self.gradient = self.v * balance

    def second(self, q: FloatArray) -> FloatArray:
        """Sum of q_j sigma'(s_i - s_j) over the partners of each member at other levels."""
        sums, q = np.empty(q.size), q[self.order]
        _second_sums(self.everything, self.x, q, sums)
        if self.by_level is not None:
            within = np.empty(q.size)
            _second_sums(self.levels, self.x_within, q[self.by_level], within)
            sums[self.by_level] -= within
        answer = np.empty(q.size)
        answer[self.order] = sums
        return answer

    @cached_property
    def n(self) -> FloatArray:
        """Sum of v_j sigma'(s_i - s_j) over the partners of each member."""
        return self.second(self.v)


def _gaps(ptr: IntArray, s: FloatArray) -> FloatArray:
    x = np.empty(s.size)
    kernels.gaps(ptr, s, x)
    return x


def _pair_sums(ptr: IntArray, s: FloatArray, x: FloatArray, q: FloatArray, T: FloatArray) -> float:
    states = np.empty((2, kernels.SLOPE.size))
    return float(kernels.pair_sums(ptr, s, x, q, kernels.SLOPE, kernels.VALUE, states[0], states[1], T))


def _second_sums(ptr: IntArray, x: FloatArray, q: FloatArray, out: FloatArray) -> None:
    states = np.empty((2, kernels.SLOPE.size))
    kernels.second_sums(ptr, x, q, kernels.SECOND, states[0], states[1], out)


@dataclass(frozen=True)
class LogisticCurvature(Curvature):
    """The Laplacian with weights c_ij sigma'(s_i - s_j) at given scores."""

    s: FloatArray  # in the members' order
    p: Preferences
    long: list[list[SortedPairs]]  # of each block
    map: Map

    def product(self, V: FloatArray) -> FloatArray:
        """L V for a vector over the rows, or for a block of them as columns."""
        return multiply_blocks(V, self.p, self.map, self._multiply)

    def _multiply(self, block: int, V: FloatArray, out: FloatArray, scratch: Scratch) -> None:
        p, v = self.p, self.p.member_weights
        short, _ = split_block(p, block, active.SHORT_LOGISTIC)
        if short.size:
            up, down = (scratch.take(name, V.size, np.float64) for name in ("up", "down"))
            shape = p.level_ptr, p.ranking_levels, short
            kernels.logistic_laplacian_direct(self.s, v, p.u, *shape, V, out, up, down)
        for pairs in self.long[block]:
            start, end = p.ranking_ptr[pairs.ranking : pairs.ranking + 2]
            here = V[start:end] - V[start]  # constants are annihilated: without one, less cancels
            S = pairs.second(pairs.v * here)
            np.multiply(p.u[pairs.ranking] * pairs.v, pairs.n * here - S, out=out[start:end])

    def hessian(self, X: Any, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X for dense features X / scale, a product for each column."""
        unit = np.ones(X.shape[1]) if scale is None else scale
        H = np.empty((X.shape[1], X.shape[1]))
        for j in range(X.shape[1]):
            H[j] = (self.product(X[:, j] / unit[j]) @ X) / unit
        return 0.5 * (H + H.T)
