"""Sigmoid calibration of scores on held-out folds, so that weights mean repetition there too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._typing import FloatArray

MAX_STEPS = 100
#: Of a sigmoid over scores of unit spread.
LEAST_SLOPE = 1e-3


class Sigmoid(NamedTuple):
    """P(positive) = 1 / (1 + exp(-(slope * score + offset)))."""

    slope: float
    offset: float


def fit_sigmoid(scores: FloatArray, positive: NDArray[np.bool_], weight: FloatArray) -> Sigmoid:
    """Platt's sigmoid by Newton's method with backtracking: the maximum likelihood of softened targets.

    A positive row's target is (n + 1) / (n + 2) with n the weight of the positive rows, a negative one's 1 / (n' + 2),
    which keeps the slope finite. It is kept above a thousandth of the scores' spread: where scores say nothing of held-
    out rows it could be 0 or less, and the ranking would be lost or turned round. O(m) a step.
    """
    n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    centre = float(np.average(scores, weights=weight))
    spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=weight)))
    if spread == 0 or not np.isfinite(spread):
        return Sigmoid(1.0, float(np.log((n_positive + 1) / (n_negative + 1))) - centre)
    z = (scores - centre) / spread
    start = np.array([0.0, np.log((n_positive + 1) / (n_negative + 1))])
    slope, offset = _most_likely(np.column_stack([z, np.ones(z.size)]), np.zeros(z.size), target, weight, start)
    if slope < LEAST_SLOPE:
        slope = LEAST_SLOPE
        (offset,) = _most_likely(np.ones((z.size, 1)), slope * z, target, weight, start[1:])
    return Sigmoid(float(slope / spread), float(offset - slope / spread * centre))


def _most_likely(
    z: FloatArray, fixed: FloatArray, target: FloatArray, weight: FloatArray, theta: FloatArray
) -> FloatArray:
    """The theta that minimises the cross entropy of the logits z @ theta + fixed, by Newton's method."""
    value = _loss(z @ theta + fixed, target, weight)
    for _ in range(MAX_STEPS):
        p = expit(z @ theta + fixed)
        gradient = z.T @ (weight * (p - target))
        hessian = (z * (weight * np.maximum(p * (1 - p), 1e-12))[:, None]).T @ z
        step = -np.linalg.solve(hessian, gradient)
        t, slope = 1.0, float(gradient @ step)
        while (new := _loss(z @ (theta + t * step) + fixed, target, weight)) > value + 1e-4 * t * slope and t > 1e-10:
            t /= 2
        if not new < value:
            break
        theta, value = theta + t * step, new
    return theta


def _loss(logit: FloatArray, target: FloatArray, weight: FloatArray) -> float:
    """Weighted cross entropy."""
    return float(weight @ (np.logaddexp(0.0, logit) - target * logit))
