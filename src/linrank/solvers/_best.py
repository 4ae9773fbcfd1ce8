"""The best point of a smooth objective so far, with its certificate, and the loop of solvers that know no more."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from .._objective import Objective, Point, zeros
from .._preferences import FloatArray
from ._base import Callback, Iteration, Solution, ending

#: Iterations without progress after which rounding is to blame.
STALL = 5


class Best:
    """Keeps the point of least value and the greatest lower bound: f(w) - |grad f(w)|^2 / (2 alpha), or 0."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.w = zeros(objective)
        self.value = self.gap = np.inf

    def certify(self, point: Point) -> bool:
        """Take note of a point; whether it improves on those before."""
        if not np.isfinite(point.value) or not np.all(np.isfinite(point.gradient)):
            return False
        size = float(np.linalg.norm(point.gradient)) + point.gradient_error
        lower = max(point.value - size**2 / (2.0 * self.objective.alpha), 0.0) - point.rounding
        before = self.value, self.gap
        lower = max(lower, self.value - self.gap) if np.isfinite(self.gap) else lower
        if point.value < self.value:
            self.w, self.value = point.w, point.value
        self.gap = max(self.value - lower, point.rounding)
        return self.value < before[0] or self.gap < before[1]


def start_point(objective: Objective, start: FloatArray | Solution | None) -> Point:
    """Where to start: given weights, an earlier solution, or zero."""
    given = start.w if isinstance(start, Solution) else start
    return objective.at(zeros(objective) if given is None else given)


def descend(
    point: Point,
    step: Callable[[Point], Point],
    converged: Callable[[Best, Point], bool],
    max_iter: int,
    callback: Callback | None,
) -> Solution:
    """Take steps from a point until they have converged, stall or are too many."""
    begin, best, history, still = time.perf_counter(), Best(point.objective), list[Iteration](), 0
    while True:
        still = 0 if best.certify(point) else still + 1
        history.append(Iteration(len(history) + 1, best.value, best.gap, time.perf_counter() - begin))
        if callback is not None:
            callback(history[-1])
        status = ending(converged(best, point), still >= STALL, len(history), max_iter)
        if status is not None:
            return Solution(best.w, best.value, best.gap, status, history)
        point = step(point)
