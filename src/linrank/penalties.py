"""Penalties P(w): what the objective adds to the mean loss, one class each.

Objective, certificates and the loop know a penalty by the members below and by nothing else. So an elastic net with
bounds will be one more class here: its value, its conjugate and its gap are those of its own formula, infinite outside
of the bounds. What it needs beyond that are directions that keep to the bounds, which is a method's affair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ._typing import FloatArray

__all__ = ["Penalty", "Ridge"]


class Penalty(Protocol):
    """A strongly convex function of the weights, at least 0."""

    @property
    def curvature(self) -> float:
        """The number c by which P - c/2 |w|^2 is still convex: what it adds to the diagonal of a Hessian."""

    def value(self, w: FloatArray) -> float:
        """P(w)."""

    def gradient(self, w: FloatArray) -> FloatArray:
        """The gradient of P."""

    def conjugate(self, v: FloatArray) -> float:
        """P*(v), the maximum over w of v.w - P(w)."""

    def minimiser(self, v: FloatArray) -> FloatArray:
        """The w at which P(w) - v.w is least: the gradient of P*."""

    def gap(self, w: FloatArray, g: FloatArray, error: float = 0.0) -> float:
        """P(w) + P*(-g) + g.w, which Fenchel and Young say is not negative; the most it can be for |g| off by error."""

    def radius(self, value: float) -> float:
        """The largest |w| with P(w) <= value."""

    def free(self, w: FloatArray) -> NDArray[np.bool_]:
        """Which weights a small change of the data would move: neither at a bound nor held at 0."""


@dataclass(frozen=True)
class Ridge:
    """alpha/2 |w|^2."""

    alpha: float

    @property
    def curvature(self) -> float:
        """Alpha."""
        return self.alpha

    def value(self, w: FloatArray) -> float:
        """alpha/2 |w|^2."""
        return 0.5 * self.alpha * float(w @ w)

    def gradient(self, w: FloatArray) -> FloatArray:
        """That is alpha w."""
        return self.alpha * w

    def conjugate(self, v: FloatArray) -> float:
        """|v|^2 / (2 alpha)."""
        return float(v @ v) / (2.0 * self.alpha)

    def minimiser(self, v: FloatArray) -> FloatArray:
        """The vector over alpha."""
        return v / self.alpha

    def gap(self, w: FloatArray, g: FloatArray, error: float = 0.0) -> float:
        """|g + alpha w|^2 / (2 alpha): the three terms of the definition would cancel."""
        r = g + self.alpha * w
        return (math.sqrt(float(r @ r)) + error) ** 2 / (2.0 * self.alpha)

    def radius(self, value: float) -> float:
        """sqrt(2 value / alpha)."""
        return math.sqrt(2.0 * value / self.alpha)

    def free(self, w: FloatArray) -> NDArray[np.bool_]:
        """All of them."""
        return np.ones(w.size, dtype=bool)
