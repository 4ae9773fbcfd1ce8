"""The bootstrap: units drawn with replacement, and the weights fitted again each time. Slow, and for every loss."""

from __future__ import annotations

import numpy as np

from .._errors import overflow_ignored
from .._progress import ResamplesProgress
from .._threads import map_in_threads
from .._typing import FloatArray
from ..data.device import is_far
from ..data.ranking_data import RankingData
from ..engines import Engine, LocalEngine
from ..objective import Objective
from ..solvers import Callback, Newton, Solution
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

    def one(generator: np.random.Generator) -> FloatArray:
        drawn = units.resampled(data, generator)
        engine: Engine = fitted.engine(drawn) if elsewhere else LocalEngine(drawn)
        with engine, overflow_ignored():
            solution = solve(fitted.objective(engine), start)
        progress.step(solution)
        return solution.w

    with ResamplesProgress(verbose, 1, n_resamples) as progress:
        generators = np.random.default_rng(seed).spawn(n_resamples)
        return np.array(map_in_threads(one, generators, fitted.ranker.n_jobs))
