"""Nonlinear conjugate gradients for smooth losses, Polak-Ribiere with restarts: RankNCG, section 4.

The line search works in score space, so an iteration takes two products with X whatever it does. `Newton` is the
default because it is faster; this is the paper's own solver, and needs nothing but gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._objective import Objective, Point
from .._preferences import FloatArray
from ._base import Callback, Solution, check_limits
from ._best import descend, start_point
from ._line import search


@dataclass(frozen=True)
class ConjugateGradients:
    """Minimise a smooth objective by nonlinear conjugate gradients.

    Parameters
    ----------
    tol : float
        Stop when the certified gap is at most tol * f(0).
    max_iter : int
        Stop after so many iterations, with the best point and its honest gap.
    """

    tol: float = 1e-3
    max_iter: int = 1000

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights or an earlier solution."""
        point, target = start_point(objective, start), self.tol * objective.value_at_zero
        return descend(point, _Path(point).step, lambda best, _: best.gap <= target, self.max_iter, callback)


class _Path:
    """The last direction and step, from which the next ones follow."""

    def __init__(self, point: Point) -> None:
        self.gradient = point.gradient
        self.direction = -self.gradient
        # Along the first direction the loss changes by about its value within a step of this length.
        self.decrease = point.value

    def step(self, point: Point) -> Point:
        """The next point."""
        g, before = point.gradient, self.gradient
        beta = max(float(g @ (g - before)) / max(float(before @ before), np.finfo(np.float64).tiny), 0.0)
        self.direction = beta * self.direction - g  # beta is 0 at first
        if float(self.direction @ g) >= 0:
            self.direction = -g
        self.gradient = g
        line = point.along(self.direction)
        slope = line.slope
        # The first trial expects to gain twice what the last step did: the minimum of that parabola.
        first = 2.0 * self.decrease / -slope if slope < 0 else 1.0
        trial = search(line, first)
        self.decrease = max(point.value - trial.value, 1e-16 * point.value)
        return line.point(trial)
