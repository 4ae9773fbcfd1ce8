"""Progress of a fit on standard error: a live line on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import itertools
import math
import os
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engines import Facts
    from .solvers import Iteration, Solution


class Progress:
    """A solver's callback. Silent, and without importing rich, unless verbose > 0.

    A live line tells the time left, by the gap's way to `goal` or by the steps made of `n_steps`.
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
        self._shown: list[Iteration] = []
        self._calls = 0
        self._begin = time.perf_counter()
        self._console: Any = None
        self._live: Any = None
        self._hidden: Iteration | None = None  # the last iteration, if it has not been printed for good

    def __enter__(self) -> Progress:
        if self.verbose > 0:
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False)
            text = self.data if isinstance(self.data, str) else describe(self.data)
            self._console.print(text, soft_wrap=True)
            if self._console.is_terminal:
                plain = not self._console.encoding.lower().startswith("utf")
                self._live = self._console.status("", spinner="line" if plain else "dots")
                self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        if self._console is not None and self._hidden is not None and kind is None:
            self._console.print(line(self._hidden, self.loss), soft_wrap=True)

    def say(self, text: str) -> None:
        """A line of its own, after what has been shown."""
        if self._console is None:
            return
        if self._hidden is not None:
            self._console.print(line(self._hidden, self.loss), soft_wrap=True)
            self._hidden = None
        self._console.print(text, soft_wrap=True)

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begin

    def __call__(self, iteration: Iteration) -> None:
        """Show one iteration; on a plain stream only the 1st, 2nd, 4th, 8th, ... unless verbose > 1."""
        if self._console is None:
            return
        self._hidden = iteration
        self._calls += 1
        if self._live is not None:
            self._shown.append(iteration)
            self._live.update(line(iteration, self.loss) + left(seconds_left(self._shown, self.goal, self.n_steps)))
        elif self.verbose > 1 or self._calls & (self._calls - 1) == 0:
            self._console.print(line(iteration, self.loss), soft_wrap=True)
            self._hidden = None


class Opening:
    """What is done before a fit on a cluster begins: a live line on a terminal, a line for each stage elsewhere."""

    def __init__(self, verbose: int) -> None:
        self.verbose = int(verbose)
        self._console: Any = None
        self._live: Any = None
        self._stage = ""

    def __enter__(self) -> Opening:
        if self.verbose > 0:
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False)
            if self._console.is_terminal:
                plain = not self._console.encoding.lower().startswith("utf")
                self._live = self._console.status("", spinner="line" if plain else "dots")
                self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str, more: str = "") -> None:
        """A stage, and how far it has come."""
        if self._live is not None:
            self._live.update(f"{text}{more}")
        elif self._console is not None and text != self._stage:
            self._console.print(text, soft_wrap=True)
        self._stage = text


class PathProgress:
    """Fits made so far, over folds and alphas: a bar on a terminal, a line per tenth of the work elsewhere."""

    def __init__(self, verbose: int, n_folds: int, n_alphas: int) -> None:
        self.verbose = int(verbose)
        self.total = n_folds * n_alphas
        self.n_folds, self.n_alphas = n_folds, n_alphas
        self._count = itertools.count(1)  # next() is atomic: folds run in threads
        self._console: Any = None
        self._bar: Any = None

    def __enter__(self) -> PathProgress:
        if self.verbose > 0:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._console = Console(stderr=True, highlight=False)
            if self._console.is_terminal:
                self._bar = Bar(console=self._console)
                self._bar.add_task(self._text(), total=self.total)
                self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _text(self) -> str:
        return f"{self.n_folds} folds x {self.n_alphas} alphas"

    def expect(self, n_alphas: int) -> None:
        """So many alphas more."""
        self.n_alphas += n_alphas
        self.total = self.n_folds * self.n_alphas
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], total=self.total, description=self._text())

    def step(self, solution: Solution) -> None:
        """Count one fit."""
        n = next(self._count)
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])
        elif self._console is not None and 10 * n // self.total > 10 * (n - 1) // self.total:
            text = f"{self._text()}: {n:3d} of {self.total} fits   gap {solution.gap:.1e}"
            self._console.print(text, soft_wrap=True)


LONGEST_NAME = 24  # of a file, before a bar
FIRST_SHOWN, FIRST_LINE = 1.0, 5.0  # seconds until a bar is shown, and until the first line where there is no terminal


class ByteProgress:
    """How much of a source has been read, from the first second on: a bar on a terminal, a line a while elsewhere.

    Silent, and without importing rich, unless verbose > 0 and the work takes longer. A source whose size nobody knows,
    a pipe, say, shows what was read and how fast.
    """

    def __init__(self, verbose: int = 0, name: str = "") -> None:
        self.verbose, self.name = int(verbose), name
        self._total: int | None = None
        self._done, self._lines = 0, 0
        self._begin = time.perf_counter()
        self._console: Any = None
        self._bar: Any = None

    def begin(self, total: int | None) -> None:
        """So many bytes are to be read; None: nobody knows."""
        self._total, self._begin = total, time.perf_counter()

    def reached(self, done: int) -> None:
        """So many bytes have been read."""
        self._done = max(self._done, done)
        if self.verbose <= 0:
            return
        seconds = time.perf_counter() - self._begin
        if self._console is None and seconds >= FIRST_SHOWN:
            self._open()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done)
        elif self._console is not None and seconds >= FIRST_LINE * 2**self._lines:
            self._lines += 1
            self._console.print(read_line(self.name, self._done, self._total, seconds), soft_wrap=True)

    @property
    def share(self) -> float:
        """The share that has been read; 1 where nobody knows."""
        return self._done / self._total if self._total and self._done else 1.0

    def _open(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False, markup=False)
        if self._console.is_terminal:
            from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
            from rich.progress import Progress as Bar

            text = TextColumn("{task.description}", markup=False)
            shown = (text, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
            self._bar = Bar(*shown, console=self._console, transient=True)
            name = os.path.basename(self.name)
            short = name if len(name) <= LONGEST_NAME else f"...{name[3 - LONGEST_NAME :]}"
            self._bar.add_task(f"Reading {short}", total=self._total)
            self._bar.start()

    def __enter__(self) -> ByteProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def read_line(name: str, done: int, total: int | None, seconds: float) -> str:
    """What was read of a source, how fast, and how long the rest will take."""
    rate = done / seconds
    if total is None or not done:
        return f"Reading {name}: {done / 1e6:,.0f} MB   {rate / 1e6:,.0f} MB/s"
    share = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
    return f"Reading {name}: {share}   {rate / 1e6:,.0f} MB/s{left(max(0, total - done) / rate)}"


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


def left(seconds: float | None) -> str:
    """Time left as text."""
    if seconds is None:
        return ""
    return f"   about {seconds:.0f} s left" if seconds < 120 else f"   about {seconds / 60:.0f} min left"
