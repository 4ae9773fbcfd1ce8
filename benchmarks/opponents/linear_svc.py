"""scikit-learn's LinearSVC on the differences of all pairs: the objective is the same, the memory is not."""

from __future__ import annotations

import time

import numpy as np
from sklearn.svm import LinearSVC

from linrank.testing import enumerate_pairs
from opponents import Fit
from problems import Problem

TITLE = "LinearSVC"


def available() -> bool:
    return True


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-3) -> Fit:
    """Squared hinge alone; making the differences counts, because it cannot do without."""
    assert loss == "squared_hinge"
    begin = time.process_time()
    pairs = enumerate_pairs(problem.y, problem.qid)
    sign = np.where(np.arange(pairs.winner.size) % 2, 1.0, -1.0)  # half of them turned round, or there were one class
    differences = (problem.X[pairs.winner] - problem.X[pairs.loser]) * sign[:, None]
    svc = LinearSVC(loss=loss, C=1 / (alpha * sign.size), fit_intercept=False, dual=False, tol=tol)
    weights = svc.fit(differences, sign).coef_.ravel()
    return Fit(weights, time.process_time() - begin, int(np.max(svc.n_iter_)))
