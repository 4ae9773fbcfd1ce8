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
from .._once import cached_property
from .._preferences import FloatArray, Preferences
from ..kernels import active, smooth
from ..kernels._scratch import Scratch
from ..kernels._vector import ROW_LANES
from ..kernels.counting import count_direct
from ..kernels.ordering import order_within
from ..kernels.sorting import sort_scores
from ._base import Curvature, Loss, LossPoint, Map, evaluate_blocks, members_of, multiply_blocks, split_block


@dataclass(frozen=True)
class SquaredHinges(Loss):
    """Mean of sum_k a_k max(0, m_k - (s_i - s_j))^2: one term, or two of opposite a, the larger margin first."""

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

        def evaluate(s: FloatArray, block: int, g: FloatArray, scratch: Scratch) -> tuple[list[float], list[_Long]]:
            return _evaluate_block(s, p, block, terms, g, scratch)

        gradient, answers = evaluate_blocks(scores, p, map, evaluate)
        value, pull, hinge = (sum(parts) / p.total for parts in zip(*(sums for sums, _ in answers), strict=True))
        curvature = PairCurvature(scores, p, terms, [kept for _, kept in answers], map)
        # Of long rankings, slopes are differences of sums: their rounding is that of the terms.
        long = any(kept for _, kept in answers)
        error = ROUNDING * float(np.abs(self.a).sum()) * (1.0 + hinge) if long else 0.0
        return LossPoint(value, gradient, curvature, pull=pull, hinge=hinge, pull_error=error)


class SquaredHinge(SquaredHinges):
    """Mean of max(0, 1 - (s_i - s_j))^2, in O(m log m)."""


@dataclass(frozen=True)
class HuberHinge(SquaredHinges):
    """The hinge with its kink rounded off over a width mu: 0 above 1, 1 - z - mu/2 below 1 - mu, a parabola between."""

    name: ClassVar[str] = "huber_hinge"

    @staticmethod
    def of_width(mu: float) -> HuberHinge:
        """The loss for one width, or the nearest by which 1 and 1 - mu differ exactly: slopes must not exceed 1."""
        inside = 1.0 - max(mu, float(np.finfo(np.float64).eps))
        mu = 1.0 - inside
        return HuberHinge((0.5 / mu, -0.5 / mu), (1.0, inside))


#: Entries of the rows for which a part of the exact Hessian is built at a time: they stay in the cache.
HESSIAN_ENTRIES = 1 << 16

#: About how far rounding moves sums over pairs of long rankings, relative to the size of their terms.
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)

Terms = tuple[tuple[float, ...], tuple[float, ...]]


def _outer(terms: Terms) -> tuple[float, float, float | None]:
    """The first term, and the margin of the second, which takes away what lies inside."""
    (a, *_), (m, *rest) = terms
    return a, m, rest[0] if rest else None


class _Long(NamedTuple):
    """One term of a long ranking as it was evaluated: what its Hessian products need."""

    ranking: int
    a: float
    view: active.SortedRanking
    n: FloatArray  # weight of each member's active partners


def _evaluate_block(
    s: FloatArray, p: Preferences, block: int, terms: Terms, g: FloatArray, scratch: Scratch
) -> tuple[list[float], list[_Long]]:
    """Sums of c phi, of c (-phi') and of the first term's hinges, and what Hessian products of long rankings need."""
    short, long = split_block(p, block, active.SHORT_TO_SUM)
    sums, kept = np.zeros(3), []
    if short.size:
        sums += smooth.smooth_direct(s, p.v, p.u, p.level_ptr, p.ranking_levels, short, *_outer(terms), g)
    for r in long:
        start, end = p.ranking_ptr[r : r + 2]
        levels = p.level_ptr[p.ranking_levels[r] : p.ranking_levels[r + 1] + 1]
        v = p.member_weights[start:end]
        order, sorted_s = sort_scores(s[start:end], scratch)
        # The median: one score far out would move a mean, and with it the digits of all the others.
        centred = s[start:end] - sorted_s[(end - start) // 2]
        g[start:end] = 0.0
        for k, (a, m) in enumerate(zip(*terms, strict=True)):
            view = active.SortedRanking(order, sorted_s, levels, int(start), m, scratch)
            c, d = view.sums(None if p.v is None else v, scratch)
            S = np.add(*view.sums(v * centred, scratch))
            value, hinge = smooth.squared_sums(centred, v, p.u[r], a, m, c, d, S, g[start:end])
            sums += value, 2.0 * a * hinge, hinge if k == 0 else 0.0
            kept.append(_Long(int(r), float(a), view.kept(), c + d))
        for _ in range(2):  # to 0: what rounding left of their sum would be multiplied by an offset of the features
            g[start:end] -= v * (g[start:end].sum() / v.sum())
    return sums.tolist(), kept


@dataclass(frozen=True)
class PairCurvature(Curvature):
    """The Laplacian of the active pairs at given scores."""

    scores: FloatArray
    p: Preferences
    terms: Terms
    long: Sequence[list[_Long]]  # of each block
    map: Map

    @cached_property
    def s(self) -> FloatArray:
        """The scores in the members' order: made when first asked for, as most points are left without."""
        return members_of(self.scores, self.p)

    def product(self, V: FloatArray) -> FloatArray:
        """L V for a vector over the rows, or for a block of them as columns."""
        return multiply_blocks(V, self.p, self.map, self._multiply)

    def _multiply(self, block: int, V: FloatArray, out: FloatArray, scratch: Scratch) -> None:
        p, v = self.p, self.p.member_weights
        short, long = split_block(p, block, active.SHORT_TO_SUM)
        if short.size:
            smooth.laplacian_direct(self.s, p.v, p.u, p.level_ptr, p.ranking_levels, short, *_outer(self.terms), V, out)
        for r in long:
            out[p.ranking_ptr[r] : p.ranking_ptr[r + 1]] = 0.0
        for r, a, view, n in self.long[block]:
            start, end = p.ranking_ptr[r : r + 2]
            S = np.add(*view.sums(v[start:end] * V[start:end], scratch))
            smooth.laplacian_sums(v[start:end], p.u[r], a, n, V[start:end], S, out[start:end])

    def hessian(self, X: Any, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X for dense features X / scale of the rows: O(members (d^2 + d log k)), no copy of X."""
        d, n = X.shape[1], self._partner_weights()
        root = np.ones(d) if scale is None else 1.0 / np.sqrt(scale)
        total = np.zeros((d, d))
        for T in self.map(lambda block: self._half_hessian(X, root, n, block), range(self.p.n_blocks)):
            total += T
        return total + total.T

    def _half_hessian(self, X: Any, root: FloatArray, n: FloatArray, block: int) -> FloatArray:
        """T of kernels/smooth.py for the rankings of a block, as many members at a time as stay in the cache."""
        p = self.p
        first, last = int(p.blocks[block]), int(p.blocks[block + 1])
        here, sizes = slice(p.ranking_ptr[first], p.ranking_ptr[last]), np.diff(p.ranking_ptr[first : last + 1])
        sweep = order_within(np.repeat(np.arange(last - first), sizes), last - first, self.s[here])
        members = p.row[here], p.level_numbers(first, last), p.member_weights[here], n[here]
        n_levels = np.diff(p.ranking_levels[first : last + 1])
        rankings = sweep.ptr, n_levels, p.u[first:last] / p.total
        d = X.shape[1]
        width = -(-d // ROW_LANES) * ROW_LANES  # features, then zeros
        step = max(16, HESSIAN_ENTRIES // width)
        T, state = np.zeros((d, d)), np.zeros(len(self.terms[0]) + 1, dtype=np.int64)
        with p.scratch.lend() as scratch:
            shapes = {"rows": step + 1, "E": step, "tree": int(n_levels.max()) + 1}
            rows, E, tree = (
                scratch.take(f"Hessian {name}", k * width, np.float64).reshape(k, width) for name, k in shapes.items()
            )
            for start in range(0, here.stop - here.start, step):
                end = min(start + step, here.stop - here.start)
                places = start, end, tree, state, rows, E
                smooth.half_hessian(X, root, (sweep.value, sweep.row), members, rankings, self.terms, *places)
                T += rows[: end - start, :d].T @ E[: end - start, :d]
        return T

    def _partner_weights(self) -> FloatArray:
        """Sum of 2 a v_j over each member's active partners: known for long rankings, counted for short ones."""
        p = self.p
        n, c, d = (np.zeros(self.s.size) for _ in range(3))

        def count(block: int) -> None:
            here = slice(*p.ranking_ptr[p.blocks[block : block + 2]])
            short, _ = split_block(p, block, active.SHORT_TO_SUM)
            for a, m in zip(*self.terms, strict=True):
                if short.size:
                    count_direct(self.s, p.v, p.level_ptr, p.ranking_levels, short, m, c, d)
                    n[here] += 2.0 * a * (c[here] + d[here])
            for long in self.long[block]:
                n[slice(*p.ranking_ptr[long.ranking : long.ranking + 2])] += 2.0 * long.a * long.n

        for _ in self.map(count, range(p.n_blocks)):
            pass
        return n
