"""The best point of a smooth objective so far, with its certificate."""

from __future__ import annotations

import numpy as np

from .._objective import Objective, Point, zeros


class Best:
    """Keeps the point of least value and the greatest lower bound: f(w) - |grad f(w)|^2 / (2 alpha), or 0."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.w = zeros(objective)
        self.value = self.gap = np.inf

    def certify(self, point: Point) -> bool:
        """Take note of a point; whether it improves on those before."""
        size = float(np.linalg.norm(point.gradient)) + point.gradient_error
        lower = max(point.value - size**2 / (2.0 * self.objective.alpha), 0.0) - point.rounding
        before = self.value, self.gap
        lower = max(lower, self.value - self.gap) if np.isfinite(self.gap) else lower
        if point.value < self.value:
            self.w, self.value = point.w, point.value
        self.gap = max(self.value - lower, 0.0)
        return self.value < before[0] or self.gap < before[1]
