"""The local engine with scores in float32: the slow twin of torch's with `scores="float32"`."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..data.rankings import Preferences
from ..engines.evaluation import LocalEvaluation, LocalScores
from ..engines.local import LocalEngine
from ..losses import Loss


def rounded_scores(values: FloatArray, preferences: Preferences) -> FloatArray:
    """Members' scores less that of their ranking's first member, rounded to float32: float64 numbers again."""
    first = np.repeat(values[preferences.ranking_ptr[:-1]], np.diff(preferences.ranking_ptr))
    return (values - first).astype(np.float32).astype(np.float64)


class RoundedEngine(LocalEngine):
    """Evaluates losses at rounded scores; handles, and steps along lines, keep those in float64."""

    def evaluate(
        self, loss: Loss, s: LocalScores, d: LocalScores | None = None, t: float = 0.0, gradient: bool = False
    ) -> LocalEvaluation:
        """The loss at s, or at s + t d, rounded."""
        here = s if d is None else LocalScores(s.values + t * d.values)
        there = LocalScores(rounded_scores(here.values, self.data.preferences))
        found = super().evaluate(loss, there, d, 0.0, gradient)
        found.scores = here
        return found
