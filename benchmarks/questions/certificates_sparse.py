"""Is a certificate of sparse data ever wrong? Newton's method, each of its ways forced, on 10,000 problems by chance.

Problems are small, so that the optimum is known from all pairs listed one by one, and what is meant for large data is
forced on them: directions from secants alone, conjugate gradients on copies in float32, by rows or by columns and in
several blocks, equal rows read once, and one after the other where patience is short. A certificate is false as
`certificates` says. `smallest slack` is that of the gap over f(w) - min f, relative to f(0).
LINRANK_CERTIFICATES says how many problems there are; a quick check takes 100.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

from linrank._errors import overflow_ignored
from linrank.defaults import choose_scale
from linrank.engines import LocalEngine, matrix, reading
from linrank.losses import LOSSES
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton
from linrank.solvers.newton import directions
from linrank.testing import NaiveObjective, random_sparse_problem
from measure import quick
from questions.certificates import PROBLEMS, QUICK_PROBLEMS, Fit, answers, judged, row_of
from results import FIT, fault, report

SOURCES = (*FIT, "testing/**/*.py")
TOLS = (1e-3, 1e-6)
MAX_ITER = 300
#: What of `directions.TUNING` is other than it is.
WAYS: dict[str, dict[str, Any]] = {
    "secants alone": {"entries": 0.0, "uneven": 0.0, "patience": 10**9},
    "conjugate gradients": {"entries": np.inf},
    "secants, then conjugate gradients": {"entries": 0.0, "uneven": 0.0, "patience": 2, "recent": 3},
}
#: Of `reading`: how short rows and how long columns are read by columns, rows of a block of them, and rows to be alike.
READINGS: dict[str, dict[str, int]] = {
    "by rows": {"SHORT": 0},
    "by columns": {"SHORT": 10**9, "LONG": 0, "ALIKE": 10**9},
    "by columns, in blocks": {"SHORT": 10**9, "LONG": 0, "ALIKE": 10**9, "BLOCK_ROWS": 7},
    "equal rows once": {"ALIKE": 1},
}


@contextmanager
def forced(way: str, read: str) -> Iterator[None]:
    """One way to directions, and one to read X for them, whatever the size of X."""
    with ExitStack() as stack:
        patch = lambda *given: stack.enter_context(mock.patch.object(*given))
        patch(directions, "TUNING", replace(directions.TUNING, **WAYS[way]))
        for module in (matrix, reading):
            patch(module, "FLOAT32_ENTRIES", 1)
        for name, value in READINGS[read].items():
            patch(reading, name, value)
        yield


def fits_of(number: int, *most: int) -> list[Fit]:
    """What Newton's method says of one problem, of at most so many rows and columns: to both tolerances, each way."""
    rng = np.random.default_rng([27, number])
    problem, loss = random_sparse_problem(rng, *most), list(LOSSES.values())[number % len(LOSSES)]
    alpha, scaled, found = 10.0 ** rng.uniform(-6, 0), rng.random() < 0.5, []
    with LocalEngine(problem.data) as engine:
        scale = choose_scale(True, engine.columns()) if scaled else None
    assert problem.pairs is not None
    naive = NaiveObjective(loss, problem.dense, problem.pairs, alpha, scale)
    optimum = naive.minimum()
    for way in WAYS:
        read, max_iter = str(rng.choice(list(READINGS))), int(rng.choice([2, 10, *[MAX_ITER] * 8]))
        with forced(way, read), LocalEngine(problem.data) as engine, overflow_ignored():
            objective = Objective(engine, loss, Ridge(alpha), scale)
            for tol in TOLS:
                solution = Newton(tol, max_iter).minimise(objective)
                found.append(judged(number, loss.name, way, tol, solution, naive, optimum))
    return found


def many_fits(first: int, last: int) -> list[Fit]:
    """Of several problems."""
    return [fit for number in range(first, last) for fit in fits_of(number)]


def main() -> None:
    n_problems, fits = int(os.environ.get("LINRANK_CERTIFICATES", QUICK_PROBLEMS if quick() else PROBLEMS)), []
    for part in answers(n_problems, many_fits):
        fits += part
        print(f"{len(fits):,} fits", *(fit for fit in part if fit.wrong), sep="\n", flush=True)
    names = dict.fromkeys((fit.loss, fit.solver) for fit in sorted(fits, key=lambda fit: (fit.loss, fit.solver)))
    rows = []
    for loss, way in names:
        row = row_of(fits, loss, way)
        row["smallest slack"] = min(fit.gap - fit.true_gap for fit in fits if (fit.loss, fit.solver) == (loss, way))
        rows.append(row)
    report("certificates_sparse", rows)
    if wrong := sum(fit.wrong for fit in fits):
        fault(f"{wrong} certificates or values are wrong")
