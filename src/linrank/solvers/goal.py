"""When a method ends: by its certificate, by the gradient, or where the loss's own accuracy allows no more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._errors import ParameterError
from .._once import cached_property
from .._typing import FloatArray
from ..objective import EPS, Objective, Point, zeros
from ._base import Status
from .certificate import Certificate


@dataclass(frozen=True)
class Goal:
    """A gap of tol * f(0), or, where that is asked for, a gradient of gradient_tol * |grad f(0)|, or times `size`.

    The sums of an approximate loss may be too coarse for any certificate to reach the gap. Then a method has come as
    far as it can once their errors are most of what its certificate says, and the gradient is within tol of that at 0.
    """

    objective: Objective
    tol: float
    gradient_tol: float | None = None
    size: float | None = None

    @property
    def gap(self) -> float:
        """The gap wanted."""
        return self.tol * self.objective.value_at_zero

    def __post_init__(self) -> None:
        _ = self.objective.value_at_zero  # a trip of the beginning, not of the first step

    @cached_property
    def _at_zero(self) -> float:
        return _norm(self.objective.at(zeros(self.objective)).gradient)

    def ends(self, best: Certificate, point: Point) -> Status | None:
        """How to end here; None: go on."""
        if self.gradient_tol is not None:
            size = self._at_zero if self.size is None else self.size
            return Status.CONVERGED if _norm(point.gradient) <= self.gradient_tol * size else None
        if best.gap <= self.gap:
            return Status.CONVERGED
        return Status.LIMITED if best.floor >= self.gap and self._as_close_as_can_be(best, point) else None

    def result(self, best: Certificate, point: Point) -> Certificate:
        """The best point, or, where the gradient decides, the one that was asked last."""
        return best if self.gradient_tol is None else best.at(point)

    def _as_close_as_can_be(self, best: Certificate, point: Point) -> bool:
        without_errors = self.objective.penalty.gap(point.w, point.risk_gradient, risk=point.risk)
        small = max(self.tol, math.sqrt(EPS))  # rounding may leave no smaller gradient
        return 4.0 * without_errors <= best.floor and _norm(point.gradient) <= small * self._at_zero


def _norm(vector: FloatArray) -> float:
    return float(np.linalg.norm(vector))


def check_gradient_tol(gradient_tol: float | None) -> None:
    """Refuse a tolerance that no gradient meets."""
    if gradient_tol is not None and not 0 < gradient_tol < np.inf:
        raise ParameterError(f"gradient_tol={gradient_tol!r} must be a finite number above 0, or None.")
