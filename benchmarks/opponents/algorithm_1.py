"""Algorithm 1 of TreeRSVM: cutting planes without a line search, none forgotten; our implementation.

It is `published.TreeRSVM`, whose steps are those of the paper's text (`testing.treersvm.bmrm`, in Python), but over the
mean of all pairs, as everybody else's.
"""

from __future__ import annotations

from linrank.published import TreeRSVM
from opponents import Fit, linrank
from problems import Problem

TITLE = "algorithm 1"
LIMIT = 2000


def available() -> bool:
    return True


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-3) -> Fit:
    """To the same certified gap."""
    assert loss == "hinge"
    ranker = TreeRSVM(alpha / 2, tol)
    ranker.query_weighting, ranker.max_iter = "pairs", LIMIT
    return linrank.timed(ranker, problem)
