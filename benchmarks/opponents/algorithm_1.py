"""Algorithm 1 of TreeRSVM: cutting planes without a line search, none forgotten; our implementation."""

from __future__ import annotations

from linrank.solvers import Bundle
from opponents import Fit, linrank
from problems import Problem

TITLE = "algorithm 1"
LIMIT = 2000


def available() -> bool:
    return True


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-3) -> Fit:
    """To the same certified gap."""
    solver = Bundle(tol=tol, max_iter=LIMIT, line_search=False, max_planes=LIMIT + 1)
    return linrank.fit(problem, loss, alpha, tol, solver)
