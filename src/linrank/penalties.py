"""Penalties P(w): what the objective adds to the mean loss, one class each.

Objective, certificates and the loop know a penalty by the members below and by nothing else. `Ridge` is smooth. An
`ElasticNet` has kinks at 0 and ends at its bounds; between these it is quadratic, piece by piece, which is what
Newton's method on faces makes use of (`solvers/newton/face.py`).

Every bound of the minimum comes from a plane a.w + b below the mean loss R. No loss is negative, so theta times the
plane is below R as well, for every theta in [0, 1]:

    min f  >=  theta b - P*(-theta a).

For the ridge theta = 1 will do. Where P is an l1 norm alone, P*(-a) is infinite unless all |a_j| <= beta: the best
theta, a concave problem of one number, makes it finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ._errors import ParameterError
from ._typing import FloatArray, IntArray

__all__ = ["ElasticNet", "Penalty", "Ridge"]

#: The best theta is sought until what is left to gain is this part of the plane's height, or for so many trials.
CLOSE, TRIALS = 1e-10, 60
EPS = float(np.finfo(np.float64).eps)
#: So that rounding leaves no weight other than 0 at the alpha that promises it.
ROUNDED_UP = 1e-12


class Penalty(Protocol):
    """A convex function of the weights, at least 0 and with bounded level sets; infinite outside of its bounds."""

    @property
    def smooth(self) -> bool:
        """Whether it is so everywhere: without kinks and bounds."""

    @property
    def curvature(self) -> float:
        """The number c by which P - c/2 |w|^2 is still convex: what it adds to the diagonal of a Hessian."""

    def value(self, w: FloatArray) -> float:
        """P(w)."""

    def gradient(self, w: FloatArray) -> FloatArray:
        """A (sub)gradient of P."""

    def steepest(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """The shortest of all g + p, p a subgradient of P at w: with g that of R, 0 at a minimum of f."""

    def slope(self, w: FloatArray, d: FloatArray) -> float:
        """How P rises at w for one who has come there along d."""

    def conjugate(self, v: FloatArray) -> float:
        """P*(v), the maximum over w of v.w - P(w)."""

    def minimiser(self, v: FloatArray) -> FloatArray:
        """The w at which P(w) - v.w is least: the gradient of P*."""

    def gap(self, w: FloatArray, g: FloatArray, error: float = 0.0, risk: float | None = None) -> float:
        """How far f(w) is above the minimum at most, by the plane of slope g through R(w) = risk.

        |g| may be off by `error`. Where the risk is not told, theta is 1: P(w) + P*(-g) + g.w, which Fenchel and Young
        say is not negative.
        """

    def bound(self, a: FloatArray, b: float) -> float:
        """What the plane a.w + b says of the minimum: theta b - P*(-theta a) for the best theta."""

    def floor(self, w: FloatArray, value: float, error: float) -> float:
        """What an error of |g| adds to a gap at a w with f(w) = value."""

    def radius(self, value: float) -> float:
        """The largest |w| with P(w) <= value."""

    def nearest(self, w: FloatArray) -> FloatArray:
        """The point within the bounds that is nearest to w."""

    def free(self, w: FloatArray) -> NDArray[np.bool_]:
        """Which weights are neither at a kink nor at a bound: at the minimum, those that the data determine."""


@dataclass(frozen=True)
class Ridge:
    """alpha/2 |w|^2."""

    alpha: float

    smooth = True

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

    def steepest(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """That is g + alpha w."""
        return g + self.alpha * w

    def slope(self, w: FloatArray, d: FloatArray) -> float:
        """That is alpha w.d."""
        return float((self.alpha * w) @ d)

    def conjugate(self, v: FloatArray) -> float:
        """|v|^2 / (2 alpha)."""
        return float(v @ v) / (2.0 * self.alpha)

    def minimiser(self, v: FloatArray) -> FloatArray:
        """The vector over alpha."""
        return v / self.alpha

    def gap(self, w: FloatArray, g: FloatArray, error: float = 0.0, risk: float | None = None) -> float:
        """|g + alpha w|^2 / (2 alpha) by theta = 1: the terms of the definition would cancel."""
        r = g + self.alpha * w
        return (math.sqrt(float(r @ r)) + error) ** 2 / (2.0 * self.alpha)

    def bound(self, a: FloatArray, b: float) -> float:
        """By theta = 1: b - |a|^2 / (2 alpha)."""
        return b - self.conjugate(a)

    def floor(self, w: FloatArray, value: float, error: float) -> float:
        """error^2 / (2 alpha)."""
        return error**2 / (2.0 * self.alpha)

    def radius(self, value: float) -> float:
        """sqrt(2 value / alpha)."""
        return math.sqrt(2.0 * value / self.alpha)

    def nearest(self, w: FloatArray) -> FloatArray:
        """The point itself."""
        return w

    def free(self, w: FloatArray) -> NDArray[np.bool_]:
        """All."""
        return np.ones(w.size, dtype=bool)


@dataclass(frozen=True, eq=False)
class ElasticNet:
    """alpha (1 - l1_ratio)/2 |w|^2 + alpha l1_ratio |w|_1 within lower <= w <= upper, infinite outside.

    The bounds are numbers, or one for each weight; they may exclude 0.
    """

    alpha: float
    l1_ratio: float = 0.0
    lower: FloatArray | float = -np.inf
    upper: FloatArray | float = np.inf

    smooth = False

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < np.inf:
            raise ParameterError(f"alpha={self.alpha!r} must be a finite number above 0.")
        if not 0.0 <= self.l1_ratio <= 1.0:
            raise ParameterError(f"l1_ratio={self.l1_ratio!r} must be a number from 0 to 1.")
        if not np.all((self.lower <= self.upper) & (self.lower < np.inf) & (self.upper > -np.inf)):
            raise ParameterError("A bound is empty: each lower one must be a number at most the upper one.")

    @property
    def curvature(self) -> float:
        """That is alpha (1 - l1_ratio)."""
        return self.alpha * (1.0 - self.l1_ratio)

    @property
    def beta(self) -> float:
        """What a weight costs by its size: alpha l1_ratio."""
        return self.alpha * self.l1_ratio

    def value(self, w: FloatArray) -> float:
        """By its definition."""
        if np.any(w < self.lower) or np.any(w > self.upper):
            return math.inf
        return self._within(w)

    def _within(self, w: FloatArray) -> float:
        return 0.5 * self.curvature * float(w @ w) + self.beta * float(np.abs(w).sum())

    def gradient(self, w: FloatArray) -> FloatArray:
        """That with sign(0) = 0."""
        return self.curvature * w + self.beta * np.sign(w)

    def steepest(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """The slope to the right where that falls, the slope to the left where that rises, else 0, weight by weight."""
        h = g + self.curvature * w
        right = np.where(w < self.upper, h + np.where(w >= 0.0, self.beta, -self.beta), np.inf)
        left = np.where(w > self.lower, h + np.where(w > 0.0, self.beta, -self.beta), -np.inf)
        return np.where(right < 0.0, right, np.where(left > 0.0, left, 0.0))

    def slope(self, w: FloatArray, d: FloatArray) -> float:
        """A weight that comes to 0 has been falling in size."""
        l1 = float(np.sign(w) @ d) - float(np.abs(d[w == 0.0]).sum())
        return self.curvature * float(w @ d) + self.beta * l1

    def conjugate(self, v: FloatArray) -> float:
        """v.w - P(w) at its maximiser; infinite where that is."""
        w = self.minimiser(v)
        return float(v @ w) - self._within(w) if np.all(np.isfinite(w)) else math.inf

    def minimiser(self, v: FloatArray) -> FloatArray:
        """clip(soft(v, beta) / curvature, lower, upper); without curvature, 0 or as far as the bounds allow."""
        soft = np.sign(v) * np.maximum(np.abs(v) - self.beta, 0.0)
        if self.curvature > 0.0:
            return np.clip(soft / self.curvature, self.lower, self.upper)
        return np.where(soft == 0.0, np.clip(0.0, self.lower, self.upper), np.where(soft > 0, self.upper, self.lower))

    def gap(self, w: FloatArray, g: FloatArray, error: float = 0.0, risk: float | None = None) -> float:
        """(1 - theta) R(w) + P(w) + P*(-theta g) + theta g.w: the last three weight by weight, where they cancel.

        A gradient that is off by `error` moves the plane by no more than that times |w| + |minimiser|.
        """
        theta = 1.0 if risk is None else self._theta(g, risk - float(g @ w))
        x = self.minimiser(-theta * g)
        if not np.all(np.isfinite(x)):
            return math.inf
        terms = (w - x) * (0.5 * self.curvature * (w + x) + theta * g) + self.beta * (np.abs(w) - np.abs(x))
        lost = 0.0 if risk is None else (1.0 - theta) * risk
        off = self.floor(w, (risk or 0.0) + self._within(w), error) if error else 0.0
        return lost + max(float(terms.sum()), 0.0) + off

    def bound(self, a: FloatArray, b: float) -> float:
        """By the best theta."""
        theta = self._theta(a, b)
        return theta * b - self.conjugate(-theta * a)

    def _theta(self, a: FloatArray, b: float) -> float:
        """Where theta b - P*(-theta a) is greatest in [0, 1]: its slope, b + a.minimiser(-theta a), falls to 0."""

        def slope(theta: float) -> float:
            return b + float(a @ self.minimiser(-theta * a))

        high = self._most(a)
        slope_high = slope(high)
        if slope_high >= 0.0:
            return high
        low, slope_low = 0.0, slope(0.0)
        if not slope_low > 0.0:
            return low
        moved = ""
        for _ in range(TRIALS):
            if slope_low * (high - low) <= CLOSE * abs(b):
                break
            part = min(max(slope_low / (slope_low - slope_high), 0.01), 0.99)
            theta = low + part * (high - low)
            here = slope(theta)
            if here >= 0.0:  # an end that stays put twice counts half: the Illinois rule
                slope_high *= 0.5 if moved == "low" else 1.0
                low, slope_low, moved = theta, here, "low"
            else:
                slope_low *= 0.5 if moved == "high" else 1.0
                high, slope_high, moved = theta, here, "high"
        return low

    def _most(self, a: FloatArray) -> float:
        """The largest theta for which P*(-theta a) is finite."""
        if self.curvature > 0.0:
            return 1.0
        endless = np.where(a < 0.0, np.equal(self.upper, np.inf), np.equal(self.lower, -np.inf))
        steepest = float(np.max(np.abs(a[endless]), initial=0.0))
        return 1.0 if steepest <= self.beta else (1.0 - 4.0 * EPS) * self.beta / steepest

    def floor(self, w: FloatArray, value: float, error: float) -> float:
        """The error times |w| and a bound of the minimiser's size."""
        return error * (math.sqrt(float(w @ w)) + self.radius(value))

    def radius(self, value: float) -> float:
        """By the squares, by the l1 norm, or by the bounds, whichever is least."""
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        most = math.sqrt(float(size @ size)) if size.ndim else math.inf
        if self.curvature > 0.0:
            most = min(most, math.sqrt(2.0 * value / self.curvature))
        return min(most, value / self.beta) if self.beta > 0.0 else most

    def nearest(self, w: FloatArray) -> FloatArray:
        """Clipped."""
        return np.clip(w, self.lower, self.upper)

    def free(self, w: FloatArray) -> NDArray[np.bool_]:
        """Those inside their bounds, and with an l1 part, other than 0."""
        inside: NDArray[np.bool_] = (w > self.lower) & (w < self.upper)
        return inside & (w != 0.0) if self.beta > 0.0 else inside

    def piece(self, w: FloatArray, towards: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The ends, for each weight, of the interval around it on which P is smooth; from a kink, that on one side."""
        lower, upper = np.broadcast_to(self.lower, w.shape), np.broadcast_to(self.upper, w.shape)
        if self.beta == 0.0:
            return lower, upper
        side = np.where(w == 0.0, towards, w)
        return np.where(side > 0.0, np.maximum(lower, 0.0), lower), np.where(side < 0.0, np.minimum(upper, 0.0), upper)

    def of(self, columns: IntArray) -> ElasticNet:
        """The penalty of some of the weights."""
        lower, upper = (
            bound[columns] if isinstance(bound, np.ndarray) else bound for bound in (self.lower, self.upper)
        )
        return replace(self, lower=lower, upper=upper)

    def strongest(self, g: FloatArray) -> float:
        """The alpha from which on no weight leaves 0, g the gradient of the mean loss there.

        Only weights that may be 0 count, and directions that their bounds permit: 0 where there are none of these.
        """
        up = np.less_equal(self.lower, 0.0) & np.greater(self.upper, 0.0)
        down = np.less(self.lower, 0.0) & np.greater_equal(self.upper, 0.0)
        steepest = float(np.max(np.abs(g[np.where(g < 0.0, up, down)]), initial=0.0))
        return (1.0 + ROUNDED_UP) * steepest / self.l1_ratio if self.l1_ratio > 0.0 else math.inf
