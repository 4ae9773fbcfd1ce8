"""The share of pairs in the wrong order: what a ranking is judged by, added up like a loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from .._work import Work
from ..data.active import TINY, active_counts
from ..data.rankings import Rankings
from ..kernels.hinge import weighted_sum
from ._base import Loss, LossPoint, Sums


class WrongPairs(Loss):
    """The weight of the pairs in the wrong order, ties one half: no loss to train on, but an engine can add it up."""

    name = "wrong_pairs"
    smooth: ClassVar[bool] = False

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """The weight in one block; the gradient is 0."""
        r, c, d = rankings, *(work.take(name, rankings.n_members, np.float64) for name in "cd")
        value = 0.0
        for margin in (0.0, TINY):
            active_counts(scores, r, margin, c, d, work)
            value += 0.5 * float(weighted_sum(r.v, r.u, r.ranking_ptr, 0, r.n_rankings, c))
        return LossPoint(Sums(value, r.weight), np.zeros(r.n_members))
