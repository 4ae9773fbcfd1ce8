"""The hinge objective, and a smooth one beside it whose points carry a certificate for the hinge.

The Huberised hinge of width mu has pair weights a = clip((1 - z)/mu, 0, 1). They are feasible for the hinge's own
dual, so

    mean(a) - |X^T g|^2 / (2 alpha)   <=   minimum of the hinge objective,     g the Huberised hinge's gradient,

and a = -phi', whose mean comes with the smooth loss, as does the mean hinge: bounds without listing pairs, and without
another evaluation. Their distance is |grad f_mu|^2 / (2 alpha) + mu mean(a (1 - a)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ._objective import Objective, Point

#: Width below which smoothing is less than rounding.
NARROWEST = 1e-13


class Bounds(NamedTuple):
    """The hinge objective at a point, a lower bound of its minimum, and the part of their distance due to smoothing."""

    value: float
    lower: float
    smoothing: float


@dataclass(frozen=True)
class SmoothedHinge:
    """The hinge objective with its kink rounded off over a width mu."""

    hinge: Objective
    mu: float = 1.0

    @staticmethod
    def applies_to(objective: Objective) -> bool:
        """Whether the objective is one that needs smoothing, and can be smoothed."""
        return not objective.loss.smooth and objective.loss.smoothed(1.0) is not None

    @property
    def objective(self) -> Objective:
        """The smooth objective."""
        loss = self.hinge.loss.smoothed(self.mu)
        assert loss is not None
        return replace(self.hinge, loss=loss)

    def bounds(self, point: Point) -> Bounds:
        """Bounds from a point of the smooth objective and its gradient."""
        alpha, sums = self.hinge.alpha, point.sums
        assert sums.hinge is not None
        value = sums.hinge.hinge / sums.weight + 0.5 * alpha * float(point.w @ point.w)
        mean_slope = (sums.hinge.slope - sums.hinge.slope_error) / sums.weight
        lower = mean_slope - float(point.risk_gradient @ point.risk_gradient) / (2.0 * alpha)
        return Bounds(value, lower, value - lower - float(point.gradient @ point.gradient) / (2.0 * alpha))

    def narrowed(self, target: float, smoothing: float) -> SmoothedHinge:
        """A width at which smoothing takes less than the target; its part goes with the square of the width."""
        mu = self.mu * min(0.5, max(0.1, (0.4 * target / smoothing) ** 0.5))
        return replace(self, mu=max(mu, NARROWEST))
