"""linrank itself, by its public face."""

from __future__ import annotations

import time
import warnings
from typing import Any

from linrank import ConvergenceWarning, LinearRanker
from opponents import Fit, UnfinishedError
from problems import Problem

TITLE = "linrank"


def available() -> bool:
    return True


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-3, solver: Any = "auto") -> Fit:
    """One thread, columns as they are; the time is that of `fit`, its checks of the data included."""
    return timed(LinearRanker(loss, alpha, solver=solver, scale=False, tol=tol, max_iter=20_000), problem)


def timed(ranker: Any, problem: Problem) -> Fit:
    """A ranker's fit, which must come to its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begin = time.process_time()
        ranker.fit(*problem)
        seconds = time.process_time() - begin
    if ranker.status_ != "converged":
        raise UnfinishedError(f"{ranker.status_} after {ranker.n_iter_} iterations")
    return Fit(ranker.coef_, seconds, ranker.n_iter_)
