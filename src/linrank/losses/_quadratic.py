"""Losses whose phi is quadratic piece by piece: what the squared hinge and the Huberised hinge share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from .._work import Work
from ..data import active
from ..data.ordering import sort_scores
from ..data.rankings import Rankings
from ..kernels import smooth
from ._base import HingeSums, Loss, LossPoint, Steps, Sums
from ._curvature import LongRanking, PairCurvature

#: About how far rounding moves sums over pairs of long rankings, relative to the size of their terms.
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


class PiecewiseQuadratic(Loss):
    """Sum of c sum_k a_k max(0, m_k - (s_i - s_j))^2: one term, or two of opposite a, the larger margin first."""

    @property
    @abstractmethod
    def steps(self) -> Steps:  # type: ignore[override]
        """All a_k, then all m_k: the second derivative is 2 a_k below each margin m_k."""

    @property
    def tuning(self) -> active.Tuning:
        """Where one kernel takes over from another."""
        return active.TUNING

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Value and gradient of one block, with the curvature for Hessian products."""
        p, g = rankings, np.empty(rankings.n_members)
        short, long = p.split(self.tuning.short_to_sum)
        sums, kept = np.zeros(3), []
        if short.size:
            sums += smooth.smooth_direct(scores, p.v, p.u, p.level_ptr, p.ranking_levels, short, *self._outer(), g)
        for r in long:
            more, ranking = self._evaluate_long(scores, p, int(r), g, work)
            sums += more
            kept.append(ranking)
        value, slope, hinge = sums.tolist()
        # Of long rankings, slopes are differences of sums: their rounding is that of the terms.
        error = ROUNDING * float(np.abs(self.steps[0]).sum()) * (p.weight + hinge) if kept else 0.0
        curvature = PairCurvature(scores, p, short, self._direct_product, kept)
        return LossPoint(Sums(value, p.weight, hinge=HingeSums(slope, hinge, error)), g, curvature)

    def at_zero(self, rankings: Rankings, work: Work) -> Sums:
        """N phi(0)."""
        value = sum(a * max(0.0, m) ** 2 for a, m in zip(*self.steps, strict=True))
        return Sums(value * rankings.weight, rankings.weight)

    def _outer(self) -> tuple[float, float, float | None]:
        """The first term, and the margin of the second, which takes away what lies inside."""
        a, m = self.steps
        return a[0], m[0], m[1] if len(m) > 1 else None

    def _direct_product(
        self, s: FloatArray, p: Rankings, short: IntArray, V: FloatArray, out: FloatArray, work: Work
    ) -> None:
        smooth.laplacian_direct(s, p.v, p.u, p.level_ptr, p.ranking_levels, short, *self._outer(), V, out)

    def _evaluate_long(
        self, scores: FloatArray, p: Rankings, ranking: int, g: FloatArray, work: Work
    ) -> tuple[FloatArray, _Long]:
        """Sums of c phi, of c (-phi') and of the first term's hinges of one ranking; its gradient goes to g."""
        here, u = p.members(ranking), p.u[ranking]
        s, v, levels = scores[here], p.member_weights[here], p.levels(ranking)
        order, sorted_s = sort_scores(s, work)
        # The median: one score far out would move a mean, and with it the digits of all the others.
        centred = s - sorted_s[s.size // 2]
        g[here] = 0.0
        sums, terms = np.zeros(3), []
        for k, (a, m) in enumerate(zip(*self.steps, strict=True)):
            view = active.SortedRanking(order, sorted_s, levels, here.start, m, work, self.tuning)
            c, d = view.sums(None if p.v is None else v, work)
            S = np.add(*view.sums(v * centred, work))
            value, hinge = smooth.squared_sums(centred, v, u, a, m, c, d, S, g[here])
            sums += value, 2.0 * a * hinge, hinge if k == 0 else 0.0
            terms.append(_Term(float(a), view.kept(), c + d))
        for _ in range(2):  # to 0: what rounding left of their sum would be multiplied by an offset of the features
            g[here] -= v * (g[here].sum() / v.sum())
        return sums, _Long(ranking, v, terms)


class _Term(NamedTuple):
    """One term of a long ranking: its windows, and the weight of each member's active partners."""

    a: float
    view: active.SortedRanking
    n: FloatArray


@dataclass(frozen=True)
class _Long(LongRanking):
    """A long ranking with its terms."""

    ranking: int
    v: FloatArray
    terms: list[_Term]

    def multiply(self, u: float, V: FloatArray, out: FloatArray, work: Work) -> None:
        """Laplacian times V, term by term."""
        out[:] = 0.0
        for a, view, n in self.terms:
            S = np.add(*view.sums(self.v * V, work))
            smooth.laplacian_sums(self.v, u, a, n, V, S, out)
