"""Nonlinear conjugate gradients for smooth losses, Polak-Ribiere with restarts: RankNCG, section 4.

The line search works in score space, so an iteration takes two products with X whatever it does. `Newton` is the
default because it is faster; this is the paper's own solver, and needs nothing but gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..objective import Objective, Point
from ._base import Callback, Solution, Status
from .certificate import Certificate, bounds
from .goal import Goal, check_gradient_tol
from .iterate import State, check_limits, iterate, start_point
from .line_search import search

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Path(State):
    """A point, and the last direction and step, from which the next ones follow."""

    point: Point
    gradient: FloatArray  # at the point before
    direction: FloatArray
    decrease: float  # of the objective, by the last step
    goal: Goal


@dataclass(frozen=True)
class ConjugateGradients:
    """Minimise a smooth objective by nonlinear conjugate gradients.

    Parameters
    ----------
    tol : float
        Stop when the certified gap is at most tol * f(0).
    max_iter : int
        Stop after so many iterations, with the best point and its honest gap.
    gradient_tol : float or None
        Stop instead when |grad f(w)| <= gradient_tol * |grad f(0)|: RankNCG's "tolerance", so read.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    gradient_tol: float | None = None

    stall = 5

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)
        check_gradient_tol(self.gradient_tol)

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights or an earlier solution."""
        return iterate(self, objective, start, callback)

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> Path:
        """Steepest descent first: the loss changes by about its value within the first step."""
        point = start_point(objective, start)
        goal = Goal(objective, self.tol, self.gradient_tol)
        best = Certificate.none(objective).joined(bounds(point))
        return Path(best, True, False, point, point.gradient, -point.gradient, point.value, goal)

    def step(self, state: Path) -> Path:
        """A step along the next conjugate direction."""
        point, g, before = state.point, state.point.gradient, state.gradient
        beta = max(float(g @ (g - before)) / max(float(before @ before), TINY), 0.0)  # 0 at first
        direction = beta * state.direction - g
        if float(direction @ g) >= 0:
            direction = -g
        line = point.along(direction)
        # The first trial expects to gain twice what the last step did: the minimum of that parabola.
        first = 2.0 * state.decrease / -line.slope if line.slope < 0 else 1.0
        trial = search(line, first)
        decrease = max(point.value - trial.value, 1e-16 * point.value)
        point = line.point(trial)
        best = state.best.joined(bounds(point))
        return Path(best, best.improves_on(state.best), False, point, g, direction, decrease, state.goal)

    def ends(self, state: Path) -> Status | None:
        """By the gap, or by the gradient."""
        return state.goal.ends(state.best, state.point)

    def left(self, state: Path) -> None:
        """Nothing."""
