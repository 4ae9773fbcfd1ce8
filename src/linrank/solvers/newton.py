"""Newton's method for smooth losses, and for the hinge by smoothing it.

Directions come from conjugate gradients on Hessian products. Where an exact d x d Hessian can be had and conjugate
gradients take longer than it would cost, it is built once and its Cholesky factor preconditions them from then on; it
is built anew when even so they need more than a few steps. The line search works in score space.

The certificate of a smooth objective is |grad f|^2 / (2 alpha), by strong convexity. The hinge is rounded off
(`_smoothing.py`) over a width that shrinks when most of the certified gap is due to it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._objective import Objective, Point, zeros
from .._preferences import FloatArray
from .._smoothing import SmoothedHinge
from ._base import Callback, Iteration, Solution, Status
from ._line import search

#: Steps of conjugate gradients after which a preconditioner is out of date.
STALE = 4
#: Relative residual at which conjugate gradients stop.
FORCING = 0.1
#: Iterations without progress after which rounding is to blame.
STALL = 5


@dataclass(frozen=True)
class Newton:
    """Minimise a smooth objective, or that of the hinge, to a certified gap.

    Parameters
    ----------
    tol : float
        Stop when the certified gap is at most tol * f(0).
    max_iter : int
        Stop after so many iterations, with the best point and its honest gap.
    hessian : {"auto", "exact", "products"}
        Build exact Hessians when they pay, always, or never.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    hessian: str = "auto"

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights or an earlier solution."""
        begin = time.perf_counter()
        given = start.w if isinstance(start, Solution) else start
        w = zeros(objective) if given is None else given
        tracker = _Smoothed(objective) if SmoothedHinge.applies_to(objective) else _Smooth(objective)
        directions = _Directions(self.hessian)
        target = self.tol * objective.value_at_zero
        point = tracker.objective.at(w)
        history: list[Iteration] = []
        still, decrement = 0, np.inf
        while True:
            progress = tracker.certify(point)
            still = 0 if progress else still + 1
            history.append(Iteration(len(history) + 1, tracker.value, tracker.gap, time.perf_counter() - begin))
            if callback is not None:
                callback(history[-1])
            status = self._status(len(history), tracker.gap <= target, still)
            if status is not None:
                return Solution(tracker.w, tracker.value, tracker.gap, status, history)
            point = tracker.refine(point, target, decrement)
            line = point.along(directions.at(point))
            decrement = -0.5 * line.slope  # about how far f was above its minimum before this step
            point = line.point(search(line, 1.0))

    def _status(self, iterations: int, converged: bool, still: int) -> Status | None:
        if converged:
            return Status.CONVERGED
        if still >= STALL:
            return Status.STALLED
        return Status.MAX_ITER if iterations >= self.max_iter else None


class _Smooth:
    """The best point and its certificate, for a smooth objective."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.w = zeros(objective)
        self.value = self.gap = np.inf

    def certify(self, point: Point) -> bool:
        """Take note of a point; whether it improves on those before."""
        gradient = point.gradient
        lower = point.value - float(gradient @ gradient) / (2.0 * self.objective.alpha)
        before = self.value, self.gap
        lower = max(lower, self.value - self.gap) if np.isfinite(self.gap) else lower
        if point.value < self.value:
            self.w, self.value = point.w, point.value
        self.gap = max(self.value - lower, 0.0)
        return self.value < before[0] or self.gap < before[1]

    def refine(self, point: Point, target: float, decrement: float) -> Point:
        """The point to step from."""
        return point


class _Smoothed:
    """The hinge's best point and certificate, from points of a smoothed objective."""

    def __init__(self, objective: Objective) -> None:
        self.smoothed = SmoothedHinge(objective)
        self.objective = self.smoothed.objective
        self.w = zeros(objective)
        self.value, self.lower, self.gap, self.smoothing = np.inf, -np.inf, np.inf, np.inf

    def certify(self, point: Point) -> bool:
        """Take note of a point; whether it improves on those before."""
        value, lower, self.smoothing = self.smoothed.bounds(point)
        progress = value < self.value or lower > self.lower
        if value < self.value:
            self.w, self.value = point.w, value
        self.lower = max(self.lower, lower)
        self.gap = max(self.value - self.lower, 0.0)
        return progress

    def refine(self, point: Point, target: float, decrement: float) -> Point:
        """The point to step from: smoothed less, where smoothing is most of what is left to gain."""
        rest = float(point.gradient @ point.gradient) / (2.0 * self.objective.alpha)
        if min(rest, decrement) > self.smoothing or self.smoothing <= 0.5 * target:
            return point
        self.smoothed = self.smoothed.narrowed(target, self.smoothing)
        self.objective = self.smoothed.objective
        return self.objective.at_scores(point.w, point.scores, point.steps)


class _Directions:
    """Newton directions, with a Cholesky factor as preconditioner once it pays."""

    def __init__(self, hessian: str) -> None:
        self.hessian = hessian
        self.factor: tuple[FloatArray, bool] | None = None

    def at(self, point: Point) -> FloatArray:
        """An approximate solution of H d = -gradient."""
        passes = None if self.hessian == "products" else point.objective.engine.hessian_passes
        if passes is not None and self.hessian == "exact":
            return self._exact(point)
        limit = 10 * point.w.size + 100
        if passes is not None:
            limit = STALE if self.factor is not None else max(2, int(passes))
        direction, solved = self._conjugate_gradients(point, limit)
        return direction if solved or passes is None else self._exact(point)

    def _exact(self, point: Point) -> FloatArray:
        try:
            self.factor = cho_factor(point.hessian(), lower=True, check_finite=False)
        except LinAlgError:  # indefinite by rounding: conjugate gradients cope
            self.factor = None
            return self._conjugate_gradients(point, 10 * point.w.size + 100)[0]
        return -cho_solve(self.factor, point.gradient, check_finite=False)

    def _precondition(self, r: FloatArray) -> FloatArray:
        return r if self.factor is None else cho_solve(self.factor, r, check_finite=False)

    def _conjugate_gradients(self, point: Point, limit: int) -> tuple[FloatArray, bool]:
        r = -point.gradient
        x, z = np.zeros_like(r), self._precondition(r)
        p, rz = z, float(r @ z)
        goal = FORCING**2 * rz
        for _ in range(limit):
            Hp = point.hessian_product(p)
            curvature = float(p @ Hp)
            if not curvature > 0:
                break
            step = rz / curvature
            x, r = x + step * p, r - step * Hp
            z = self._precondition(r)
            rz, before = float(r @ z), rz
            if rz <= goal:
                return x, True
            p = z + (rz / before) * p
        return x, False
