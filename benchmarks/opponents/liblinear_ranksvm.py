"""liblinear-ranksvm, squared hinge, in LINRANK_OPPONENTS.

Its library `liblinear-ranksvm.so` or `liblinear.so.3`, where it is there; else its program `train` or
`liblinear-ranksvm`.
"""

from __future__ import annotations

import numpy as np

from opponents import Fit, _liblinear, _program, count_pairs
from problems import Problem

TITLE = "liblinear-ranksvm"
LIBRARIES = ("liblinear-ranksvm.so", "liblinear.so.3")
PROGRAMS = ("liblinear-ranksvm", "train")
#: A relative gradient that the start has already: no iteration.
IDLE = 1e9


def available() -> bool:
    return _program.path(*LIBRARIES, *PROGRAMS) is not None


def fit(problem: Problem, loss: str, alpha: float, tol: float = 1e-3) -> Fit:
    """To a gradient of tol times that at 0; a program's parsing is taken off by a run that makes no iteration."""
    assert loss == "squared_hinge"
    C = 1 / (alpha * count_pairs(problem))
    if (library := _program.path(*LIBRARIES)) is not None:
        return Fit(*_liblinear.train(library, problem, C, tol))
    files, program = _program.files(problem), _program.path(*PROGRAMS)
    idle, command = ([program, "-s", 8, "-c", repr(C), "-e", repr(eps), files.data, files.model] for eps in (IDLE, tol))
    seconds = _program.run(*command)[0]
    lines = files.model.read_text().splitlines()
    weights = np.array([float(line.split()[0]) for line in lines[lines.index("w") + 1 :] if line.strip()])
    files.reading = min(files.reading, _program.run(*idle)[0])
    return Fit(_program.all_weights(weights, problem.X.shape[1]), max(0.0, seconds - files.reading))
