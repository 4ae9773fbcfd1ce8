"""Losses whose phi is quadratic piece by piece: what the squared hinge and the Huberised hinge share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

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
            sums += self._direct(scores, p, short, g, work)
        for r in long:
            more, ranking = self._evaluate_long(scores, p, int(r), g, work)
            sums += more
            kept.append(ranking)
        value, slope, hinge = sums.tolist()
        # Of long rankings, slopes are differences of sums: their rounding is that of the terms.
        error = ROUNDING * float(np.abs(self.steps[0]).sum()) * (p.weight + hinge) if kept else 0.0
        curvature = PairCurvature(scores, p, short, self._direct_product, self._direct, kept)
        return LossPoint(Sums(value, p.weight, hinge=HingeSums(slope, hinge, error)), g, curvature)

    def at_zero(self, rankings: Rankings, work: Work) -> Sums:
        """N phi(0)."""
        value = sum(a * max(0.0, m) ** 2 for a, m in zip(*self.steps, strict=True))
        return Sums(value * rankings.weight, rankings.weight)

    def _outer(self) -> tuple[float, float, float | None]:
        """The first term, and the margin of the second, which takes away what lies inside."""
        a, m = self.steps
        return a[0], m[0], m[1] if len(m) > 1 else None

    def _direct(self, s: FloatArray, p: Rankings, short: IntArray, g: FloatArray, work: Work) -> Any:
        return smooth.smooth_direct(s, p.v, p.u, p.level_ptr, p.ranking_levels, short, *self._outer(), g)

    def _direct_product(
        self, s: FloatArray, p: Rankings, short: IntArray, V: FloatArray, out: FloatArray, work: Work
    ) -> None:
        smooth.laplacian_direct(s, p.v, p.u, p.level_ptr, p.ranking_levels, short, *self._outer(), V, out)

    def _evaluate_long(
        self, scores: FloatArray, p: Rankings, ranking: int, g: FloatArray, work: Work
    ) -> tuple[FloatArray, _Long]:
        """Sums of c phi, of c (-phi') and of the first term's hinges of one ranking; its gradient goes to g."""
        here, u = p.members(ranking), p.u[ranking]
        s, v, levels = scores[here], None if p.v is None else p.v[here], p.levels(ranking)
        order, sorted_s = sort_scores(s, work)
        # The median: one score far out would move a mean, and with it the digits of all the others.
        centred = s - sorted_s[s.size // 2]
        (a, *_), (m, *_) = self.steps
        moments = centred if v is None else v * centred
        terms: list[_Term] = []
        if len(self.steps[0]) == 1:
            view = active.SortedRanking(order, sorted_s, levels, here.start, m, work, self.tuning)
            c, d = view.sums(v, work)
            S = view.sum_of_both(moments, work, g[here])
            value, hinge = smooth.squared_sums(centred, v, u, a, m, c, d, S, g[here])
            sums = np.array([value, 2.0 * a * hinge, hinge])
            c += d
            terms.append(_Term(float(a), float(m), view.kept(work), c))
        else:  # 1 / (2 a) is the width
            found = []
            for height, margin in zip(*self.steps, strict=True):
                view = active.SortedRanking(order, sorted_s, levels, here.start, margin, work, self.tuning, last=False)
                found.append(_exact_sums(view, v, moments, work))
                terms.append(_Term(float(height), float(margin), view.kept(work), found[-1].n))
            outer, inner = ((*one[:3], *(one.rest or ())) for one in found)
            band: tuple[float, ...] = smooth.band_sums(centred, v, u, a, m, 0.5 / a, outer, inner, g[here])
            sums = np.array(band)
        for _ in range(2):  # to 0: what rounding left of their sum would be multiplied by an offset of the features
            mean = g[here].sum() / (s.size if v is None else v.sum())
            g[here] -= mean if v is None else v * mean
        return sums, _Long(ranking, v, terms)


class _Sums(NamedTuple):
    """Sums over active partners: weights of winners and of losers, and scores of both; each with what rounding left."""

    c: FloatArray
    d: FloatArray
    S: FloatArray
    rest: tuple[FloatArray, FloatArray, FloatArray] | None = None

    @property
    def n(self) -> FloatArray:
        """Weight of all active partners."""
        n: FloatArray = self.c + self.d
        return n if self.rest is None else n + (self.rest[0] + self.rest[1])


def _exact_sums(view: active.SortedRanking, weights: FloatArray | None, moments: FloatArray, work: Work) -> _Sums:
    """Sums of which differences keep all digits: those of leading bits are exact, those of the others small."""
    S, rest_S = (np.add(*view.sums(part, work)) for part in _split(moments, work))
    if weights is None:
        none = work.zeros("no rest", moments.size, np.float64)
        return _Sums(*view.sums(None, work), S, (none, none, rest_S))
    (c, d), (rest_c, rest_d) = (view.sums(part, work) for part in _split(weights, work))
    return _Sums(c, d, S, (rest_c, rest_d, rest_S))


def _split(x: FloatArray, work: Work) -> tuple[FloatArray, FloatArray]:
    """Leading bits of x, so few that any sum of them is exact in float64, and the rest."""
    unit = 2.0 ** (51 - np.frexp(x.size * max(float(x.max()), -float(x.min()), 1e-280))[1])
    high, low = (work.take(name, x.size, np.float64) for name in ("leading bits", "other bits"))
    smooth.split(x, unit, high, low)
    return high, low


class _Term(NamedTuple):
    """One term of a long ranking: its windows, and the weight of each member's active partners."""

    a: float
    m: float
    view: active.SortedRanking
    n: FloatArray


@dataclass(frozen=True)
class _Long(LongRanking):
    """A long ranking with its terms."""

    ranking: int
    v: FloatArray | None
    terms: list[_Term]

    def multiply(self, u: float, V: FloatArray, out: FloatArray, work: Work) -> None:
        """Laplacian times V, term by term."""
        out[:] = 0.0
        for a, _, view, n in self.terms:
            S = view.sum_of_both(V if self.v is None else self.v * V, work)
            smooth.laplacian_sums(self.v, u, a, n, V, S, out)

    def turn(self, u: float, s: FloatArray, V: FloatArray, out: FloatArray, work: Work) -> None:
        """2 a u v times the sum of v_j V_j h over active winners less that over active losers, h = m - z."""
        out[:] = 0.0
        centred, q = s - s.mean(), V if self.v is None else self.v * V
        for a, m, view, _ in self.terms:
            (c, d), (cs, ds) = (view.sums(values, work) for values in (q, q * centred))
            out += 2.0 * a * ((m + centred) * c - cs - (m - centred) * d - ds)
        out *= u if self.v is None else u * self.v
