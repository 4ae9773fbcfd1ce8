"""The objective f(w) = alpha/2 |w|^2 + mean loss of X w: the chain rule, written once.

What is known at a point is a value: there is no order of calls. A point costs one product with X, its gradient
one more when it is asked for. A line search works on scores and never touches X: `point.along(d)` multiplies X d
once, and everything evaluated on that line, points included, needs no other product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ._once import cached_property
from ._preferences import FloatArray
from .kernels.products import absolute_dot
from .losses import Curvature, Loss, LossPoint

#: After so many steps along lines, scores are computed from w anew: rounding must not add up.
REFRESH = 100


class Engine(Protocol):
    """What an objective asks of an engine."""

    def dot(self, w: FloatArray) -> FloatArray:
        """Scores X w."""

    def transpose_dot(self, g: FloatArray) -> FloatArray:
        """X^T g."""

    def loss_at(self, loss: Loss, scores: FloatArray) -> LossPoint:
        """The loss at given scores."""

    def hessian_steps(self, loss: Loss) -> float | None:
        """Cost of an exact Hessian in steps of conjugate gradients; None where it cannot be had."""

    def hessian(self, curvature: Curvature, scale: FloatArray | None) -> FloatArray:
        """X^T (curvature) X with the columns of X divided by `scale`."""

    def largest_row(self, scale: FloatArray | None) -> float:
        """Largest norm of a row of X, its columns divided by `scale`."""

    def sample(self, n_rows: int) -> Engine | None:
        """An engine for a sample of about n_rows rows, or None."""

    def rounded(self) -> Engine | None:
        """An engine whose products are faster because they read X in float32, or None."""


@dataclass(frozen=True)
class Objective:
    """f over d-vectors w; `scale` divides the columns of X, so w lives in scaled units."""

    engine: Engine
    loss: Loss
    alpha: float
    n_features: int
    scale: FloatArray | None = None

    @property
    def value_at_zero(self) -> float:
        """f(0): the loss of equal scores."""
        return self.loss.value_at_zero

    @cached_property
    def largest_row(self) -> float:
        """Largest norm of a row of X in scaled units."""
        return self.engine.largest_row(self.scale)

    def sample(self, n_rows: int) -> Objective | None:
        """The same objective over a sample of the rows, or None where that is no use."""
        engine = self.engine.sample(n_rows)
        return None if engine is None else replace(self, engine=engine)

    def rounded(self) -> Objective | None:
        """The same objective with X in float32, or None where that is no faster."""
        engine = self.engine.rounded()
        return None if engine is None else replace(self, engine=engine)

    def scores(self, w: FloatArray) -> FloatArray:
        """X w in scaled units."""
        return self.engine.dot(w if self.scale is None else w / self.scale)

    def back(self, g: FloatArray) -> FloatArray:
        """X^T g in scaled units."""
        product = self.engine.transpose_dot(g)
        return product if self.scale is None else product / self.scale

    def at(self, w: FloatArray) -> Point:
        """Evaluate the objective: one product with X, and one more if its gradient is asked for."""
        return self.at_scores(w, self.scores(w))

    def at_scores(self, w: FloatArray, scores: FloatArray, steps: int = 0) -> Point:
        """Evaluate the objective where X w is known already: no product with X."""
        return Point(self, w, scores, self.engine.loss_at(self.loss, scores), steps)


@dataclass(frozen=True)
class Point:
    """All that is known of the objective at w."""

    objective: Objective
    w: FloatArray
    scores: FloatArray
    loss: LossPoint
    steps: int  # taken along lines since the scores were computed from w

    @property
    def risk(self) -> float:
        """The mean loss."""
        return self.loss.value

    @cached_property
    def risk_gradient(self) -> FloatArray:
        """A (sub)gradient of the mean loss: one product with X^T, when first asked for."""
        return self.objective.back(self.loss.gradient)

    @cached_property
    def value(self) -> float:
        """f(w)."""
        return self.risk + 0.5 * self.objective.alpha * float(self.w @ self.w)

    @cached_property
    def rounding(self) -> float:
        """About how far rounding, and the loss's own error, may have moved the value: certificates add it."""
        terms = self.risk + absolute_dot(self.loss.gradient, self.scores)
        return 4.0 * float(np.finfo(np.float64).eps) * (self.value + terms) + self.loss.error

    @cached_property
    def gradient(self) -> FloatArray:
        """A (sub)gradient of f at w."""
        return self.risk_gradient + self.objective.alpha * self.w

    @property
    def gradient_error(self) -> float:
        """How far the gradient may be off because the loss's sums are approximate; certificates add it."""
        error = self.loss.gradient_error
        return error * self.objective.largest_row if error > 0 else 0.0

    def hessian_product(self, v: FloatArray) -> FloatArray:
        """Hessian times v, for smooth losses: two products with X."""
        return self._hessian_product(self.objective, v)

    def rounded_hessian_product(self, v: FloatArray) -> FloatArray:
        """The same to the digits of float32, faster where X is sparse: good for directions, not for certificates."""
        return self._hessian_product(self.objective.rounded() or self.objective, v)

    def _hessian_product(self, objective: Objective, v: FloatArray) -> FloatArray:
        return objective.back(self._curvature.product(objective.scores(v))) + objective.alpha * v

    @property
    def hessian_steps(self) -> float | None:
        """Cost of the exact Hessian in Hessian products; None where it cannot be had."""
        return self.objective.engine.hessian_steps(self.objective.loss)

    def risk_hessian(self) -> FloatArray:
        """The exact d x d Hessian of the mean loss, for smooth losses."""
        return self.objective.engine.hessian(self._curvature, self.objective.scale)

    def hessian(self) -> FloatArray:
        """The exact d x d Hessian of f, for smooth losses."""
        H = self.risk_hessian()
        H[np.diag_indices_from(H)] += self.objective.alpha
        return H

    @property
    def _curvature(self) -> Curvature:
        if self.loss.curvature is None:
            raise TypeError(f"the loss {self.objective.loss.name!r} is not smooth: it has no Hessian")
        return self.loss.curvature

    def along(self, d: FloatArray) -> Line:
        """The objective on w + t d: one product with X, whatever is evaluated on it."""
        return Line(self, d, self.objective.scores(d))


@dataclass(frozen=True)
class Trial:
    """The objective at one point of a line; unpacks as (value, slope, curvature)."""

    t: float
    value: float
    slope: float
    risk: float
    risk_slope: float
    scores: FloatArray
    loss: LossPoint
    line: Line

    @property
    def curvature(self) -> float | None:
        """Second derivative on the line; None where the loss is not smooth."""
        if self.loss.curvature is None:
            return None
        along = float(self.line.score_d @ self.loss.curvature.product(self.line.score_d))
        return along + self.line.start.objective.alpha * float(self.line.d @ self.line.d)

    def __iter__(self) -> Iterator[float | None]:
        return iter((self.value, self.slope, self.curvature))


@dataclass(frozen=True)
class Line:
    """The objective on start.w + t d."""

    start: Point
    d: FloatArray
    score_d: FloatArray  # X d

    @cached_property
    def slope(self) -> float:
        """Slope at t = 0."""
        return float(self.start.loss.gradient @ self.score_d) + self.start.objective.alpha * float(
            self.start.w @ self.d
        )

    def at(self, t: float) -> Trial:
        """Value and slope at t, in score space."""
        objective, start = self.start.objective, self.start
        scores = t * self.score_d
        scores += start.scores
        loss = objective.engine.loss_at(objective.loss, scores)
        risk_slope = float(loss.gradient @ self.score_d)
        wd, dd = float(start.w @ self.d), float(self.d @ self.d)
        ww = float(start.w @ start.w)
        value = loss.value + 0.5 * objective.alpha * (ww + 2 * t * wd + t * t * dd)
        slope = risk_slope + objective.alpha * (wd + t * dd)
        return Trial(t, value, slope, loss.value, risk_slope, scores, loss, self)

    def point(self, at: float | Trial) -> Point:
        """The full point at t, or at a trial already evaluated; no product with X."""
        trial = at if isinstance(at, Trial) else self.at(at)
        objective = self.start.objective
        w = self.start.w + trial.t * self.d
        if self.start.steps + 1 >= REFRESH:
            return objective.at(w)
        return Point(objective, w, trial.scores, trial.loss, self.start.steps + 1)


def zeros(objective: Objective) -> FloatArray:
    """The starting point of a solver that is given none."""
    return np.zeros(objective.n_features)
