"""SVMrank, hinge: its program `svm_rank_learn`, given by that name in LINRANK_OPPONENTS."""

from __future__ import annotations

import re

import numpy as np

from opponents import Fit, UnfinishedError, _program, count_pairs
from problems import Problem

TITLE = "SVMrank"
PROGRAMS = ("svm_rank_learn",)


def available() -> bool:
    return _program.path(*PROGRAMS) is not None


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-3) -> Fit:
    """Its own printed seconds, which leave out reading."""
    assert loss == "hinge"
    files = _program.files(problem)
    n_queries = 1 if problem.qid is None else np.unique(problem.qid).size
    n_pairs = count_pairs(problem)
    C, slack = n_queries / (alpha * n_pairs), tol * n_pairs / n_queries  # its loss is a sum over pairs for each query
    _, printed = _program.run(_program.path(*PROGRAMS), "-c", repr(C), "-e", repr(slack), files.data, files.model)
    said = re.search(r"Runtime in cpu-seconds: ([\d.]+)", printed)
    if said is None:
        raise UnfinishedError(f"SVMrank printed no runtime: {printed[-200:]}")
    support = files.model.read_text().splitlines()[-1].split("#")[0]
    return Fit(_program.sparse_weights(support.split(" ", 1)[1], problem.X.shape[1]), float(said[1]))
