"""The exact Hessian of the mean loss at any scores of the rows, which engines compute from blocks."""

import numpy as np

from linrank.engines.local import LocalEngine, LocalScores


def exact_hessian(loss, scores: np.ndarray, data, scale: np.ndarray | None = None) -> np.ndarray:
    with LocalEngine(data) as engine:
        evaluation = engine.evaluate(loss, LocalScores(scores[data.preferences.row]))
        return evaluation.hessian(scale) / evaluation.sums.weight
