"""The objective f(w) = P(w) + mean loss of X w: the chain rule, written once, on d-vectors.

Rows and scores stay in their engine. What is known at a point is a value: there is no order of calls. A point costs one
product with X, its gradient one more when it is asked for. A line search never touches X: `point.along(d)` multiplies
X d once, and everything evaluated on that line, points included, needs no other product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ._once import cached_property
from ._typing import FloatArray
from .engines.base import Engine, Evaluation, Scores
from .losses import Loss, Sums
from .penalties import Penalty

#: After so many steps along lines, scores are computed from w anew: rounding must not add up.
REFRESH = 100
#: So they are where weights have come down to this part of what they were: scores keep the rounding of larger ones.
FADED = 0.1
#: A gradient's error below this is less than what rounding does to X^T g, and not worth a pass over X for its bound.
TELL = 1e-11
EPS = float(np.finfo(np.float64).eps)
#: A mean loss below minus this part of that at zero is negative by more than rounding.
LEAST = 1e-9


@dataclass(frozen=True)
class Objective:
    """f over d-vectors w; `scale` divides the columns of X, so w lives in scaled units."""

    engine: Engine
    loss: Loss
    penalty: Penalty
    scale: FloatArray | None = None

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return self.engine.facts.features

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.engine.facts.rows

    @cached_property
    def value_at_zero(self) -> float:
        """f(0): the mean loss of equal scores."""
        sums = self.engine.at_zero(self.loss)
        return sums.value / sums.weight

    @cached_property
    def largest_row(self) -> float:
        """Largest norm of a row of X in scaled units."""
        return self.engine.largest_row(self.scale)

    @cached_property
    def evenness(self) -> float:
        """Pairs over those that two grades would have, each of half the rows of its query; 1 at most."""
        facts = self.engine.facts
        return min(1.0, 4.0 * facts.pairs * max(facts.queries, 1) / max(facts.rows, 1) ** 2)

    @cached_property
    def variances(self) -> FloatArray:
        """Variance of each column in scaled units."""
        deviation = self.engine.columns().deviation
        return np.square(deviation if self.scale is None else deviation / self.scale)

    @cached_property
    def unevenness(self) -> float:
        """The largest of the columns' variances over their mean; columns without any do not count."""
        counted = np.count_nonzero(self.variances)
        return counted * float(self.variances.max() / self.variances.sum()) if counted else 0.0

    @property
    def entries_a_row(self) -> float:
        """Stored entries of a row of X on average."""
        return self.engine.facts.entries / max(self.n_rows, 1)

    @cached_property
    def hessian_cost(self) -> float | None:
        """Cost of the exact Hessian in Hessian products; None where it cannot be had."""
        return self.engine.hessian_cost(self.loss)

    def sample(self, n_rows: int) -> Objective | None:
        """The same objective over a sample of the rows, or None where that is no use."""
        engine = self.engine.sample(n_rows)
        return None if engine is None else replace(self, engine=engine)

    def at(self, w: FloatArray) -> Point:
        """Evaluate the objective: one product with X, and one more if its gradient is asked for."""
        return self.at_scores(w, self.scores(w), gradient=True)

    def at_scores(
        self, w: FloatArray, scores: Scores, steps: int = 0, farthest: float = 0.0, gradient: bool = False
    ) -> Point:
        """Evaluate the objective where X w is known already: no product with X."""
        return Point(self, w, self.engine.evaluate(self.loss, scores, gradient=gradient), steps, farthest)

    def scores(self, w: FloatArray) -> Scores:
        """A handle to X w, w in scaled units."""
        return self.engine.scores(w if self.scale is None else w / self.scale)


@dataclass(frozen=True)
class Point:
    """All that is known of the objective at w."""

    objective: Objective
    w: FloatArray
    evaluation: Evaluation
    steps: int  # taken along lines since the scores were computed from w
    farthest: float = 0.0  # largest |w| of the points before, since then

    @property
    def sums(self) -> Sums:
        """The loss's sums."""
        return self.evaluation.sums

    @property
    def risk(self) -> float:
        """The mean loss."""
        return self.sums.value / self.sums.weight

    @cached_property
    def risk_gradient(self) -> FloatArray:
        """A (sub)gradient of the mean loss: one product with X^T, when first asked for."""
        return self.evaluation.gradient(self.objective.scale) / self.sums.weight

    @cached_property
    def value(self) -> float:
        """f(w)."""
        return self.risk + self.objective.penalty.value(self.w)

    @property
    def error(self) -> float:
        """How far the mean loss may be off because its sums are approximate; certificates add it."""
        return self.sums.error / self.sums.weight

    @cached_property
    def rounding(self) -> float:
        """About how far rounding, and the loss's own error, may have moved the value: certificates add it."""
        return 4.0 * EPS * abs(self.value) + self.risk_rounding + self.error

    @cached_property
    def risk_rounding(self) -> float:
        """About how far rounding may have moved the mean loss: the larger the scores, the more."""
        return 4.0 * EPS * (abs(self.risk) + self.sums.size / self.sums.weight)

    @property
    def sound(self) -> bool:
        """Whether there are numbers, and digits left in them: no loss is negative but by rounding."""
        if not math.isfinite(self.value) or not np.isfinite(self.gradient).all():
            return False
        return self.risk >= 0 or -self.risk <= LEAST * self.objective.value_at_zero + self.risk_rounding + self.error

    @cached_property
    def gradient(self) -> FloatArray:
        """The gradient of f at w; where f has a kink, the shortest subgradient: 0 at a minimum."""
        return self.objective.penalty.steepest(self.w, self.risk_gradient)

    @property
    def gradient_error(self) -> float:
        """How far the gradient may be off because the loss's sums are approximate; certificates add it."""
        error = self.sums.gradient_error / self.sums.weight
        return error * self.objective.largest_row if error >= TELL else 0.0

    def hessian_product(self, v: FloatArray, exact: bool = True) -> FloatArray:
        """Hessian times v, for smooth losses: two products with X.

        Not `exact`: to the digits of float32, faster where X is sparse; good for directions, not for certificates.
        """
        product = self.evaluation.hessian_product(v, exact, self.objective.scale)
        return product / self.sums.weight + self.objective.penalty.curvature * v

    def risk_hessian(self) -> FloatArray:
        """The exact d x d Hessian of the mean loss, for smooth losses."""
        return self.evaluation.hessian(self.objective.scale) / self.sums.weight

    def hessian(self) -> FloatArray:
        """The exact d x d Hessian of f, for smooth losses."""
        H = self.risk_hessian()
        H[np.diag_indices_from(H)] += self.objective.penalty.curvature
        return H

    def along(self, d: FloatArray) -> Line:
        """The objective on w + t d: one product with X, whatever is evaluated on it."""
        return Line(self, d, self.objective.scores(d))

    def towards(self, w: FloatArray) -> Segment:
        """The objective between here and another point: one product with X."""
        return Segment(self, w - self.w, self.objective.scores(w - self.w), w)

    def under(self, objective: Objective) -> Point:
        """The same w under another loss: no product with X."""
        return objective.at_scores(self.w, self.evaluation.scores, self.steps, self.farthest, gradient=True)


@dataclass(frozen=True)
class Trial:
    """The objective at one point of a line; unpacks as (value, slope)."""

    t: float
    w: FloatArray
    value: float
    slope: float
    evaluation: Evaluation

    @property
    def risk(self) -> float:
        """The mean loss."""
        return self.evaluation.sums.value / self.evaluation.sums.weight

    @property
    def risk_slope(self) -> float:
        """Its slope on the line."""
        return self.evaluation.sums.slope / self.evaluation.sums.weight

    def __iter__(self) -> Iterator[float]:
        return iter((self.value, self.slope))


@dataclass(frozen=True)
class Line:
    """The objective on start.w + t d."""

    start: Point
    d: FloatArray
    score_d: Scores  # X d

    @cached_property
    def slope(self) -> float:
        """Slope at t = 0."""
        return float(self.start.gradient @ self.d)

    def weights(self, t: float) -> FloatArray:
        """The point at t."""
        return self.start.w + t * self.d

    def at(self, t: float) -> Trial:
        """Value and slope at t; most trials are taken, so the gradient comes along where that saves a trip."""
        objective, scores = self.start.objective, self.start.evaluation.scores
        found = objective.engine.evaluate(objective.loss, scores, self.score_d, t, gradient=True)
        w, penalty = self.weights(t), objective.penalty
        value = found.sums.value / found.sums.weight + penalty.value(w)
        slope = found.sums.slope / found.sums.weight + penalty.slope(w, self.d)
        return Trial(t, w, value, slope, found)

    def point(self, at: float | Trial) -> Point:
        """The full point at t, or at a trial already evaluated; no product with X, but now and then against drift."""
        trial = at if isinstance(at, Trial) else self.at(at)
        start = self.start
        farthest = max(start.farthest, math.sqrt(float(start.w @ start.w)))
        if start.steps + 1 >= REFRESH or math.sqrt(float(trial.w @ trial.w)) < FADED * farthest:
            return start.objective.at(trial.w)
        return Point(start.objective, trial.w, trial.evaluation, start.steps + 1, farthest)


@dataclass(frozen=True)
class Segment(Line):
    """The objective on the way to `end`: no weight leaves the interval, and t = 1 is the end itself, bit by bit."""

    end: FloatArray

    @cached_property
    def slope(self) -> float:
        """Slope at t = 0, in the direction of the end."""
        return float(self.start.risk_gradient @ self.d) - self.start.objective.penalty.slope(self.start.w, -self.d)

    def weights(self, t: float) -> FloatArray:
        """The point at t."""
        if t == 1.0:
            return self.end
        w = self.start.w
        return np.clip(w + t * self.d, np.minimum(w, self.end), np.maximum(w, self.end))


def zeros(objective: Objective) -> FloatArray:
    """The starting point of a solver that is given none: 0, or what the penalty permits that is nearest to it."""
    return objective.penalty.nearest(np.zeros(objective.n_features))
