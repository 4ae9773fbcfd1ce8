"""Losses made of squared hinges: the squared hinge itself, and the Huberised hinge.

squared_hinge   phi(z) = max(0, 1 - z)^2                                       P-SWX, section 2
HuberHinge(mu)  the hinge with its kink rounded off over a width mu: smooth, and within mu/2 of the hinge
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._data import RankingData
from .._preferences import FloatArray, Preferences
from ..kernels import active, smooth
from ..kernels._scratch import Scratch
from ..kernels.sorting import sort_scores
from ._base import Curvature, Loss, LossPoint, Map, count_active, evaluate_blocks, multiply_blocks, split_block


@dataclass(frozen=True)
class SquaredHinges(Loss):
    """Mean of sum_k a_k max(0, m_k - (s_i - s_j))^2."""

    a: tuple[float, ...] = (1.0,)
    m: tuple[float, ...] = (1.0,)
    name: ClassVar[str] = "squared_hinge"

    @property
    def value_at_zero(self) -> float:
        """phi(0)."""
        return sum(a * max(0.0, m) ** 2 for a, m in zip(self.a, self.m, strict=True))

    def at(self, scores: FloatArray, data: RankingData, map: Map = map) -> LossPoint:
        """Value and gradient at the scores, with their curvature for Hessian products."""
        p, terms = data.preferences, (self.a, self.m)

        def evaluate(s: FloatArray, block: int, g: FloatArray, scratch: Scratch) -> tuple[float, list[_Long]]:
            return _evaluate_block(s, p, block, terms, g, scratch)

        s, gradient, answers = evaluate_blocks(scores, p, map, evaluate)
        value, long = sum(value for value, _ in answers), [kept for _, kept in answers]
        return LossPoint(value / p.total, gradient, PairCurvature(s, p, terms, long, map))


class SquaredHinge(SquaredHinges):
    """Mean of max(0, 1 - (s_i - s_j))^2, in O(m log m)."""


@dataclass(frozen=True)
class HuberHinge(SquaredHinges):
    """The hinge with its kink rounded off over a width mu: 0 above 1, 1 - z - mu/2 below 1 - mu, a parabola between."""

    name: ClassVar[str] = "huber_hinge"

    @staticmethod
    def of_width(mu: float) -> HuberHinge:
        """The loss for one width."""
        return HuberHinge((0.5 / mu, -0.5 / mu), (1.0, 1.0 - mu))


#: Members for which a part of the exact Hessian is built at a time: their rows stay in the cache.
BATCH = 2048

Terms = tuple[tuple[float, ...], tuple[float, ...]]


class _Long(NamedTuple):
    """One term of a long ranking as it was evaluated: what its Hessian products need."""

    ranking: int
    a: float
    view: active.SortedRanking
    n: FloatArray  # weight of each member's active partners


def _evaluate_block(
    s: FloatArray, p: Preferences, block: int, terms: Terms, g: FloatArray, scratch: Scratch
) -> tuple[float, list[_Long]]:
    short, long = split_block(p, block, active.SHORT_TO_SUM)
    value, kept = 0.0, []
    if short.size:
        value += smooth.smooth_direct(s, p.member_weights, p.u, p.level_ptr, p.ranking_levels, short, *terms, g)
    for r in long:
        start, end = p.ranking_ptr[r : r + 2]
        levels = p.level_ptr[p.ranking_levels[r] : p.ranking_levels[r + 1] + 1]
        v = p.member_weights[start:end]
        order, sorted_s = sort_scores(s[start:end], scratch)
        # The median: one score far out would move a mean, and with it the digits of all the others.
        centred = s[start:end] - sorted_s[(end - start) // 2]
        g[start:end] = 0.0
        for a, m in zip(*terms, strict=True):
            view = active.SortedRanking(order, sorted_s, levels, int(start), m, scratch)
            c, d = view.sums(None if p.v is None else v, scratch)
            S = np.add(*view.sums(v * centred, scratch))
            value += smooth.squared_sums(centred, v, p.u[r], a, m, c, d, S, g[start:end])
            kept.append(_Long(int(r), float(a), view.kept(), c + d))
    return value, kept


@dataclass(frozen=True)
class PairCurvature(Curvature):
    """The Laplacian of the active pairs at given scores."""

    s: FloatArray  # in the members' order
    p: Preferences
    terms: Terms
    long: Sequence[list[_Long]]  # of each block
    map: Map

    def product(self, V: FloatArray) -> FloatArray:
        """L V for a vector over the rows, or for a block of them as columns."""
        return multiply_blocks(V, self.p, self.map, self._multiply)

    def _multiply(self, block: int, V: FloatArray, out: FloatArray, scratch: Scratch) -> None:
        p, v = self.p, self.p.member_weights
        short, long = split_block(p, block, active.SHORT_TO_SUM)
        if short.size:
            smooth.laplacian_direct(self.s, v, p.u, p.level_ptr, p.ranking_levels, short, *self.terms, V, out)
        for r in long:
            out[p.ranking_ptr[r] : p.ranking_ptr[r + 1]] = 0.0
        for r, a, view, n in self.long[block]:
            start, end = p.ranking_ptr[r : r + 2]
            S = np.add(*view.sums(v[start:end] * V[start:end], scratch))
            smooth.laplacian_sums(v[start:end], p.u[r], a, n, V[start:end], S, out[start:end])

    def hessian(self, X: Any, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X for dense features X / scale of the rows, ranking by ranking: O(members (d^2 + d log k))."""
        total, n = np.zeros((X.shape[1], X.shape[1])), self._partner_weights()
        for T in self.map(lambda block: self._half_hessian(X, scale, n, block), range(self.p.n_blocks)):
            total += T
        return total + total.T

    def _half_hessian(self, X: Any, scale: FloatArray | None, n: FloatArray, block: int) -> FloatArray:
        """T of kernels/smooth.py for the rankings of a block, a few thousand members at a time."""
        p, v, d = self.p, self.p.member_weights, X.shape[1]
        T = np.zeros((d, d))
        for first, last in self._batches(block):
            members = slice(p.ranking_ptr[first], p.ranking_ptr[last])
            levels = p.ranking_levels[first : last + 1]
            D, tree = np.empty((members.stop - members.start, d)), np.empty((int(np.diff(levels).max()) + 1, d))
            smooth.loser_sums(X, p.row, self.s, v, p.level_ptr, levels, self.terms, tree, D)
            rows = X[p.row[members]].astype(np.float64, copy=False)
            weight = np.repeat(p.u[first:last] / p.total, np.diff(p.ranking_ptr[first : last + 1])) * v[members]
            if scale is not None:  # before anything is squared: features may lie near the ends of the range
                rows, D = rows / scale, D / scale
            D -= (0.5 * n[members])[:, None] * rows
            T -= rows.T @ (weight[:, None] * D)
        return T

    def _batches(self, block: int) -> list[tuple[int, int]]:
        """Rankings of a block, cut about BATCH members apart."""
        p = self.p
        first, last = int(p.blocks[block]), int(p.blocks[block + 1])
        number = (p.ranking_ptr[first:last] - p.ranking_ptr[first]) // BATCH
        cuts = first + np.flatnonzero(np.r_[True, number[1:] != number[:-1]])
        return list(zip(cuts.tolist(), [*cuts[1:].tolist(), last], strict=True))

    def _partner_weights(self) -> FloatArray:
        """Sum of 2 a v_j over each member's active partners."""
        p = self.p
        n, c, d = np.zeros(self.s.size), np.empty(self.s.size), np.empty(self.s.size)

        def count(block: int) -> None:
            first, last = int(p.blocks[block]), int(p.blocks[block + 1])
            here = slice(p.ranking_ptr[first], p.ranking_ptr[last])
            for a, m in zip(*self.terms, strict=True):
                count_active(self.s, p, first, last, m, c, d)
                n[here] += 2.0 * a * (c[here] + d[here])

        for _ in self.map(count, range(p.n_blocks)):
            pass
        return n
