"""Losses phi(z) = -z/2 + psi(|z|): sums over all pairs, less those within levels.

The linear part of such a loss has coefficients that never change. The other part is even, so it does not ask who wins:
its sum over pairs of different levels is that over *all* pairs minus that over pairs within levels, whatever the number
of levels. Long rankings are summed in that way; short ones pair by pair. The difference loses digits where most of the
weight stands at one level: errors are told by `LossPoint.error` and `gradient_error`, and a loss may sum two levels
against each other without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._data import RankingData
from .._once import cached_property
from .._preferences import FloatArray, IntArray, Preferences
from ..kernels import active
from ..kernels._scratch import Scratch
from ..kernels.hinge import scatter_add
from ..kernels.logistic import level_balance, to_levels
from ..kernels.sorting import sort_scores
from ._base import Curvature, Loss, LossPoint, Map, evaluate_blocks, members_of, multiply_blocks, split_block

EPS = float(np.finfo(np.float64).eps)
#: A gradient's error below this is less than what rounding does to X^T g, and not worth a pass over X for its bound.
TELL = 1e-11


class EvenPairs(ABC):
    """One ranking, sorted by scores: value and gradient of the loss without the ranking's weight u."""

    def __init__(self, ranking: int, s: FloatArray, v: FloatArray, levels: IntArray, scratch: Scratch) -> None:
        order, sorted_s = sort_scores(s, scratch)
        self.ranking, self.v, self.order, self.levels = ranking, v, order.copy(), levels
        self.whole = np.array([0, s.size])
        self.s = sorted_s - sorted_s[s.size // 2]
        self.by_level: IntArray | None = None  # sorted positions, level by level; None if no level has two members
        if levels.size - 1 < s.size:
            self.by_level = np.empty(s.size, dtype=np.int32)
            to_levels(self.order, levels, 0, np.empty(levels.size - 1, dtype=np.int64), self.by_level)
        self.prepare()
        self._sum(s - sorted_s[s.size // 2])

    def mixed_weight(self) -> float:
        """Sum over members of the weights that their sums are made of, those that cancel included."""
        return float(self.v.sum()) ** 2

    def series_error(self, size: float) -> float:
        """Error beyond rounding of the value, `size` the sum of v |s|; with 0, of the gradient's entries summed up."""
        return 0.0

    @abstractmethod
    def prepare(self) -> None:
        """What all sums at these scores need."""

    @abstractmethod
    def first_sums(self, within: bool, v: FloatArray, T: FloatArray) -> float:
        """Sum of v_i v_j psi(|s_i - s_j|) over all pairs, or those within levels; T becomes its derivative over v."""

    @abstractmethod
    def second_sums(self, within: bool, q: FloatArray, out: FloatArray) -> None:
        """Sums of q_j psi''(|s_i - s_j|) over all j but i, or those at the level of i."""

    def _sum(self, s: FloatArray) -> None:
        """Value and gradient; s are centred scores in the members' order."""
        equal = bool(np.all(self.v == self.v[0]))  # then they need not be brought into order
        v, T = self.v if equal else self.v[self.order], np.empty(s.size)
        even = self.first_sums(False, v, T)
        size = abs(even)  # of all that is added up
        if self.by_level is not None:
            within = np.empty(T.size)
            less = self.first_sums(True, v if equal else v[self.by_level], within)
            scatter_add(self.by_level, within, -1.0, 0, T.size, T)
            even, size = even - less, size + abs(less)
        slope = np.empty(T.size)
        level_balance(self.levels, 0, self.v, slope)
        linear = self.v * s * slope
        self.value = float(linear.sum()) + even
        # Sums of n numbers err by about sqrt(n) units of their size.
        unit = 4.0 * EPS * np.sqrt(T.size)
        self.error = unit * (float(np.abs(linear).sum()) + size) + self.series_error(float(np.abs(self.v * s).sum()))
        self.gradient_error = unit * self.mixed_weight() + self.series_error(0.0)
        scatter_add(self.order, T, 1.0, 0, T.size, slope)
        self.gradient = self.v * slope

    def second(self, q: FloatArray) -> FloatArray:
        """Sum of q_j phi''(s_i - s_j) over the partners of each member, those at other levels."""
        sums, q = np.empty(q.size), q[self.order]
        self.second_sums(False, q, sums)
        if self.by_level is not None:
            within = np.empty(q.size)
            self.second_sums(True, q[self.by_level], within)
            scatter_add(self.by_level, within, -1.0, 0, sums.size, sums)
        answer = np.empty(q.size)
        answer[self.order] = sums
        return answer

    @cached_property
    def n(self) -> FloatArray:
        """Sum of v_j phi''(s_i - s_j) over the partners of each member."""
        return self.second(self.v)


@dataclass(frozen=True)
class _Block:
    """What evaluating a block of rankings gave."""

    value: float
    long: list[EvenPairs]
    error: float  # of the value
    gradient_error: float  # of the gradient's entries, summed up


class EvenLoss(Loss):
    """A loss phi(z) = -z/2 + psi(|z|)."""

    hessian_by_columns: ClassVar[bool] = True

    @abstractmethod
    def direct(self, s: FloatArray, p: Preferences, rankings: IntArray, g: FloatArray, scratch: Scratch) -> float:
        """Value and gradient of short rankings, pair by pair."""

    @abstractmethod
    def direct_product(
        self, s: FloatArray, p: Preferences, rankings: IntArray, V: FloatArray, out: FloatArray, scratch: Scratch
    ) -> None:
        """The Hessian of short rankings times V, pair by pair."""

    @abstractmethod
    def pairs(self, ranking: int, s: FloatArray, v: FloatArray, levels: IntArray, scratch: Scratch) -> EvenPairs:
        """A long ranking."""

    @property
    def own_error(self) -> float:
        """How far its values are from those of the loss it stands for."""
        return 0.0

    def at(self, scores: FloatArray, data: RankingData, map: Map = map) -> LossPoint:
        """Value and gradient at the scores, with their curvature for Hessian products."""
        p = data.preferences

        def evaluate(s: FloatArray, block: int, g: FloatArray, scratch: Scratch) -> _Block:
            return self._evaluate_block(s, p, block, g, scratch)

        gradient, blocks = evaluate_blocks(scores, p, map, evaluate)
        value, error, gradient_error = (
            sum(parts) / p.total for parts in zip(*((b.value, b.error, b.gradient_error) for b in blocks), strict=True)
        )
        curvature = EvenCurvature(self, scores, p, [b.long for b in blocks], map)
        if gradient_error < TELL:
            gradient_error = 0.0
        return LossPoint(value, gradient, curvature, self.own_error + error, gradient_error)

    def _evaluate_block(self, s: FloatArray, p: Preferences, block: int, g: FloatArray, scratch: Scratch) -> _Block:
        short, long = split_block(p, block, active.SHORT_LOGISTIC)
        value, kept = 0.0, []
        if short.size:
            value += self.direct(s, p, short, g, scratch)
        for r in long:
            start, end = p.ranking_ptr[r : r + 2]
            levels = p.level_ptr[p.ranking_levels[r] : p.ranking_levels[r + 1] + 1] - start
            pairs = self.pairs(int(r), s[start:end], p.member_weights[start:end], levels, scratch)
            value += float(p.u[r]) * pairs.value
            np.multiply(p.u[r], pairs.gradient, out=g[start:end])
            kept.append(pairs)
        errors = (sum(float(p.u[k.ranking]) * error for k, error in zip(kept, of, strict=True)) for of in _errors(kept))
        return _Block(value, kept, *errors)


def _errors(kept: list[EvenPairs]) -> tuple[list[float], list[float]]:
    return [pairs.error for pairs in kept], [pairs.gradient_error for pairs in kept]


@dataclass(frozen=True)
class EvenCurvature(Curvature):
    """The Laplacian with weights c_ij phi''(s_i - s_j) at given scores."""

    loss: EvenLoss
    scores: FloatArray
    p: Preferences
    long: list[list[EvenPairs]]  # of each block
    map: Map

    @cached_property
    def s(self) -> FloatArray:
        """The scores in the members' order: made when first asked for, as most points are left without."""
        return members_of(self.scores, self.p)

    def product(self, V: FloatArray) -> FloatArray:
        """L V for a vector over the rows, or for a block of them as columns."""
        return multiply_blocks(V, self.p, self.map, self._multiply)

    def _multiply(self, block: int, V: FloatArray, out: FloatArray, scratch: Scratch) -> None:
        p = self.p
        short, _ = split_block(p, block, active.SHORT_LOGISTIC)
        if short.size:
            self.loss.direct_product(self.s, p, short, V, out, scratch)
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
