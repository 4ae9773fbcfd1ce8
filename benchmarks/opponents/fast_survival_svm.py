"""scikit-survival's FastSurvivalSVM, squared hinge, one query. GPL and no dependency: pip install scikit-survival."""

from __future__ import annotations

import importlib.util
import time

import numpy as np

from opponents import Fit, count_pairs
from problems import Problem

TITLE = "scikit-survival"


def available() -> bool:
    return importlib.util.find_spec("sksurv") is not None


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-7) -> Fit:
    """The same objective; `coef_` is in the direction of longer survival."""
    from sksurv.svm import FastSurvivalSVM
    from sksurv.util import Surv

    assert loss == "squared_hinge"
    assert problem.qid is None
    X, y, _ = problem
    label = Surv.from_arrays(np.ones(y.size, dtype=bool), y - y.min() + 1.0)
    svm = FastSurvivalSVM(
        alpha=2 / (alpha * count_pairs(problem)),
        rank_ratio=1,
        fit_intercept=False,
        optimizer="rbtree",
        max_iter=100,
        tol=tol,
    )
    begin = time.process_time()
    svm.fit(X, label)
    seconds = time.process_time() - begin
    return Fit(svm.coef_, seconds, int(svm.n_iter_))
