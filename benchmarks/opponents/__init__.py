"""Opponents, one file each: `fit(problem, loss, alpha) -> Fit`, weights and the CPU seconds of training alone.

A file also says `available()`: packages that are no dependency may be absent, and programs (`_program.py`) are looked
for in the folder LINRANK_OPPONENTS. A fit that does not come to its end raises `UnfinishedError`; its time
counts nowhere.
"""

from __future__ import annotations

import importlib
from typing import NamedTuple, Protocol

import numpy as np

from problems import Problem

NAMES = ("linrank", "algorithm_1", "linear_svc", "fast_survival_svm", "liblinear_ranksvm", "svmrank", "sofia_ml")


class Fit(NamedTuple):
    """Weights in the units of X, and the CPU seconds of training: no reading, no writing."""

    weights: np.ndarray
    seconds: float
    iterations: int | None = None


class UnfinishedError(Exception):
    """A solver ended as anything but converged."""


class Opponent(Protocol):
    """What a file of this folder holds."""

    TITLE: str

    def available(self) -> bool:
        """Whether it can be run here."""

    def fit(self, problem: Problem, loss: str, alpha: float, tol: float = 1e-3) -> Fit:
        """Minimise alpha/2 |w|^2 + mean loss over the pairs, to about tol of the objective at 0."""


def opponent(name: str) -> Opponent:
    """An opponent by its file's name."""
    return importlib.import_module(f"opponents.{name}")  # type: ignore[return-value]


def absent() -> list[str]:
    """Titles of the opponents that cannot be run here: their columns may be empty."""
    return [one.TITLE for one in map(opponent, NAMES) if not one.available()]


def count_pairs(problem: Problem) -> int:
    """N, the number of preferences."""
    from problems import facts

    return facts(problem).pairs
