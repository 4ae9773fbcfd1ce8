"""Is a certificate ever wrong? All losses and solvers on 10,000 problems by chance, against an independent optimum.

The optimum is computed on all pairs, listed one by one, with values in extended precision: `linrank.testing.optimum`.
A certificate is false where f(w) - min f is above the gap. `false certificates` are so by more than rounding can do:
that of the scores at w or at the optimum, and 1e-9 of f(0), because scores are carried from step to step, and steps
from far away lose digits. All others are `false by rounding`, with the largest excess over f(0). Each that is not by
rounding is printed with the number of its problem: `fits_of(number)` tries it again. Some problems force the sorted
kernels, and samples of a few rows. LINRANK_CERTIFICATES says how many problems there are; a quick check takes 100.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from linrank.data import active
from linrank.engines import LocalEngine
from linrank.losses import LOSSES, Loss
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, ConjugateGradients, Newton, Solution, Solver, Status, Tron
from linrank.solvers.newton import method
from linrank.solvers.relay import Relay
from linrank.testing import NaiveObjective, Optimum, random_problem
from measure import quick
from results import FIT, fault, report

SOURCES = (*FIT, "testing/**/*.py")
PROBLEMS, QUICK_PROBLEMS = 10_000, 100
AT_ONCE = 100  # problems a task
MAX_ITER = 300
#: Relative to f(0), the optimum is known so well: a false certificate is hardly missed.
WELL = 1e-10
#: Relative to f(0), what rounding in scores that are carried along may do.
CARRIED = 1e-9


class Fit(NamedTuple):
    """How one solver ended on one problem; gaps are relative to f(0)."""

    problem: int
    loss: str
    solver: str
    tol: float
    status: Status
    gap: float
    true_gap: float
    value_error: float
    rounding: float  # what that of the scores can do to f at w, or at the optimum
    known_to: float

    @property
    def excess(self) -> float:
        """By how much the certificate is false; at most 0 where it is true."""
        return self.true_gap - self.gap

    @property
    def wrong(self) -> bool:
        """Whether the certificate or the value is, by more than rounding."""
        return not max(self.excess, self.value_error) <= self.rounding + CARRIED


def solvers(loss: Loss, tol: float, max_iter: int) -> dict[str, Solver]:
    """All that take the loss, in several ways."""
    limits = {"tol": tol, "max_iter": max_iter}
    every: dict[str, Solver] = {
        "bundle": Bundle(**limits),
        "bundle, few planes": Bundle(**limits, max_planes=6),
        "newton": Newton(**limits),
        "newton, exact": Newton(**limits, hessian="exact"),
        "newton, products": Newton(**limits, hessian="products"),
    }
    if loss.smooth:
        relay = Relay(Newton(**limits, hessian="products", max_products=2), Bundle(**limits))
        return every | {"relay": relay, "cg": ConjugateGradients(**limits), "tron": Tron(**limits)}
    return every | {"algorithm 1": Bundle(**limits, line_search=False)}


@contextmanager
def forced(rng: np.random.Generator) -> Iterator[None]:
    """Now and then the kernels of long rankings, and a sample to begin with."""
    kernels = active.Tuning(short=0, short_to_sum=0, short_logistic=0) if rng.random() < 0.4 else active.TUNING
    tuning = method.Tuning(sample=5, rows_a_feature=1, pays=np.inf) if rng.random() < 0.3 else method.TUNING
    with mock.patch.object(active, "TUNING", kernels), mock.patch.object(method, "TUNING", tuning):
        yield


def fits_of(number: int) -> list[Fit]:
    """What every solver says of one problem."""
    rng = np.random.default_rng([20, number])
    problem, loss = random_problem(rng), list(LOSSES.values())[number % len(LOSSES)]
    alpha, tol = 10.0 ** rng.uniform(-8, 4), 10.0 ** rng.uniform(-10, -1)
    scale = 10.0 ** rng.uniform(-2, 2, problem.dense.shape[1]) if rng.random() < 0.3 else None
    assert problem.pairs is not None
    naive = NaiveObjective(loss, problem.dense, problem.pairs, alpha, scale)
    optimum = naive.minimum()
    with LocalEngine(problem.data) as engine, forced(rng):
        objective, found = Objective(engine, loss, Ridge(alpha), scale), []
        for name, solver in solvers(loss, tol, int(rng.choice([2, 10, *[MAX_ITER] * 8]))).items():
            solution = solver.minimise(objective, _start(rng, objective, solver))
            found.append(judged(number, loss.name, name, tol, solution, naive, optimum))
    return found


def _start(rng: np.random.Generator, objective: Objective, solver: Solver) -> Any:
    """Mostly none; else weights, or the solution for another alpha."""
    kind = rng.random()
    if kind < 0.7:
        return None
    if kind < 0.85:
        return rng.standard_normal(objective.n_features) * 10.0 ** rng.uniform(-3, 1)
    other = Ridge(objective.penalty.curvature * 10.0 ** rng.uniform(-1, 1))
    return solver.minimise(Objective(objective.engine, objective.loss, other, objective.scale))


def judged(
    number: int, loss: str, solver: str, tol: float, solution: Solution, naive: NaiveObjective, optimum: Optimum
) -> Fit:
    """A fit beside the optimum."""
    unit, value = naive.value(np.zeros(solution.w.size)), naive.value(solution.w)
    known_to, rounding = optimum.value - optimum.lower, max(map(naive.rounding, (solution.w, optimum.w)))
    parts = solution.gap, value - optimum.value, abs(solution.value - value), rounding, known_to
    return Fit(number, loss, solver, tol, solution.status, *(float(part / unit) for part in parts))


def many_fits(first: int, last: int) -> list[Fit]:
    """Of several problems."""
    return [fit for number in range(first, last) for fit in fits_of(number)]


def answers(n_problems: int, work: Callable[[int, int], list[Fit]]) -> Iterator[list[Fit]]:
    """In parts, as they come: by all cores, or at once in a quick check."""
    starts = range(0, n_problems, AT_ONCE)
    if quick():
        yield from (work(first, min(first + AT_ONCE, n_problems)) for first in starts)
        return
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        tasks = [pool.submit(work, first, min(first + AT_ONCE, n_problems)) for first in starts]
        for task in tasks:
            yield task.result()


def main() -> None:
    n_problems, fits = int(os.environ.get("LINRANK_CERTIFICATES", QUICK_PROBLEMS if quick() else PROBLEMS)), []
    for k, part in enumerate(answers(n_problems, many_fits), 1):
        fits += part
        print(f"{min(k * AT_ONCE, n_problems):,} of {n_problems:,} problems, {len(fits):,} fits", flush=True)
        for fit in part:
            if fit.wrong:
                print(fit, flush=True)
    rows = [row_of(fits, *names) for names in dict.fromkeys((fit.loss, fit.solver) for fit in sorted(fits))]
    report("certificates", rows)
    if wrong := sum(fit.wrong for fit in fits):
        fault(f"{wrong} certificates or values are wrong")


def row_of(fits: list[Fit], loss: str, solver: str) -> dict[str, Any]:
    """All fits of a loss by a solver."""
    here = [fit for fit in fits if (fit.loss, fit.solver) == (loss, solver)]
    ended = {status: sum(fit.status is status for fit in here) for status in Status}
    known = [fit for fit in here if fit.known_to <= WELL]
    loose = [fit.gap / fit.true_gap for fit in known if fit.status is Status.CONVERGED and fit.true_gap > 1e-14]
    return {
        "loss": loss,
        "solver": solver,
        "fits": len(here),
        "optimum known to 1e-10": len(known),
        "false certificates": sum(fit.wrong for fit in here),
        "false by rounding": sum(fit.excess > 0 and not fit.wrong for fit in here),
        "largest excess": max(0.0, *(fit.excess for fit in here)),
        "largest error of a value": max(fit.value_error for fit in here),
        "converged": ended[Status.CONVERGED],
        "stalled": ended[Status.STALLED],
        "max_iter": ended[Status.MAX_ITER],
        "gap over true gap, median": float(np.median(loose)) if loose else None,
    }
