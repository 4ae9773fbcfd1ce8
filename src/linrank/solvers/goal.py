"""When a method ends: by its certificate, by the gradient, or where the loss's own accuracy allows no more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._errors import ParameterError
from ..objective import Objective, Point, zeros
from ._base import Status
from .certificate import Certificate


@dataclass(frozen=True)
class Goal:
    """The gap that is wanted, or, where that is asked for, the norm of the gradient."""

    gap: float
    gradient: float | None = None

    @staticmethod
    def of(objective: Objective, tol: float, gradient_tol: float | None = None, start: Point | None = None) -> Goal:
        """Tol * f(0), or gradient_tol * |grad f(0)|; `start` is a point that may be at zero, evaluated already."""
        if gradient_tol is None:
            return Goal(tol * objective.value_at_zero)
        at_zero = start if start is not None and not np.any(start.w) else objective.at(zeros(objective))
        return Goal(tol * objective.value_at_zero, gradient_tol * float(np.linalg.norm(at_zero.gradient)))

    def ends(self, best: Certificate, point: Point) -> Status | None:
        """How to end here; None: go on."""
        if self.gradient is not None:
            return Status.CONVERGED if float(np.linalg.norm(point.gradient)) <= self.gradient else None
        return self.reached(best)

    def reached(self, best: Certificate) -> Status | None:
        """The same by the certificate alone: within tol, or as small as approximate sums let it be."""
        if best.gap <= self.gap:
            return Status.CONVERGED
        return Status.LIMITED if best.floor >= self.gap and best.gap <= 2.0 * best.floor else None


def check_gradient_tol(gradient_tol: float | None) -> None:
    """Refuse a tolerance that no gradient meets."""
    if gradient_tol is not None and not gradient_tol > 0:
        raise ParameterError(f"gradient_tol={gradient_tol!r} must be above 0, or None.")
