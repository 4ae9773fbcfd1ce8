"""Slow, obviously correct twins of the fast routines, data makers and conformance checks.

Used by the tests and benchmarks, and by anyone who adds a part: `check_loss` says whether a loss keeps its contract,
`check_engine` whether an engine does.
"""

from __future__ import annotations

from .cases import Problem
from .chance import random_problem, random_sparse_problem
from .conic import PenalisedObjective, random_penalty
from .counting import CountingEngine
from .engines import check_engine, engine_cases
from .losses import check_loss
from .naive import (
    NaiveLoss,
    Pairs,
    Phi,
    enumerate_pairs,
    naive_accuracy,
    naive_counts,
    naive_hessian,
    naive_hinge,
    naive_laplacian,
    naive_loss,
    naive_partner_sums,
    naive_phi,
    naive_psi,
    naive_scores,
)
from .optimum import NaiveObjective, Optimum
from .pair_hinge import PairHinge
from .problems import make_ranking
from .rows import RowPoint, loss_at
from .svmlight import NaiveRow, naive_svmlight

__all__ = [
    "CountingEngine",
    "NaiveLoss",
    "NaiveObjective",
    "NaiveRow",
    "Optimum",
    "PairHinge",
    "Pairs",
    "PenalisedObjective",
    "Phi",
    "Problem",
    "RowPoint",
    "check_engine",
    "check_loss",
    "engine_cases",
    "enumerate_pairs",
    "loss_at",
    "make_ranking",
    "naive_accuracy",
    "naive_counts",
    "naive_hessian",
    "naive_hinge",
    "naive_laplacian",
    "naive_loss",
    "naive_partner_sums",
    "naive_phi",
    "naive_psi",
    "naive_scores",
    "naive_svmlight",
    "random_penalty",
    "random_problem",
    "random_sparse_problem",
]
