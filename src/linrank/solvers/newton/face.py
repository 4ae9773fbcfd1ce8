"""Newton directions where the penalty has kinks or bounds: Newton's method on the face, one mechanism for both.

Weights at a kink (0, with an l1 part) or at a bound stay there as long as the optimality conditions hold. The others,
and those that the conditions release, are free, and P is smooth in them as far as the next kink. So a step is Newton's
on the free weights, projected on the interval in which each may move: weights that would cross a kink or a bound end on
it, exactly. The line to the projected point is searched as any other, no farther than that point.

With an exact Hessian, corrected by the steps since, such steps are repeated on the quadratic model before the objective
is evaluated again: they cost a factor of the free weights' submatrix each, and no pass over the rows. Without one, the
step on the face is found by conjugate gradients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from ..._typing import FloatArray, IntArray
from ...objective import Point
from ...penalties import ElasticNet
from . import directions
from .conjugate_gradients import conjugate_gradients
from .directions import CurvatureMemory, Direction, Directions
from .secants import Secant, corrected_matrix


@dataclass(frozen=True)
class Tuning:
    """Numbers that steer steps on faces."""

    #: The model's slope at which its minimisation ends, relative to that at the start, and most of its steps.
    near: float = 1e-3
    most: int = 50
    #: Damping grows by a factor where less of a step was made than `cut`, and falls by another where more than `full`.
    more: float = 4.0
    less: float = 0.25
    cut: float = 0.3
    full: float = 0.9
    #: What it is at first, relative to the curvature along the step.
    share: float = 0.01
    #: Most weights whose Hessian is made of products.
    widest: int = 1000
    #: It is renewed after so many times the steps that it costs in products.
    renewal: float = 1.0


TUNING = Tuning()
#: No step promises to lose more than so many times what f is: no loss is negative.
MOST_LOST = 4.0
#: How often a diagonal is raised, by 4 each time, before the steepest descent is taken.
MOST_TRIES = 50
TINY = 1e-100


@dataclass(frozen=True)
class FaceDirections(Directions):
    """Directions to the end of a step on the face."""

    def next(self, point: Point, memory: CurvatureMemory, sample: bool = False) -> tuple[Direction, CurvatureMemory]:
        """A point towards which the objective falls."""
        w, factor = point.w, _damping(memory, point)
        damping = factor * directions._diagonal(point.objective) if factor > 0.0 else None
        free = point.objective.penalty.free(w) | (point.gradient != 0.0)
        memory = self._bought(point, memory, np.flatnonzero(free), sample).noted(point, directions.TUNING.memory)
        end = None if memory.H is None else _by_model(point, memory, damping)
        if end is not None:
            direction, memory = Direction(end - w, end=end), replace(memory, steps=memory.steps + 1)
        else:
            end, n, solved = self._by_products(point, free, damping)
            direction = Direction(end - w, not solved and n >= self.max_products, end)
            memory = replace(memory, products=memory.products + n)
        return direction, replace(memory, damping=factor, reach=float(np.linalg.norm(end - w)))

    def _bought(self, point: Point, memory: CurvatureMemory, F: IntArray, sample: bool) -> CurvatureMemory:
        """With a Hessian where one is known, or has been paid for by products; without one that is of other columns.

        Where the engine has none, as for sparse features, that of the free weights is made of as many products.
        """
        if self.hessian == "products":
            return replace(memory, H=None, columns=None)
        cost, renewal = point.objective.hessian_cost, directions.TUNING.renewal
        if cost is not None:
            known = memory.H is not None and memory.columns is None
            old = memory.steps >= renewal * cost if known else sample or memory.products + memory.earlier >= cost
            if old or self.hessian == "exact":
                return CurvatureMemory(point.risk_hessian())
            return memory if known else replace(memory, H=None, columns=None)
        before = np.empty(0, dtype=np.int64) if memory.columns is None else memory.columns
        if memory.H is not None and np.all(np.isin(F, before)) and memory.steps < TUNING.renewal * F.size:
            return memory
        both = np.union1d(F, before)
        wanted = both if both.size <= 2 * F.size else F  # weights that were free may be so again
        if wanted.size > TUNING.widest or memory.products < wanted.size:
            return replace(memory, H=None)
        return CurvatureMemory(self._part(point, wanted), columns=wanted)

    def _part(self, point: Point, F: IntArray) -> FloatArray:
        """The Hessian of the mean loss in some weights, a product a column."""
        H, unit = np.empty((F.size, F.size)), np.zeros(point.w.size)
        for k, j in enumerate(F):
            unit[j] = 1.0
            H[k] = point.hessian_product(unit, exact=not self.float32)[F]
            unit[j] = 0.0
        H[np.diag_indices_from(H)] -= point.objective.penalty.curvature
        return 0.5 * (H + H.T)

    def _by_products(
        self, point: Point, free: NDArray[np.bool_], damping: FloatArray | None
    ) -> tuple[FloatArray, int, bool]:
        """The projected point by conjugate gradients, how many Hessian products it took, and whether they sufficed."""
        s, penalty, w = point.gradient, _penalty(point), point.w
        exact, diagonal, more = not self.float32, directions._diagonal(point.objective), damping
        diagonal = diagonal if more is None else diagonal + more
        goal = directions.TUNING.forcing**2 * float(s @ s)
        goal = max(goal, 2.0 * penalty.curvature * directions.TUNING.enough * self.target)
        d, n, good = conjugate_gradients(
            lambda p: np.where(free, point.hessian_product(p, exact) + (0.0 if more is None else more * p), 0.0),
            -s,
            diagonal,
            lambda r: float(r @ r) <= goal,
            int(min(self.max_products, 10 * w.size + 100)),
        )
        promise, lose = -float(s @ d), MOST_LOST * max(point.value, TINY)
        if np.any(s) and not 0.0 < promise <= lose:  # next to no curvature: as far as the objective can fall
            d, promise = (d, promise) if promise > 0.0 else (-s, float(s @ s))
            d = d * (lose / promise)
        end = projected(penalty, w, s, d)
        if not float(s @ (end - w)) < 0.0:  # the projection took the descent away: one weight by weight does not
            end = projected(penalty, w, s, -s / diagonal)
        return end, n, good


def _penalty(point: Point) -> ElasticNet:
    """The penalty of a point, which is the one with pieces."""
    penalty = point.objective.penalty
    assert isinstance(penalty, ElasticNet)
    return penalty


def _by_model(point: Point, memory: CurvatureMemory, damping: FloatArray | None) -> FloatArray | None:
    """Where the model is least by the Hessian that is known, corrected by the steps since.

    Without the corrections where their rounding takes the descent away; None where nothing brings it back.
    """
    assert memory.H is not None
    penalty, w, g, value = _penalty(point), point.w, point.risk_gradient, point.value
    at = np.arange(w.size) if memory.columns is None else memory.columns
    for told in (memory.secants, ()):
        B = corrected_matrix(memory.H, tuple(Secant(s[at], y[at]) for s, y in told), penalty.curvature)
        B = B if damping is None else B + np.diag(damping[at])
        end = w.copy()
        end[at] = minimise_model(B, penalty.of(at), w[at], g[at], value)
        if float(g @ (end - w)) < penalty.slope(w, w - end):
            return end
    return None


def _damping(memory: CurvatureMemory, point: Point) -> float:
    """What of the columns' variances is added to the Hessian: more where the last step had to be cut, else less.

    Losses that are quadratic piece by piece have directions without any curvature up to the next piece, and an l1 norm
    adds none.
    """
    if memory.last is None or not memory.reach > 0.0:
        return memory.damping
    s, y = point.w - memory.last[0], point.risk_gradient - memory.last[1]
    t, size = float(np.linalg.norm(s)) / memory.reach, float(s @ (directions._diagonal(point.objective) * s))
    if t > TUNING.full or not size > 0.0:
        return TUNING.less * memory.damping
    if t > TUNING.cut:
        return memory.damping
    return max(TUNING.more * memory.damping, TUNING.share * float(s @ y) / size)


def first_kink(penalty: ElasticNet, w: FloatArray, s: FloatArray, d: FloatArray) -> FloatArray:
    """The step d from w as far as the first kink or bound."""
    lower, upper = penalty.piece(w, -s)
    room = np.where(d > 0.0, upper - w, w - lower)
    ratio = np.divide(room, np.abs(d), out=np.full(w.size, np.inf), where=d != 0.0)
    t = min(float(ratio.min()), 1.0)
    end = np.clip(w + t * d, lower, upper)
    hit = ratio == t
    return np.where(hit, np.where(d > 0.0, upper, lower), end) if t < 1.0 else end


def projected(penalty: ElasticNet, w: FloatArray, s: FloatArray, d: FloatArray) -> FloatArray:
    """The end of the step d from w, whose steepest subgradient is s, on the piece where P is smooth."""
    lower, upper = penalty.piece(w, -s)
    return np.clip(w + d, lower, upper) + 0.0  # not -0


def minimise_model(H: FloatArray, penalty: ElasticNet, w: FloatArray, g: FloatArray, value: float) -> FloatArray:
    """About where g.(x - w) + (x - w) H (x - w)/2 + P(x) is least: Newton steps on faces, from w on.

    Each of them lowers the model, so that f, which is `value` at w, falls from there towards x. Two ends of a step are
    compared: the projected one, at which many weights may come to rest, and that at the first kink.
    """
    model = Model(H, penalty.curvature, value)
    x, r, goal = w, g, math.inf
    for _ in range(TUNING.most):
        s = penalty.steepest(x, r)
        size = float(np.linalg.norm(s))
        goal = size * TUNING.near if goal == math.inf else goal
        if size <= goal:
            break
        F = np.flatnonzero(penalty.free(x) | (s != 0.0))
        d = np.zeros_like(x)
        d[F] = model.solve(F, s[F])
        ends = [projected(penalty, x, s, d), first_kink(penalty, x, s, d)]
        moves = [model.move(x, end, s, F) for end in ends]
        best = min(moves, key=lambda move: move.gain)
        if not best.gain < 0.0:  # the projection took the descent away: one that scales each weight by itself does not
            d[F] = -s[F] / np.maximum(model.diagonal(F), TINY)
            best = model.move(x, projected(penalty, x, s, d), s, F)
        if not best.gain < 0.0:
            break
        x, r = best.x, r + best.t * best.He
    return penalty.nearest(x)


class Move(NamedTuple):
    """A step of the model's minimisation: where it ends, which part of it was made, H times all of it, and its gain."""

    x: FloatArray
    t: float
    He: FloatArray
    gain: float


@dataclass(frozen=True)
class Model:
    """The quadratic model's curvature H + c, around a point at which f has a value."""

    H: FloatArray
    c: float
    value: float

    def diagonal(self, F: IntArray) -> FloatArray:
        """Of the submatrix of the free weights."""
        diagonal: FloatArray = np.diagonal(self.H)[F] + self.c
        return diagonal

    def move(self, x: FloatArray, end: FloatArray, s: FloatArray, F: IntArray) -> Move:
        """Towards an end as far as the model falls; its slope is s."""
        e = end - x
        He, slope = self.H[:, F] @ e[F], float(s @ e)
        curvature = float(e @ He) + self.c * float(e @ e)
        if not slope < 0.0:
            return Move(x, 0.0, He, 0.0)
        if slope + curvature <= 0.0:
            return Move(end, 1.0, He, slope + 0.5 * curvature)
        t = -slope / curvature
        return Move(x + t * e, t, He, 0.5 * t * slope)

    def solve(self, F: IntArray, s: FloatArray) -> FloatArray:
        """-(H + c)^-1 s on free weights.

        Where rounding, or columns that say the same, make that singular, or promise more than f has to lose, there is
        more on the diagonal: as much as would make the steepest descent lose all of it.
        """
        A, more, lose = self.H[np.ix_(F, F)], 0.0, MOST_LOST * max(self.value, TINY)
        places = np.diag_indices_from(A)
        A[places] += self.c
        for _ in range(MOST_TRIES):
            factor, failed = dpotrf(A, lower=1)
            if not failed:
                d: FloatArray = -dpotrs(factor, s, lower=1)[0]
                if -float(s @ d) <= lose:
                    return d
            added = float(s @ s) / lose if more == 0.0 else 3.0 * more
            A[places] += added
            more += added
        return -s * (lose / max(float(s @ s), TINY))  # numbers have come to their end
