"""A fit on rows in memory, from where it starts to what is known of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import DataError
from .._progress import Progress
from .._typing import FloatArray
from ..data.labelled import LabelledRows
from ..engines import Facts
from ..solvers import Iteration, Status
from ..solvers._base import plain_history
from .checkpoint import ANEW, Keeper
from .descent import Descent
from .run import Made, Problem, Run, Watch, descend, hold_out
from .scale_and_alpha import choose
from .settings import Settings
from .stream import Stream, fingerprint, no_queries

logger = logging.getLogger("linrank")


@dataclass(frozen=True)
class Fit:
    """A finished fit; its exact objective is not computed yet."""

    rows: LabelledRows  # all of them
    problem: Problem  # the rows trained on
    settings: Settings
    made: Made
    seconds: float
    deviation: FloatArray | None = None  # of the columns, where it was measured

    def stream(self, means: FloatArray | None) -> Stream:
        """The training as far as it has come, which a stream may go on with; the best weights, by early stopping."""
        stopped = self.made.status == Status.STOPPED
        return Stream(
            self.made.descent,
            no_queries(self.settings, int(self.made.descent.seed)),
            self.problem.scale,
            self.problem.alpha,
            self.rows.ids is not None,
            n_rows=float(self.rows.n_rows),
            n_steps=self.made.n_steps,
            strength=self.problem.alpha * self.rows.n_rows,
            means=means,
            ended=stopped,
        )

    def evaluated(self) -> dict[str, Any]:
        """The exact objective over all pairs trained on, the number of pairs given, and what was looked at."""
        objective = self.problem.objective(self.made.descent.coef)
        history = list(self.made.history)
        if not history or history[-1].objective != objective:
            history.append(Iteration(self.made.n_steps, objective, float("nan"), self.seconds))
        data = self.rows.ranked
        counts = {"n_pairs": data.preferences.n_pairs, "queries_without_pairs": data.n_queries_without_pairs}
        return {"objective": objective, "history": plain_history(history), "deviation": self.deviation, **counts}


def fit_rows(
    settings: Settings,
    rows: LabelledRows,
    seed: int,
    own: Stream | None,
    start: Any,
    verbose: int,
    keeper: Keeper | None = None,
) -> Fit:
    """Train on rows in memory: from 0, from `start`, or from where this ranker's own training ended."""
    train, held_out = rows, None
    if settings.early_stopping:
        part, held_out = hold_out(rows.ranked, settings.validation_fraction, seed)
        train = LabelledRows.of_ranked(part)
    shown: Any = Facts.of(train.ranked) if verbose > 0 else ""
    with Progress(verbose, shown, n_steps=settings.n_steps) as progress:
        scale, alpha, columns = choose(settings.scale, settings.alpha, settings.loss, train)
        problem = Problem(train, settings.loss, alpha, scale)
        run = Run(settings, train, alpha, scale)
        made, keep = Made(_begin(run, settings, seed, own, start)), None
        if keeper is not None:
            first = fingerprint(rows)
            made, keep = _resumed(keeper, first, made, run), _keeping(keeper, first, run, rows, problem, settings)
        made = descend(run, made, settings.n_steps, problem, held_out, progress, keep)
        return Fit(rows, problem, settings, made, progress.seconds, None if columns is None else columns.deviation)


def _begin(run: Run, settings: Settings, seed: int, own: Stream | None, start: Any) -> Descent:
    """Where a fit starts: at 0, at given weights, or where the last one ended."""
    n_features = run.rows.shape[1]
    coef = getattr(start, "coef_", start) if own is None else own.descent.v
    w = np.zeros(n_features) if coef is None else np.asarray(coef, dtype=np.float64)
    if w.shape != (n_features,):
        raise DataError(
            f"X has {n_features} features, the weights to start from have shape {w.shape}: give the same features, "
            "or set warm_start=False."
        )
    if own is not None:
        return run.adopt(own.descent.copy(), settings.average)
    t = 0 if start is None else int(getattr(start, "t_", settings.n_steps))
    return run.begin(w, seed, t, settings.average)


def _resumed(keeper: Keeper, first: str, made: Made, run: Run) -> Made:
    """What a checkpoint has come to, if there is one, of the same rows."""
    saved = keeper.load()
    if saved is None:
        return made
    if saved.first != first:
        raise DataError(f"The checkpoint {keeper.path} is of other rows: give the same data, or {ANEW}.")
    stream = saved.stream
    logger.warning("resuming at step %s from the checkpoint %s", f"{stream.descent.t:,}", keeper.path)
    watch = stream.watch if stream.watch.best is None else Watch(run.taken(stream.watch.best), *_rest(stream.watch))
    return made._replace(descent=run.taken(stream.descent), n_steps=stream.n_steps, watch=watch)


def _rest(watch: Watch) -> tuple[float, int]:
    return watch.score, watch.fails


def _keeping(
    keeper: Keeper, first: str, run: Run, rows: LabelledRows, problem: Problem, settings: Settings
) -> Callable[[Made], None]:
    """What keeps the checkpoint."""

    def keep(made: Made) -> None:
        best = None if made.watch.best is None else run.released(made.watch.best.copy())
        here = made._replace(descent=run.released(made.descent.copy()))
        stream = Fit(rows, problem, settings, here, 0.0).stream(None)
        kept = stream.watched(Watch(best, *_rest(made.watch)))
        keeper.save(kept, (0, 0), first, [])

    return keep
