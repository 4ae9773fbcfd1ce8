"""The bootstrap: units drawn with replacement, and the weights fitted again each time. Slow, and for every loss."""

from __future__ import annotations

import warnings

import numpy as np

from .._errors import ConvergenceWarning, overflow_ignored
from .._progress import ResamplesProgress
from .._threads import map_in_threads
from .._typing import FloatArray
from ..data.device import is_far
from ..data.ranking_data import RankingData
from ..engines import Engine, LocalEngine
from ..objective import Objective
from ..solvers import Callback, Newton, Solution, Status
from ..solvers.choose import choose
from .problem import Fitted, Units

#: Gaps of the fits, relative to f(0): of smooth losses, whose last steps are quick, and of others.
SMOOTH, OTHERS = 1e-8, 1e-4
MAX_ITER = 1000


def solve(objective: Objective, start: FloatArray, callback: Callback | None = None) -> Solution:
    """The optimum, from weights nearby."""
    if objective.loss.smooth:
        return Newton(SMOOTH, MAX_ITER, samples=False).minimise(objective, start, callback)
    return choose(objective, OTHERS, MAX_ITER).minimise(objective, start, callback)


def bootstrap(
    fitted: Fitted, data: RankingData, units: Units, start: FloatArray, n_resamples: int, seed: int, verbose: int
) -> FloatArray:
    """The weights of each resample, (n_resamples, d), in scaled units."""
    elsewhere = getattr(fitted.ranker, "device", None) is not None or is_far(data.X)

    def one(generator: np.random.Generator) -> Solution:
        drawn = units.resampled(data, generator)
        engine: Engine = fitted.engine(drawn) if elsewhere else LocalEngine(drawn)
        with engine, overflow_ignored():
            solution = solve(fitted.objective(engine), start)
        progress.step(solution)
        return solution

    with ResamplesProgress(verbose, 1, n_resamples) as progress:
        generators = np.random.default_rng(seed).spawn(n_resamples)
        found = map_in_threads(one, generators, fitted.ranker.n_jobs)
    if short := sum(solution.status is not Status.CONVERGED for solution in found):
        text = f"{short} of {n_resamples} resamples did not converge: raise alpha, or use scale=True."
        warnings.warn(text, ConvergenceWarning, stacklevel=5)
    return np.array([solution.w for solution in found])
