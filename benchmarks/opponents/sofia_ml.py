"""sofia-ml's Pegasos on drawn pairs, hinge: its program, given as `sofia-ml` in LINRANK_OPPONENTS."""

from __future__ import annotations

import re

import numpy as np

from opponents import Fit, UnfinishedError, _program
from problems import Problem

TITLE = "sofia-ml"
PROGRAMS = ("sofia-ml",)
STEPS = 100_000


def available() -> bool:
    return _program.path(*PROGRAMS) is not None


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-3, steps: int = STEPS) -> Fit:
    """So many steps, whatever tol says: it has no other stopping rule. Its own printed seconds leave out reading."""
    assert loss == "hinge"
    files, d = _program.files(problem), problem.X.shape[1]
    _, printed = _program.run(
        *(_program.path(*PROGRAMS), "--learner_type", "pegasos", "--loop_type", "rank", "--lambda", repr(alpha)),
        *("--iterations", steps, "--dimensionality", d + 1, "--no_bias_term"),
        *("--training_file", files.data, "--model_out", files.model),
    )
    said = re.search(r"Time to complete training: ([\d.eE+-]+)", printed)
    if said is None:
        raise UnfinishedError(f"sofia-ml printed no time of training: {printed[-200:]}")
    weights = np.array([float(value) for value in files.model.read_text().split()])
    return Fit(_program.all_weights(weights[1:], d), float(said[1]), steps)
