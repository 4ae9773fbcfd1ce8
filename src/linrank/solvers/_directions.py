"""Newton directions for smooth objectives.

Without a factor they come from conjugate gradients on Hessian products. Where an exact d x d Hessian can be had and
those take longer than it would cost, it is built, and from then on its Cholesky factor, corrected by the steps taken
since (`_secants.py`), gives directions for nothing. It is built anew when such steps have taken as long as that would
and gained less; when that happens again, conjugate gradients take over, and the factor preconditions them. A factor
serves for many points, for any alpha, and that of a sample of the rows for all rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from .._objective import Objective, Point
from .._preferences import FloatArray
from ._secants import Secants

#: Relative residual at which conjugate gradients stop.
FORCING = 0.1
#: Steps of conjugate gradients before an exact Hessian is built, though it cost fewer.
FEWEST = 4
#: Most steps with a factor that is out of date, and the length of one that tells so at once: of rare features, a sample
#: may know nothing.
PATIENCE, SHORTEST = 6, 0.1
#: How often that may happen before conjugate gradients take over: from then on, a new factor only preconditions them.
CHANCES = 2
#: What an exact Hessian is expected to make of the distance to the minimum.
GAIN = 0.01
#: What a step makes of it where the factor is as good as a sample's can be, and where the factor still can be trusted.
FAST, STEADY = 0.03, 0.3


class Known(NamedTuple):
    """What is known of the mean loss's curvature: it serves for any alpha."""

    H: FloatArray | None = None  # the last exact Hessian
    pairs: tuple[tuple[FloatArray, FloatArray], ...] = ()  # what steps since then have shown
    steps: int = 0  # that another might have saved, in all fits since then


class Directions:
    """Approximate solutions of H d = -gradient at one point after the other."""

    def __init__(self, hessian: str, rounded: bool, known: Known) -> None:
        self.hessian, self.rounded = hessian, rounded
        self.H, self.secants, self.earlier = known.H, Secants(known.pairs), known.steps
        self.steps = 0  # in this fit, of conjugate gradients without a factor or slow ones with it
        self.factor: FloatArray | None = None  # Cholesky's, lower
        self.alpha = np.nan  # the factor's
        self.watch = _Watch()
        self.failures = 0  # how often the factor and the last steps led nowhere
        self.short = False  # whether the last step did, because it was too short
        self.solved = False  # whether the last direction was solved for

    @property
    def known(self) -> Known:
        """What a start from here can use."""
        return Known(self.H, tuple(self.secants.pairs), self.earlier + self.steps)

    def at(self, point: Point, rough: bool = False) -> FloatArray:
        """The direction at a point; `rough`: on a sample, whose factor will serve for all rows."""
        cost = None if self.hessian == "products" else point.objective.hessian_cost
        if self.hessian == "exact" and cost is not None:
            return self._exact(point)
        if self.H is not None and self.alpha != point.objective.alpha:
            self._factorise(point.objective.alpha)
        if self.factor is not None and self.failures < CHANCES:
            self.secants.note(point)
            direction = self.secants.apply(self._precondition, -point.gradient, self.alpha)
            lost = self.watch.lost(point, direction, PATIENCE if cost is None else min(cost, PATIENCE))
            self.solved = False
            self.steps += self.watch.ratio > FAST
            if cost is not None and self.earlier > cost:  # what fits before could have saved counts as well
                return self._exact(point)
            if not lost and not self.short:
                return direction
            self.failures, self.short = self.failures + 1, False
            if cost is not None and self.failures < CHANCES:
                return self._exact(point)
        if cost is None:
            return self._conjugate_gradients(point, _limit(point))[0]
        limit = self._patience(cost, rough)
        if limit > 0:
            direction, solved = self._conjugate_gradients(point, limit)
            if solved:
                return direction
        return self._exact(point)

    def _patience(self, cost: float, rough: bool) -> int:
        """Steps of conjugate gradients before an exact Hessian is built, which costs as much as `cost` of them."""
        if self.factor is not None:
            return max(FEWEST, int(cost / 2))
        if rough:
            return max(FEWEST, int(cost / 8)) if cost > 4 * FEWEST else 0
        return max(FEWEST, int(cost - self.earlier))

    def decrement(self, slope: float, t: float, rough: bool = False) -> float:
        """About how far f was above its minimum before a step of length t; infinite where that cannot be told."""
        self.short = not self.solved and t < SHORTEST
        if rough:
            return -0.5 * slope * max(t * t, 1.0 / t)
        if self.solved:
            return -0.5 * slope if 0.9 < t < 1.1 else np.inf
        return -0.5 * slope * max(t, 1.0) if self.watch.steady(t) else np.inf

    @property
    def slow(self) -> bool:
        """Whether the last steps gained less than they would with a new factor."""
        return self.hessian == "auto" and self.factor is not None and self.watch.ratio > FAST

    def renew(self, point: Point) -> None:
        """Build the exact Hessian and its factor."""
        self.H = point.risk_hessian()
        self.secants, self.earlier, self.steps = Secants(), 0, 0
        self._factorise(point.objective.alpha)

    def _exact(self, point: Point) -> FloatArray:
        self.renew(point)
        if self.factor is None:
            return self._conjugate_gradients(point, _limit(point))[0]
        self.secants.note(point)
        self.solved = True
        return -self._precondition(point.gradient)

    def _factorise(self, alpha: float) -> None:
        assert self.H is not None
        self.alpha = alpha
        self.factor, failed = dpotrf(self.H + alpha * np.eye(len(self.H)), lower=1)
        if failed:  # indefinite by rounding: conjugate gradients cope
            self.H = self.factor = None

    def _precondition(self, r: FloatArray) -> FloatArray:
        if self.factor is None:
            return r
        z: FloatArray = dpotrs(self.factor, r, lower=1)[0]
        return z

    def _conjugate_gradients(self, point: Point, limit: int) -> tuple[FloatArray, bool]:
        self.solved = True
        r = -point.gradient
        x, z = np.zeros_like(r), self._precondition(r)
        p, rz = z, float(r @ z)
        # In the preconditioner's norm and in the certificate's: an old factor hardly sees what has become active since.
        goal, plain_goal = FORCING**2 * rz, FORCING**2 * float(r @ r)
        for _ in range(limit):
            self.steps += self.factor is None
            Hp = point.hessian_product(p, exact=not self.rounded)
            curvature = float(p @ Hp)
            if not curvature > 0:
                break
            step = rz / curvature
            x, r = x + step * p, r - step * Hp
            z = self._precondition(r)
            rz, before = float(r @ z), rz
            if rz <= goal and float(r @ r) <= plain_goal:
                return x, True
            p = z + (rz / before) * p
        return x, False


def _limit(point: Point) -> int:
    """Steps of conjugate gradients after which rounding is to blame."""
    return 10 * point.w.size + 100


class _Watch:
    """How fast steps with one factor approach the minimum."""

    def __init__(self) -> None:
        self.objective: Objective | None = None
        self.first, self.steps = np.inf, 0  # the decrement when counting began, and the steps since
        self.last, self.ratio = np.inf, np.inf  # the last decrement, and what became of the one before
        self.run = 0  # of steps that went well

    def lost(self, point: Point, direction: FloatArray, cost: float) -> bool:
        """Whether steps took as long as a new factor, which costs `cost` of them, and gained less than it would."""
        decrement = -float(point.gradient @ direction)  # about twice the distance to the minimum
        same = point.objective is self.objective
        self.ratio, self.last = decrement / self.last if same and self.last > 0 else np.inf, decrement
        self.steps += 1
        gained = decrement <= GAIN * self.first
        if same and not gained and self.steps <= cost:
            return False
        self.objective, self.first, self.steps = point.objective, decrement, 0
        return same and not gained

    def steady(self, t: float) -> bool:
        """Whether the last steps went as expected, one of length t included."""
        self.run = self.run + 1 if self.ratio <= STEADY and 0.5 <= t <= 2.0 else 0
        return self.run > 1
