"""The objective that Newton's method sees: the one given, or, for the hinge, a smooth one beside it.

The Huberised hinge of width mu has pair weights a = clip((1 - z)/mu, 0, 1). They are feasible for the hinge's own
dual, so

    theta mean(a) - P*(-theta X^T g)   <=   minimum of the hinge objective,     g the Huberised hinge's gradient,

for every theta in [0, 1], and a = -phi', whose mean comes with the smooth loss, as does the mean hinge: bounds without
listing pairs, and without another evaluation. For the ridge, and theta = 1, their distance is
|grad f_mu|^2 / (2 alpha) + mu mean(a (1 - a)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ...objective import Objective, Point
from ..certificate import Bounds, bounds

#: A width shrinks to this part of itself at most, at a time; ``benchmarks/run.py ablation`` says what that is worth.
SHRINKS = 0.1
#: Width below which smoothing is less than rounding.
NARROWEST = 1e-13


class View(NamedTuple):
    """What a point says of the objective given, and the part of the gap that is due to smoothing."""

    bounds: Bounds | None
    smoothing: float


@dataclass(frozen=True)
class Given:
    """An objective that is smooth itself."""

    objective: Objective
    mu: float = 1.0  # as if it had been smoothed so far: what a start from here hands on

    def at(self, point: Point) -> View:
        """Its own bounds."""
        return View(bounds(point), 0.0)

    def narrowed(self, target: float, smoothing: float) -> Given:
        """There is nothing to narrow."""
        return self


@dataclass(frozen=True)
class Smoothed:
    """The hinge objective with its kink rounded off over a width mu."""

    hinge: Objective
    mu: float = 1.0

    @property
    def objective(self) -> Objective:
        """The smooth objective."""
        loss = self.hinge.loss.smoothed(self.mu)
        assert loss is not None
        return replace(self.hinge, loss=loss)

    def at(self, point: Point) -> View:
        """Bounds of the hinge objective from a point of the smooth one and its gradient."""
        if not point.sound:
            return View(None, 0.0)
        penalty, sums = self.hinge.penalty, point.sums
        assert sums.hinge is not None
        value = sums.hinge.hinge / sums.weight + penalty.value(point.w)
        mean_slope = (sums.hinge.slope - sums.hinge.slope_error) / sums.weight
        lower = penalty.bound(point.risk_gradient, mean_slope)
        smoothing = value - lower - penalty.gap(point.w, point.risk_gradient, risk=point.risk)
        return View(Bounds(point.w, value, max(lower, 0.0) - point.rounding, point.rounding, point.error), smoothing)

    def narrowed(self, target: float, smoothing: float) -> Smoothed:
        """Half the width at which smoothing would take all of the target: it goes with the square of the width."""
        return replace(self, mu=max(self.mu * max(SHRINKS, 0.5 * (target / smoothing) ** 0.5), NARROWEST))


def view_of(objective: Objective, mu: float = 1.0) -> Given | Smoothed:
    """The objective as Newton's method takes it; mu is the width for one that must be smoothed."""
    smooth = objective.loss.smooth or objective.loss.smoothed(mu) is None
    return Given(objective, mu) if smooth else Smoothed(objective, mu)
