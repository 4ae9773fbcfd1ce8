"""Trust-region Newton for smooth losses, as in P-SWX (Algorithm 1) and LIBLINEAR: a variant to compare with.

The step minimises the quadratic model by conjugate gradients within |v| <= Delta. The radius starts at the first
gradient's norm (the paper's Delta_0 = 0 would permit no step) and follows the agreement of model and objective, by the
rules of Lin, Weng and Keerthi's trust-region Newton method for logistic regression. Neither exact Hessians nor row
samples are used; `Newton` is the default because it is faster.

The first radius depends on the units of the objective. The paper's is f / alpha = |w|^2 / 2 + C sum of losses, whose
gradient is 1 / alpha times as long: `as_published` starts from that, and cuts the radius to the length of the first
step, as LIBLINEAR 1.94 does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray
from ..objective import Objective, Point
from ._base import Callback, Solution, Status
from .certificate import Certificate, bounds
from .goal import Goal, check_gradient_tol
from .iterate import State, check_limits, iterate, start_point

#: A step is taken where the objective falls by this part of what the model promised.
ACCEPT = 1e-4
#: Agreement below which the radius shrinks, and above which it may grow.
POOR, GOOD = 0.25, 0.75
#: By how much: at least, moderately, and at most when it grows.
SHRINK, HALVE, GROW = 0.25, 0.5, 4.0
#: Relative residual at which conjugate gradients stop.
FORCING = 0.1


@dataclass(frozen=True)
class Region(State):
    """A point, and the radius within which the quadratic model is trusted."""

    point: Point
    radius: float
    goal: Goal
    moved: bool = False  # whether a step was taken


@dataclass(frozen=True)
class Tron:
    """Minimise a smooth objective by a trust-region Newton method.

    Parameters
    ----------
    tol : float
        Stop when the certified gap is at most tol * f(0).
    max_iter : int
        Stop after so many iterations, with the best point and its honest gap.
    gradient_tol : float or None
        Stop instead when |grad f(w)| <= gradient_tol * |grad f(0)|, the paper's rule (3).
    as_published : bool
        Take the paper's steps: its first radius, in the units of f / alpha, and its cut.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    gradient_tol: float | None = None
    as_published: bool = False

    stall = 5

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)
        check_gradient_tol(self.gradient_tol)

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights or an earlier solution."""
        return iterate(self, objective, start, callback)

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> Region:
        """A region as large as the first gradient."""
        point = start_point(objective, start)
        goal = Goal(objective, self.tol, self.gradient_tol)
        best = Certificate.none(objective).joined(bounds(point))
        radius = float(np.linalg.norm(point.gradient))
        unit = objective.penalty.curvature if self.as_published else 1.0
        return Region(best, True, False, point, radius / unit, goal)

    def step(self, state: Region) -> Region:
        """The next point, the same one if the step failed, and the next radius."""
        point = state.point
        step, residual = _conjugate_gradients(point, state.radius)
        length, slope = float(np.linalg.norm(step)), float(point.gradient @ step)
        promised = -0.5 * (slope - float(step @ residual))
        line = point.along(step)
        trial = line.at(1.0)
        fallen = point.value - trial.value
        # Where the parabola through both values and the slope is least.
        beyond = -fallen - slope
        ideal = GROW if beyond <= 0 else max(SHRINK, -0.5 * slope / beyond)
        trusted = min(state.radius, length) if self.as_published and not state.moved else state.radius
        radius = _next_radius(trusted, length, ideal * length, fallen, promised)
        moved = fallen > ACCEPT * promised
        if moved:
            point = line.point(trial)
        best = state.best.joined(bounds(point))
        gained = best.improves_on(state.best)
        return replace(state, best=best, gained=gained, point=point, radius=radius, moved=state.moved or moved)

    def ends(self, state: Region) -> Status | None:
        """By the gap, or by the gradient."""
        return state.goal.ends(state.best, state.point)

    def result(self, state: Region) -> Certificate:
        """The best point, or that which met the gradient's rule."""
        return state.goal.result(state.best, state.point)

    def left(self, state: Region) -> None:
        """Nothing."""


def _next_radius(radius: float, length: float, ideal: float, fallen: float, promised: float) -> float:
    if fallen < ACCEPT * promised:
        return min(max(ideal, SHRINK * length), HALVE * radius)
    if fallen < POOR * promised:
        return max(SHRINK * radius, min(ideal, HALVE * radius))
    if fallen < GOOD * promised:
        return max(SHRINK * radius, min(ideal, GROW * radius))
    return max(radius, min(ideal, GROW * radius))


def _conjugate_gradients(point: Point, radius: float) -> tuple[FloatArray, FloatArray]:
    """A step within the radius and its residual -gradient - H step; it ends on the boundary where it gets there."""
    r = -point.gradient
    step, p, rr = np.zeros_like(r), r, float(r @ r)
    goal = FORCING**2 * rr
    for _ in range(10 * r.size + 100):
        if rr <= goal:
            break
        Hp = point.hessian_product(p)
        curvature = float(p @ Hp)
        if not curvature > 0:  # by rounding
            break
        t = rr / curvature
        if np.linalg.norm(step + t * p) >= radius:
            t = _to_boundary(step, p, radius)
            return step + t * p, r - t * Hp
        step, r = step + t * p, r - t * Hp
        rr, before = float(r @ r), rr
        p = r + (rr / before) * p
    return step, r


def _to_boundary(step: FloatArray, p: FloatArray, radius: float) -> float:
    """The t > 0 with |step + t p| = radius."""
    sp, pp, ss = float(step @ p), float(p @ p), float(step @ step)
    root = np.sqrt(max(sp * sp + pp * (radius * radius - ss), 0.0))
    return float((radius * radius - ss) / (sp + root)) if sp >= 0 else float((root - sp) / pp)
