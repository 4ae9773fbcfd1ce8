"""Certificates: how far above the minimum a value can be at most.

For any w with a (sub)gradient g of the mean loss R there, R lies above its tangent, and above 0, as no loss is
negative; so above theta times the tangent for every theta in [0, 1]:

    min f         >=  theta (R(w) - g.w) - P*(-theta g),
    f(w) - min f  <=  (1 - theta) R(w) + P(w) + P*(-theta g) + theta g.w :

one formula for every loss and penalty (`Penalty.gap`, which knows the best theta); for the ridge it is
|grad f(w)|^2 / (2 alpha), by theta = 1. What rounding and approximate sums may have done is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray
from ..objective import Objective, Point


class Bounds(NamedTuple):
    """The objective at one point, and a lower bound of its minimum."""

    w: FloatArray
    value: float
    lower: float
    rounding: float  # that is part of the bound: no gap is smaller
    floor: float = 0.0  # what errors of approximate sums add to a gap at such a point


def bounds(point: Point) -> Bounds | None:
    """What a point says of its objective; None where it overflows, or rounding is all there is."""
    if not point.sound:
        return None
    penalty, error = point.objective.penalty, point.gradient_error
    gap = penalty.gap(point.w, point.risk_gradient, error, point.risk)
    floor = point.error + (penalty.floor(point.w, point.value, error) if error else 0.0)
    return Bounds(point.w, point.value, max(point.value - gap, 0.0) - point.rounding, point.rounding, floor)


@dataclass(frozen=True)
class Certificate:
    """The best point so far, and the greatest lower bound of the minimum: wherever each of them was found."""

    w: FloatArray
    value: float = np.inf
    lower: float = -np.inf
    rounding: float = 0.0
    floor: float = 0.0
    own: bool = True  # whether value and bound were found at the same point

    @staticmethod
    def none(objective: Objective) -> Certificate:
        """Nothing is known."""
        return Certificate(np.zeros(objective.n_features))

    @property
    def gap(self) -> float:
        """The best value is at most so far above the minimum.

        A bound carries the errors of its own point; where that is another one, those of the best value are added.
        """
        return max(self.value - self.lower + (0.0 if self.own else self.rounding), self.rounding)

    def joined(self, found: Bounds | None) -> Certificate:
        """With what one more point says."""
        if found is None:
            return self
        w, value = (found.w, found.value) if found.value < self.value else (self.w, self.value)
        as_good, higher = found.value <= self.value, found.lower > self.lower
        rounding = found.rounding if as_good else self.rounding
        own = as_good if higher else self.own and not found.value < self.value
        return Certificate(w, value, max(self.lower, found.lower), rounding, found.floor, own)

    def at(self, point: Point) -> Certificate:
        """What is known of another point, for a method whose result is its last one."""
        if not point.sound:
            return self
        return replace(self, w=point.w, value=point.value, rounding=point.rounding, own=False)

    def improves_on(self, other: Certificate) -> bool:
        """Whether something was gained."""
        return self.value < other.value or self.gap < other.gap
