"""Losses phi(z) = -z/2 + psi(|z|): sums over all pairs, less those within levels.

The linear part of such a loss has coefficients that never change. The other part is even, so it does not ask who wins:
its sum over pairs of different levels is that over *all* pairs minus that over pairs within levels, whatever the number
of levels. Long rankings are summed in that way; short ones pair by pair. The difference loses digits where most of the
weight stands at one level: errors are told by `Sums.error` and `Sums.gradient_error`, and a loss may sum two levels
against each other without it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from .._once import cached_property
from .._typing import FloatArray, IntArray
from .._work import Work
from ..data import active
from ..data.ordering import sort_padded
from ..data.rankings import Rankings
from ..kernels.even import add_sorted, level_balance, linear_sums, to_levels
from ..kernels.hinge import gather, scatter_add
from ._base import Loss, LossPoint, Sums
from ._curvature import LongRanking, PairCurvature

EPS = float(np.finfo(np.float64).eps)


class Members(NamedTuple):
    """One ranking: its number and weight, its members' scores and weights, and where their levels begin."""

    ranking: int
    u: float
    s: FloatArray
    v: FloatArray
    levels: IntArray


class EvenPairs(LongRanking):
    """One ranking, sorted by scores and evaluated; its gradient is in g."""

    def __init__(self, of: Members, g: FloatArray, work: Work) -> None:
        found = sort_padded(of.s, work)
        s, self.free = found.s, found.free
        self.ranking, self.v, self.order, self.levels = of.ranking, of.v, found.order.copy(), of.levels
        self.whole, self.middle = np.array([0, s.size]), float(s[s.size // 2])
        s -= self.middle  # in the work, as what else only this evaluation needs
        self.by_level: IntArray | None = None  # sorted positions, level by level; None if no level has two members
        if of.levels.size - 1 < s.size:
            self.by_level = np.empty(s.size, dtype=np.int32)
            level, cursor = work.take(self.free, 2 * s.size, np.int32).reshape(2, -1)
            to_levels(self.order, of.levels, 0, level, cursor, self.by_level)
        self.prepare(s)
        self.sums = self._evaluate(of, s, g, work)

    def mixed_weight(self) -> float:
        """Sum over members of the weights that their sums are made of, those that cancel included."""
        return float(self.v.sum()) ** 2

    def series_error(self, size: float) -> float:
        """Error beyond rounding of the value, `size` the sum of v |s|; with 0, of the gradient's entries summed up."""
        return 0.0

    @abstractmethod
    def prepare(self, s: FloatArray) -> None:
        """What all sums at these scores need, s in order; without pairs to be taken off, `by_level` becomes None."""

    @abstractmethod
    def first_sums(self, within: bool, s: FloatArray, v: FloatArray, T: FloatArray) -> float:
        """Sum of v_i v_j psi(|s_i - s_j|) over all pairs, or those within levels; T becomes its derivative over v.

        Scores and weights stand in order of score, or by level.
        """

    @abstractmethod
    def second_sums(self, within: bool, q: FloatArray, out: FloatArray) -> None:
        """Sums of q_j psi''(|s_i - s_j|) over all j but i, or those at the level of i."""

    def _even_sums(self, s: FloatArray, v: FloatArray, T: FloatArray, work: Work) -> tuple[float, float]:
        """The even part, T its derivative over v, and the size of all that was added up; s and v in order of score."""
        even = self.first_sums(False, s, v, T)
        if self.by_level is None:
            return even, abs(even)
        scores, within = (work.take(name, s.size, np.float64) for name in (self.free, "even sums by level"))
        gather(self.by_level, s, 0, s.size, scores)
        less = self.first_sums(True, scores, v if v is self.v else v[self.by_level], within)
        scatter_add(self.by_level, within, -1.0, 0, s.size, T)
        return even - less, abs(even) + abs(less)

    def _evaluate(self, of: Members, s: FloatArray, g: FloatArray, work: Work) -> Sums:
        """Value and errors, times u, and the gradient to g; s are the scores in order."""
        u, T = of.u, work.take("even sums", s.size, np.float64)
        equal = bool(np.all(self.v == self.v[0]))  # then they need not be brought into order
        even, size = self._even_sums(s, self.v if equal else self.v[self.order], T, work)
        level_balance(self.levels, 0, self.v, g)
        linear, linear_size, moment = linear_sums(of.s, self.middle, self.v, g)
        add_sorted(self.order, T, self.v, u, g)
        # Sums of n numbers err by about sqrt(n) units of their size.
        unit = 4.0 * EPS * np.sqrt(s.size)
        error = unit * (linear_size + size) + self.series_error(moment)
        gradient_error = unit * self.mixed_weight() + self.series_error(0.0)
        return Sums(u * (linear + even), 0.0, u * error, u * gradient_error)

    def turn(self, u: float, s: FloatArray, V: FloatArray, out: FloatArray, work: Work) -> None:
        """As the gradient, u v times a sum of v phi' over partners, but with v V in the place of that v."""
        q, T, ordered = self.v * V, work.take("even sums", V.size, np.float64), s[self.order]
        ordered -= self.middle
        self._even_sums(ordered, q[self.order], T, work)
        level_balance(self.levels, 0, q, out)
        add_sorted(self.order, T, self.v, u, out)

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

    def multiply(self, u: float, V: FloatArray, out: FloatArray, work: Work) -> None:
        """Laplacian times V."""
        here = V - V[0]  # constants are annihilated: without one, less cancels
        np.multiply(u * self.v, self.n * here - self.second(self.v * here), out=out)


class EvenLoss(Loss):
    """A loss phi(z) = -z/2 + psi(|z|)."""

    phi_0: ClassVar[float]  # phi(0)

    @abstractmethod
    def direct(self, s: FloatArray, p: Rankings, short: IntArray, g: FloatArray, work: Work) -> float:
        """Value and gradient of short rankings, pair by pair."""

    @abstractmethod
    def direct_product(
        self, s: FloatArray, p: Rankings, short: IntArray, V: FloatArray, out: FloatArray, work: Work
    ) -> None:
        """The Hessian of short rankings times V, pair by pair."""

    @abstractmethod
    def pairs(self, of: Members, g: FloatArray, work: Work) -> EvenPairs:
        """A long ranking, evaluated; its gradient goes to g."""

    @property
    def own_error(self) -> float:
        """How far its values are from those of the loss it stands for."""
        return 0.0

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Value and gradient of one block, with the curvature for Hessian products."""
        p, g = rankings, np.empty(rankings.n_members)
        short, long = p.split(active.TUNING.short_logistic)
        value, error, gradient_error = 0.0, self.own_error * p.weight, 0.0
        if short.size:
            value += self.direct(scores, p, short, g, work)
        kept = []
        for r in long:
            here = p.members(r)
            of = Members(int(r), float(p.u[r]), scores[here], p.member_weights[here], p.levels(r) - here.start)
            pairs = self.pairs(of, g[here], work)
            value += pairs.sums.value
            error += pairs.sums.error
            gradient_error += pairs.sums.gradient_error
            kept.append(pairs)
        curvature = PairCurvature(scores, p, short, self.direct_product, self.direct, kept)
        return LossPoint(Sums(value, p.weight, error, gradient_error), g, curvature)

    def at_zero(self, rankings: Rankings, work: Work) -> Sums:
        """N phi(0)."""
        return Sums(self.phi_0 * rankings.weight, rankings.weight)
