"""A stochastic descent on rows in memory: scaling, watching, stopping early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, overflow_ignored
from .._progress import Progress
from .._typing import FloatArray
from ..data.labelled import LabelledRows
from ..data.ranking_data import RankingData
from ..engines import open_engine
from ..engines.matrix import predict
from ..losses import LOSSES
from ..metrics._pairs import accuracy_of
from ..objective import Objective
from ..penalties import Ridge
from ..solvers import Iteration, Status
from .descent import LARGEST_SCALE, SMALLEST_SCALE, Descent
from .draws import Draws
from .rows import as_rows
from .settings import Settings

#: How often the objective is shown and the held-out queries are scored, and how many times in a row those may fail to
#: gain before the descent ends.
CHECKS, PATIENCE = 20, 5


class Problem(NamedTuple):
    """What is descended, and all that its exact objective needs."""

    rows: LabelledRows
    loss: str
    alpha: float
    scale: FloatArray | None

    def objective(self, coef: FloatArray) -> float:
        """The exact objective over all pairs at weights in the units of the data."""
        with open_engine(self.rows.ranked) as engine, overflow_ignored():
            objective = Objective(engine, LOSSES[self.loss], Ridge(float(self.alpha)), self.scale)
            return objective.at(coef if self.scale is None else coef * self.scale).value


class Run:
    """Steps on some rows. Columns are divided by `scale` as they are read, so X is not copied."""

    def __init__(
        self,
        settings: Settings,
        rows: LabelledRows,
        alpha: float,
        scale: FloatArray | None,
        draws: Draws | None = None,
    ) -> None:
        self.rule, self.alpha, self.scale = settings.rule, float(alpha), scale
        self.draws = settings.sampler.over(rows) if draws is None else draws
        self.rows, self.metric, self.unit = as_rows(rows.X), None, None
        if scale is not None and not np.all(scale == 1):
            if SMALLEST_SCALE < scale.min() and scale.max() < LARGEST_SCALE:
                self.metric = 1.0 / (scale * scale)
            else:  # squares would leave the range of numbers: the one case that takes a copy
                self.rows, self.unit = self.rows.divided(scale), scale

    def begin(self, w: FloatArray, seed: int, t: int, average: bool) -> Descent:
        """Start at weights in the units of the data, as if after t steps."""
        return Descent.begin(w if self.unit is None else w * self.unit, self.metric, seed, t, average)

    def adopt(self, descent: Descent, average: bool) -> Descent:
        """Go on with a descent that was made on other rows, perhaps in another scale."""
        return self.taken(descent).remeasured(self.metric, average)

    def steps(self, descent: Descent, n_steps: int) -> None:
        """Make steps; the result does not depend on how they are cut."""
        descent.run(self.rule, self.alpha, self.rows, self.metric, self.draws, n_steps)

    def coef(self, descent: Descent) -> FloatArray:
        """The weights in the units of the data."""
        return descent.coef if self.unit is None else descent.coef / self.unit

    def taken(self, descent: Descent) -> Descent:
        """The opposite of `released`: a descent that goes on in the same scale."""
        if self.unit is not None:
            descent.divide(1.0 / self.unit)
        return descent

    def released(self, descent: Descent) -> Descent:
        """The descent in the units of the data, for others to go on with."""
        if self.unit is not None:
            descent.divide(self.unit)
        return descent


@dataclass(frozen=True)
class Watch:
    """Early stopping: the best descent so far by a held-out score, and how many scores in a row have not gained."""

    best: Descent | None = None
    score: float = -1.0
    fails: int = 0

    def after(self, descent: Descent, score: float) -> Watch:
        """The watch once a descent has been scored."""
        if score > self.score:
            return Watch(descent.copy(), score, 0)
        return replace(self, fails=self.fails + 1)

    @property
    def is_over(self) -> bool:
        """Whether it is time to stop."""
        return self.fails >= PATIENCE


def hold_out(data: RankingData, fraction: float, seed: int) -> tuple[RankingData, RankingData]:
    """Training and held-out data: whole queries, or rows if only one query has pairs."""
    rng = np.random.default_rng(seed)
    used = np.unique(data.query[data.preferences.row])
    n = data.n_rows if used.size == 1 else used.size
    chosen = rng.permutation(n)[: min(n - 1, max(1, round(fraction * n)))]
    out: NDArray[np.bool_] = np.zeros(data.n_rows, dtype=bool)
    if used.size == 1:
        out[chosen] = True
    else:
        out = np.isin(data.query, used[chosen])
    train, held_out = data.part(np.flatnonzero(~out)), data.part(np.flatnonzero(out))
    if not (train.preferences.n_rankings and held_out.preferences.n_rankings):
        raise DataError(
            "early_stopping leaves no pair to train on, or none to score: set it to False, or give more data."
        )
    return train, held_out


def accuracy(data: RankingData, coef: FloatArray) -> float:
    """Share of the pairs that the weights order rightly."""
    return float(accuracy_of(predict(data.X, coef), data.preferences))


class Made(NamedTuple):
    """A descent in memory, as far as it has come."""

    descent: Descent
    n_steps: int = 0
    watch: Watch = Watch()
    status: Status = Status.FINISHED
    history: tuple[Iteration, ...] = ()


def descend(
    run: Run,
    made: Made,
    n_steps: int,
    problem: Problem,
    held_out: RankingData | None,
    progress: Progress,
    keep: Callable[[Made], Any] | None = None,
) -> Made:
    """Make the steps that are left of n_steps, looking twenty times at what is to be shown, scored or kept."""
    first, shown = made.descent.t - made.n_steps, progress.verbose > 0
    looks = CHECKS if held_out is not None or shown or keep is not None else 1
    for mark in np.unique(np.ceil(np.arange(1, looks + 1) * n_steps / looks).astype(np.int64)).tolist():
        if mark <= made.n_steps:
            continue
        descent = made.descent
        run.steps(descent, first + mark - descent.t)
        made = made._replace(n_steps=mark)
        if shown:
            made = _look(run, made, problem, progress)
        if held_out is not None:
            made = made._replace(watch=made.watch.after(descent, accuracy(held_out, run.coef(descent))))
            if made.watch.is_over:
                made = made._replace(status=Status.STOPPED)
                break
        if keep is not None:
            keep(made)
    best = made.watch.best if made.watch.best is not None else made.descent
    best.check_finite()
    return made._replace(descent=run.released(best))


def _look(run: Run, made: Made, problem: Problem, progress: Progress) -> Made:
    made.descent.check_finite()
    objective = problem.objective(run.coef(made.descent))
    look = Iteration(made.n_steps, objective, float("nan"), progress.seconds)
    progress(look)
    return made._replace(history=(*made.history, look))
