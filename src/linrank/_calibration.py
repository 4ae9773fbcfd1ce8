"""Sigmoid calibration of scores on held-out folds, so that weights mean repetition there too."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from ._folds import Fold
from ._preferences import FloatArray

ROWS_AT_ONCE = 1 << 14
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


def content_folds(X: Any, positive: NDArray[np.bool_], used: NDArray[np.bool_], n_folds: int) -> list[Fold]:
    """Folds of the rows that are `used`, by what they hold, with like shares of both classes; none if 2 are too many.

    Equal rows of a class share a fold: none is held out while its copy is trained on, a row of weight 2 is the same as
    two rows, and the order of the rows does not matter.
    """
    content = row_hashes(X)
    classes = [np.flatnonzero(used & positive), np.flatnonzero(used & ~positive)]
    numbers = [np.unique(content[rows], return_inverse=True)[1] for rows in classes]
    n_folds = min(n_folds, *(int(number.max(initial=-1)) + 1 for number in numbers))
    if n_folds < 2:
        return []
    fold = np.full(positive.size, -1)
    for rows, number in zip(classes, numbers, strict=True):
        fold[rows] = number % n_folds
    return [(np.flatnonzero((fold != k) & used), np.flatnonzero(fold == k)) for k in range(n_folds)]


def row_hashes(X: Any) -> NDArray[np.uint64]:
    """A hash of each row's values: sum of (bits of the value) * (a random odd number of its column), then mixed.

    Zeros add nothing, so sparse and dense rows hash alike. O(entries).
    """
    factor = np.random.default_rng(0).integers(0, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    out = np.zeros(X.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            terms = _bits(X.data) * factor[X.indices]
            sums = np.r_[np.uint64(0), np.cumsum(terms, dtype=np.uint64)]  # wraps around, and so do the differences
            out = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
        else:
            for start in range(0, X.shape[0], ROWS_AT_ONCE):
                rows = slice(start, start + ROWS_AT_ONCE)
                out[rows] = (_bits(X[rows]) * factor).sum(axis=1, dtype=np.uint64)
        out ^= out >> np.uint64(32)
        return out * np.uint64(0x9E3779B97F4A7C15)


def _bits(values: Any) -> NDArray[np.uint64]:
    """The bits of float64 numbers, -0.0 being 0.0."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)
