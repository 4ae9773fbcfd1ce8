"""Losses whose phi is quadratic piece by piece: what the squared hinge and the Huberised hinge share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from .._work import Work
from ..data import active
from ..data.few_levels import FewLevels
from ..data.ordering import sort_padded, work_parts
from ..data.rankings import Rankings
from ..kernels import smooth
from ._base import HingeSums, Loss, LossPoint, Steps, Sums
from ._curvature import LongRanking, PairCurvature

#: About how far rounding moves sums over pairs of long rankings, relative to the size of their terms.
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)

_View = active.SortedRanking | FewLevels
_Pair = tuple[NDArray[Any], NDArray[Any]]
_Sums = Sequence[float]


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
    ) -> tuple[_Sums, _Long]:
        """Sums of c phi, of c (-phi') and of the first term's hinges of one ranking; its gradient goes to g."""
        here, levels = p.members(ranking), p.levels(ranking)
        s, how, steps = scores[here], self.tuning, self.steps
        found = sort_padded(s, work)
        # The median: one score far out would move a mean, and with it the digits of all the others.
        one = _One(s, None if p.v is None else p.v[here], float(found.padded[1 + s.size // 2]), g[here], work)
        views = [active.sorted_ranking(found, levels, here.start, m, work, how).kept(work) for m in steps[1]]
        u, a, m = float(p.u[ranking]), steps[0][0], steps[1][0]
        sums, weights = one.squares(views[0], u, a, m) if len(views) == 1 else one.band(views, u, a, m)
        one.balance()
        terms = [_Term(*term) for term in zip(*steps, views, weights, strict=True)]
        return sums, _Long(ranking, one.v, terms)


class _One:
    """One long ranking at its scores: sums over pairs, with the gradient in g."""

    def __init__(self, s: FloatArray, v: FloatArray | None, centre: float, g: FloatArray, work: Work) -> None:
        self.s, self.v, self.centre, self.g, self.work = s, v, centre, g, work
        self.parts = work_parts(s.size)  # members that threads may share
        self.whole = len(self.parts) == 1  # or nothing but it
        self.left = 0.0  # sum of the gradient, where there are parts

    def squares(self, view: _View, u: float, a: float, m: float) -> tuple[_Sums, list[NDArray[Any]]]:
        """The sums of one squared hinge, and the weight of each member's active partners."""
        moments = self.work.take("spare keys", self.s.size, np.float64)
        if self.whole:
            _put_moments(self.s, self.centre, self.v, moments)
        else:

            def put(part: tuple[int, int]) -> None:
                here = slice(*part)
                _put_moments(self.s[here], self.centre, None if self.v is None else self.v[here], moments[here])

            self.work.share(put, self.parts)
        view.fill(moments, self.g, self.work)
        c, d = self._weights(view, "spare keys")
        n, given = np.empty(c.size, c.dtype), (self.s, self.centre, self.v, u, a, m)

        def sums(part: tuple[int, int]) -> tuple[float, ...]:
            return *smooth.squared_sums(*given, *part, c, d, n, self.g), self._gradient_sum(part)

        if self.whole:
            value, hinge = smooth.squared_sums(*given, 0, c.size, c, d, n, self.g)
        else:
            value, hinge, self.left = self._in_parts(sums, 3)
        return (value, 2.0 * a * hinge, hinge), [n]

    def band(self, views: list[_View], u: float, a: float, m: float) -> tuple[_Sums, list[NDArray[Any]]]:
        """The same of the Huberised hinge, whose width is 1 / (2 a)."""
        self._band_moments(views)
        outer, inner, weights = self._band_counts(views) if self.v is None else self._band_weights(views, self.v)
        given = self.s, self.centre, self.v, u, (a, m, 0.5 / a)

        def sums(part: tuple[int, int]) -> tuple[float, ...]:
            return *smooth.band_sums(*given, *part, outer, inner, self.g), self._gradient_sum(part)

        *answers, self.left = self._in_parts(sums, 4)
        return answers, weights

    def balance(self) -> None:
        """Have the gradient sum to 0: what rounding leaves of it would be multiplied by an offset of the features."""
        weight = self.s.size if self.v is None else float(self.v.sum())
        if self.whole:
            for _ in range(2):
                mean = float(self.g.sum()) / weight
                self.g -= mean if self.v is None else self.v * mean
            return
        mean = self.left / weight
        left = self._in_parts(lambda part: (self._less(mean, part), self._gradient_sum(part)), 2)[1]
        self.work.share(partial(self._less, left / weight), self.parts)

    def _gradient_sum(self, part: tuple[int, int]) -> float:
        return 0.0 if self.whole else float(self.g[slice(*part)].sum())

    def _less(self, mean: float, part: tuple[int, int]) -> float:
        """Take it off; the mean."""
        here = self.g[slice(*part)]
        here -= mean if self.v is None else self.v[slice(*part)] * mean
        return mean

    def _band_moments(self, views: list[_View]) -> None:
        """Fill g with sums over the partners in the band; those of leading bits are exact, so differences are, too."""
        sums, unit = self.work.take(views[0].room, self.s.size, np.float64), self._unit(self.s)
        for rest, out in ((True, self.g), (False, sums)):
            moments = self._bits(self.s, unit, rest)
            views[0].fill(moments, out, self.work)
            views[1].add(moments, -1.0, out, self.work)

        def add(part: tuple[int, int]) -> None:
            here = self.g[slice(*part)]
            here += sums[slice(*part)]

        self.work.share(add, self.parts)

    def _band_counts(self, views: list[_View]) -> tuple[_Pair, _Pair, list[NDArray[Any]]]:
        """Numbers of winners and losers in the band, of those inside, and of partners up to either margin."""
        outer, inner = (self._weights(*one) for one in zip(views, (views[0].room, "spare keys"), strict=True))
        weights = [np.add(*outer), np.add(*inner)]
        for one, less in zip(outer, inner, strict=True):
            one -= less
        return outer, inner, weights

    def _band_weights(self, views: list[_View], v: FloatArray) -> tuple[_Pair, _Pair, list[NDArray[Any]]]:
        """The same for weights: of leading bits exactly, and then what is left of them."""
        unit, found = self._unit(None), []
        bits = self._bits(None, unit, rest=False)
        for view in views:
            found.append((np.empty(v.size), np.empty(v.size)))
            view.sums(bits, *found[-1], self.work)
        weights, (outer, inner) = [np.add(*pair) for pair in found], found
        for one, less in zip(outer, inner, strict=True):
            one -= less
        bits, rest = self._bits(None, unit, rest=True), (np.empty(v.size), np.empty(v.size))
        for view, n, is_outer in zip(views, weights, (True, False), strict=True):
            view.sums(bits, *rest, self.work)
            n += np.add(*rest)
            for more, one, less in zip(rest, outer, inner, strict=True):
                one += more if is_outer else -more
                less += 0.0 if is_outer else more
        return outer, inner, weights

    def _weights(self, view: _View, room: str) -> _Pair:
        """Weights of active winners and losers, in a room of the work; of unit weights, their numbers."""
        size, kind = self.s.size, np.int32 if self.v is None else np.float64
        both = self.work.take(room, 2 * size, kind)
        c, d = both[:size], both[size:]
        if self.v is None:
            view.counts(c, d, self.work)
        else:
            view.sums(self.v, c, d, self.work)
        return c, d

    def _unit(self, s: FloatArray | None) -> float:
        """Whole multiples of 1 / unit have so few bits that any sum of v (s - centre), or of v, in them is exact."""
        given = s, self.centre, self.v
        largest = self._in_parts(lambda part: (smooth.largest_moment(*given, *part),), 1, max)[0]
        return float(2.0 ** (51 - math.frexp(self.s.size * max(largest, 1e-280))[1]))

    def _bits(self, s: FloatArray | None, unit: float, rest: bool) -> FloatArray:
        """Leading bits of v (s - centre), or of v, in whole multiples of 1 / unit; or the rest."""
        given, out = (s, self.centre, self.v, unit, rest), self.work.take("spare keys", self.s.size, np.float64)
        self.work.share(lambda part: smooth.leading_bits(*given, *part, out), self.parts)
        return out

    def _in_parts(self, function: Callable[[tuple[int, int]], Any], size: int, add: Any = sum) -> Sequence[float]:
        """The function's answers for each part, added up in their order."""
        parts = self.parts
        if len(parts) == 1:
            only: Sequence[float] = function(parts[0])
            return only
        answers = np.empty((len(parts), size))

        def one(k: int) -> None:
            answers[k] = function(parts[k])

        self.work.share(one, range(len(parts)))
        total: Sequence[float] = np.array(add(answers)).tolist()
        return total


def _put_moments(s: FloatArray, centre: float, v: FloatArray | None, out: FloatArray) -> None:
    np.subtract(s, centre, out=out)
    if v is not None:
        out *= v


class _Term(NamedTuple):
    """One term of a long ranking: its windows, and the weight of each member's active partners."""

    a: float
    m: float
    view: _View
    n: NDArray[Any]


@dataclass(frozen=True)
class _Long(LongRanking):
    """A long ranking with its terms."""

    ranking: int
    v: FloatArray | None
    terms: list[_Term]

    def multiply(self, u: float, V: FloatArray, out: FloatArray, work: Work) -> None:
        """Laplacian times V, term by term."""
        parts, S = work_parts(V.size), work.take(self.terms[0].view.room, V.size, np.float64)
        given = V
        if self.v is not None:
            given = work.take("spare keys", V.size, np.float64)
            np.multiply(self.v, V, out=given)
        for k, (a, _, view, n) in enumerate(self.terms):
            view.fill(given, S, work)
            if len(parts) == 1:
                smooth.laplacian_sums(self.v, u, a, n, V, S, k > 0, out, parts[0])
            else:
                work.share(partial(smooth.laplacian_sums, self.v, u, a, n, V, S, k > 0, out), parts)

    def turn(self, u: float, s: FloatArray, V: FloatArray, out: FloatArray, work: Work) -> None:
        """2 a u v times the sum of v_j V_j h over active winners less that over active losers, h = m - z."""
        out[:] = 0.0
        centred, q = s - s.mean(), V if self.v is None else self.v * V
        c, d, cs, ds = np.empty((4, V.size))
        for a, m, view, _ in self.terms:
            view.sums(q, c, d, work)
            view.sums(q * centred, cs, ds, work)
            out += 2.0 * a * ((m + centred) * c - cs - (m - centred) * d - ds)
        out *= u if self.v is None else u * self.v
