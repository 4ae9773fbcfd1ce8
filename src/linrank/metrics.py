"""Metrics of rankings: pure functions of labels, scores and queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._data import make_preferences
from ._errors import DataError
from ._preferences import FloatArray, Preferences
from .kernels.hinge import weighted_sum
from .losses._base import count_active

__all__ = ["pairwise_accuracy"]

#: The smallest positive number: s_i - s_j is below it exactly when s_i <= s_j.
TINY = 5e-324


def pairwise_accuracy(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | Mapping[Any, float] | None = None,
    preferences: str | ArrayLike = "full",
    query_weighting: str = "pairs",
) -> float:
    """Weighted share of the preferences that the scores order rightly; equal scores count one half.

    With two levels in one query this is the area under the ROC curve. It is 1 minus the pairwise error of
    TreeRSVM's equation (1) where no scores are equal; that equation counts no equal scores as errors, RankNCG's
    statistic (2) counts all of them as right, and here half of them are right. O(m log m).
    """
    s = _check_scores(scores)
    built = make_preferences(s.size, y, qid, sample_weight, query_weight, None, preferences, query_weighting)[2]
    return accuracy_of(s, built)


def accuracy_of(scores: FloatArray, preferences: Preferences) -> float:
    """Pairwise accuracy over preferences that have been made already."""
    wrong, wrong_or_equal = (_weight_below(scores, preferences, margin) for margin in (0.0, TINY))
    return 1.0 - (wrong + wrong_or_equal) / (2.0 * preferences.total)


def _check_scores(scores: ArrayLike) -> FloatArray:
    s = np.ascontiguousarray(scores, dtype=np.float64)
    if s.ndim != 1:
        raise DataError(f"scores has shape {s.shape}: give one score per row.")
    if not np.all(np.isfinite(s)):
        raise DataError("scores contains NaN or infinity: a ranking needs a finite score for every row.")
    return s


def _weight_below(scores: FloatArray, p: Preferences, margin: float) -> float:
    """Weight of the preferences (i over j) with s_i - s_j < margin."""
    s = scores[p.row]
    c, d = np.empty(s.size), np.empty(s.size)
    count_active(s, p, 0, p.n_rankings, margin, c, d)
    return float(weighted_sum(p.v, p.u, p.ranking_ptr, 0, p.n_rankings, c))
