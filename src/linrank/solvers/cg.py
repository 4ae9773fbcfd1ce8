"""Nonlinear conjugate gradients for smooth losses, Polak-Ribiere with restarts: RankNCG, section 4.

The line search works in score space, so an iteration takes two products with X whatever it does. `Newton` is the
default because it is faster; this is the paper's own solver, and needs nothing but gradients. With `as_published` it
takes the paper's steps: its line search reads slopes alone, and its result is the last point, whatever its value is.
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
from .line_search import search, search_slopes

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Path(State):
    """A point, and the last direction and step, from which the next ones follow."""

    point: Point
    gradient: FloatArray  # at the point before
    direction: FloatArray
    expected: float  # what the next step should gain, to first order
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
    as_published : bool
        Take the paper's steps; gradient_tol is then relative to the gradient at the start.
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

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> Path:
        """Steepest descent first: the loss changes by about its value; the paper's first trial is of length 1."""
        point = start_point(objective, start)
        size = float(np.linalg.norm(point.gradient))
        goal = Goal(objective, self.tol, self.gradient_tol, size if self.as_published else None)
        best = Certificate.none(objective).joined(bounds(point))
        expected = size if self.as_published else 2.0 * point.value
        return Path(best, True, False, point, point.gradient, -point.gradient, expected, goal)

    def step(self, state: Path) -> Path:
        """A step along the next conjugate direction."""
        point, g, before = state.point, state.point.gradient, state.gradient
        beta = max(float(g @ (g - before)) / max(float(before @ before), TINY), 0.0)  # 0 at first
        direction = beta * state.direction - g
        if float(direction @ g) >= 0:
            direction = -g
        line = point.along(direction)
        first = state.expected / -line.slope if line.slope < 0 else 1.0
        if self.as_published:
            trial = search_slopes(line, first)
            found = line.point(trial)
            best = state.best.joined(bounds(found)).at(found)
            gained = best.improves_on(state.best) or float(found.gradient @ found.gradient) < float(g @ g)
            return Path(best, gained, False, found, g, direction, -trial.t * line.slope, state.goal)
        trial = search(line, first)
        # The next trial expects to gain twice what this step did: the minimum of that parabola.
        expected = 2.0 * max(point.value - trial.value, 1e-16 * point.value)
        found = line.point(trial)
        best = state.best.joined(bounds(found))
        return Path(best, best.improves_on(state.best), False, found, g, direction, expected, state.goal)

    def ends(self, state: Path) -> Status | None:
        """By the gap, or by the gradient."""
        return state.goal.ends(state.best, state.point)

    def result(self, state: Path) -> Certificate:
        """The best point, or that which met the gradient's rule."""
        return state.goal.result(state.best, state.point)

    def left(self, state: Path) -> None:
        """Nothing."""
