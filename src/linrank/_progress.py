"""Progress of a fit, and of a path of fits, on standard error: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import itertools
import math
import os
import sys
import time
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from ._bars import Bar, is_live, screen

if TYPE_CHECKING:
    from .engines import Facts
    from .solvers import Iteration, Solution


class Progress:
    """A solver's callback: a bar, and with verbose > 0 lines that stay.

    The bar tells the time left, by the gap's way to `goal` or by the steps made of `n_steps`.
    """

    def __init__(
        self,
        verbose: int,
        data: Facts | str,
        loss: str | None = None,
        *,
        goal: float | None = None,
        n_steps: int | None = None,
    ) -> None:
        self.verbose = int(verbose)
        self.loss = loss
        self.data = data
        self.goal, self.n_steps = goal, n_steps
        self._history: list[Iteration] = []
        self._calls = 0
        self._begin = time.perf_counter()
        self._bar = Bar("training")
        self._open = ExitStack()
        self._hidden: Iteration | None = None  # the last iteration, if it has not been printed for good

    def __enter__(self) -> Progress:
        if self.verbose > 0:
            self._open.enter_context(screen.shown())
            screen.say(self.data if isinstance(self.data, str) else describe(self.data))
        self._open.enter_context(self._bar)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        if self._hidden is not None and kind is None:
            screen.say(line(self._hidden, self.loss))

    def say(self, text: str) -> None:
        """A line of its own, after what has been shown; silent unless verbose > 0."""
        if self.verbose <= 0:
            return
        if self._hidden is not None:
            screen.say(line(self._hidden, self.loss))
            self._hidden = None
        screen.say(text)

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begin

    def __call__(self, iteration: Iteration) -> None:
        """Show one iteration; on a plain stream only the 1st, 2nd, 4th, 8th, ... stay, unless verbose > 1."""
        if self.verbose <= 0 and not screen.wanted:
            return
        self._history.append(iteration)
        self._update(iteration)
        if self.verbose <= 0:
            return
        self._hidden = iteration
        self._calls += 1
        if not is_live(sys.stderr) and (self.verbose > 1 or self._calls & (self._calls - 1) == 0):
            screen.say(line(iteration, self.loss))
            self._hidden = None

    def _update(self, iteration: Iteration) -> None:
        bar, first = self._bar, self._history[0]
        gap = "" if math.isnan(iteration.gap) else f", gap {iteration.gap:.1e}"
        what = "step" if self.n_steps is not None else "iteration"
        bar.brief = f"{what} {iteration.iteration:,}{gap}"
        bar.note = f"{what} {iteration.iteration:,}, objective {iteration.objective:.4g}{gap}"
        bar.seconds_left = seconds_left(self._history, self.goal, self.n_steps)
        if self.n_steps is not None:
            bar.done, bar.total, bar.unit = iteration.iteration, self.n_steps, "steps"
        elif self.goal and 0 < self.goal < first.gap and iteration.gap > 0:
            bar.total = math.log(first.gap / self.goal)
            bar.done = max(bar.done, math.log(first.gap / iteration.gap))


class Opening:
    """What is done before a fit on a cluster begins: a bar, and with verbose > 0 a line for each stage."""

    def __init__(self, verbose: int) -> None:
        self.verbose = int(verbose)
        self._bar = Bar("waiting for the cluster")
        self._open = ExitStack()
        self._stage = ""

    def __enter__(self) -> Opening:
        if self.verbose > 0:
            self._open.enter_context(screen.shown())
        self._open.enter_context(self._bar)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def say(self, stage: str, done: int = 0, total: int | None = None) -> None:
        """A stage, and how many of its tasks are done."""
        if stage != self._stage and self.verbose > 0:
            screen.say(stage)
        self._stage = self._bar.what = stage
        self._bar.done, self._bar.total, self._bar.unit = done, total, "tasks"


class PathProgress:
    """Fits made so far, over folds and alphas: a bar, and with verbose > 0 elsewhere a line per tenth of the work."""

    def __init__(self, verbose: int, n_folds: int, n_alphas: int) -> None:
        self.verbose = int(verbose)
        self.n_folds, self.n_alphas = n_folds, n_alphas
        self._count = itertools.count(1)  # next() is atomic: folds run in threads
        self._bar = Bar(self._text(), self.total, "fits")
        self._open = ExitStack()

    @property
    def total(self) -> int:
        """Fits to make."""
        return self.n_folds * self.n_alphas

    def __enter__(self) -> PathProgress:
        if self.verbose > 0:
            self._open.enter_context(screen.shown())
        self._open.enter_context(self._bar)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def _text(self) -> str:
        return f"{self.n_folds} {'fold' if self.n_folds == 1 else 'folds'} x {self.n_alphas} alphas"

    def expect(self, n_alphas: int) -> None:
        """So many alphas more."""
        self.n_alphas += n_alphas
        self._bar.what, self._bar.total = self._text(), self.total

    def step(self, solution: Solution) -> None:
        """Count one fit."""
        n = next(self._count)
        self._bar.done = max(self._bar.done, n)
        tenth = 10 * n // self.total > 10 * (n - 1) // self.total
        if self.verbose > 0 and tenth and not is_live(sys.stderr):
            screen.say(f"{self._text()}: {n:3d} of {self.total} fits   gap {solution.gap:.1e}")


class ByteProgress:
    """How much of a source has been read: a bar, also where nobody else shows any if verbose > 0.

    A source whose size nobody knows has no total.
    """

    def __init__(self, verbose: int = 0, name: str = "") -> None:
        self.verbose = int(verbose)
        self._bar = Bar(f"reading {os.path.basename(name)}".rstrip(), unit="bytes")
        self._open = ExitStack()

    def begin(self, total: int | None) -> None:
        """So many bytes are to be read; None: nobody knows."""
        self._bar.total = total
        screen.refresh()

    def reached(self, done: int) -> None:
        """So many bytes have been read."""
        self._bar.done = max(self._bar.done, done)

    @property
    def share(self) -> float:
        """The share that has been read; 1 where nobody knows."""
        return self._bar.done / self._bar.total if self._bar.total and self._bar.done else 1.0

    def __enter__(self) -> ByteProgress:
        if self.verbose > 0:
            self._open.enter_context(screen.shown())
        self._open.enter_context(self._bar.anew())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()


class ResamplesProgress(PathProgress):
    """Resamples of a bootstrap fitted so far."""

    def _text(self) -> str:
        return f"{self.total:,} resamples"


def describe(facts: Facts) -> str:
    """What is being trained on, in a sentence."""
    text = f"{facts.rows:,} rows x {facts.features:,} features, {facts.queries:,} "
    text += "query" if facts.queries == 1 else "queries"
    if facts.queries_without_pairs:
        text += f" ({facts.queries_without_pairs:,} without a pair: skipped)"
    return f"{text}, {facts.pairs:,} pairs"


def line(iteration: Iteration, loss: str | None = None) -> str:
    """One iteration as text."""
    n, objective, gap, seconds = iteration
    bound = "" if math.isnan(gap) else f"   gap {gap:.1e}"  # a stochastic solver has no certificate
    if loss == "logistic" and (least := 1.0 - objective / math.log(2.0)) > 0:
        bound += f"   WMW > {least:.3f}"  # RankNCG's (9): a wrong pair costs log 2 or more
    return f"iteration {n:4d}   objective {objective:.6f}{bound}   {seconds:6.2f} s"


def seconds_left(history: list[Iteration], goal: float | None, n_steps: int | None) -> float | None:
    """How long it will take: steps in proportion; a gap as it has fallen of late, by a constant factor a second.

    None where nothing can be said: too few iterations, or a gap that does not fall. A guess, as solvers speed up.
    """
    last = history[-1]
    if n_steps is not None:
        return last.seconds * (n_steps - last.iteration) / max(1, last.iteration)
    if goal is None or goal <= 0 or len(history) < 3:
        return None
    first = history[max(0, len(history) // 2 - 1)]
    if not 0 < last.gap < first.gap or last.seconds <= first.seconds:
        return None
    rate = math.log(first.gap / last.gap) / (last.seconds - first.seconds)
    return max(0.0, math.log(last.gap / goal) / rate)
