"""Streams in chunks: a query may go on in a later chunk, so some of its rows are kept; memory stays bounded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._errors import DataError, NoPairsError, ParameterError, overflow_ignored
from .._progress import Progress
from .._typing import FloatArray
from ..data.dataset import Dataset
from ..data.labelled import LabelledRows
from ..defaults import choose_alpha
from ..solvers import Iteration, Status
from .descent import Descent
from .fresh_draws import count_fresh, over_fresh
from .held_out import Held
from .reservoir import OpenQueries, keys_of
from .rows import as_rows
from .run import Problem, Run, Watch
from .scale_and_alpha import choose, columns_of
from .seeds import OTHER_STREAM, THIRD_STREAM
from .settings import Settings

UNBOUNDED = 2**62

Chunks = Iterable[Any] | Callable[[], Iterable[Any]] | Dataset


def fingerprint(rows: LabelledRows) -> str:
    """A hash of a chunk, by which a stream is known again."""
    given = [*as_rows(rows.X).arrays().values(), keys_of(rows.grades.ids), rows.grades.query]
    given += [array for array in (rows.y, rows.sample_weight) if array is not None]
    digest = hashlib.sha256(repr((rows.ids is None, rows.X.shape)).encode())
    for array in given:
        wide = array.astype(np.int64) if array.dtype.kind == "i" else array  # of indices, whatever their width
        digest.update(f"{wide.dtype} {wide.shape} ".encode())
        digest.update(np.ascontiguousarray(wide).data)
    return digest.hexdigest()


@dataclass(frozen=True)
class Stream:
    """Training as far as it has come, in memory or on a stream: all that the rest of it depends on.

    Attributes
    ----------
    descent, queries, watch, held
        The steps; the queries that may go on; early stopping, and the rows that it scores.
    scale, alpha, means
        What columns are divided by; the regulariser; and the columns' means of a fit before, for missing values.
    strength : float
        alpha times the rows, for alpha="auto": alpha follows the rows seen.
    n_rows, n_pairs, n_steps
        Rows that the stream holds as far as is known, pairs drawn from, and steps made since it began.
    again : bool
        Whether its rows are read once more: they count once.
    with_qid : bool
        Whether rows come with queries.
    """

    descent: Descent
    queries: OpenQueries
    scale: FloatArray | None
    alpha: float
    with_qid: bool
    n_rows: float = 0.0
    n_pairs: int = 0
    n_steps: int = 0
    strength: float = 0.0
    means: FloatArray | None = None
    watch: Watch = field(default_factory=Watch)
    held: Held | None = None
    again: bool = False
    ended: bool = False  # by early stopping, in memory

    @property
    def status(self) -> Status:
        """Whether early stopping has ended it."""
        return Status.STOPPED if self.ended or self.watch.is_over else Status.FINISHED

    @property
    def coef(self) -> FloatArray:
        """The weights: the best by early stopping, or those that the steps have come to."""
        return (self.descent if self.watch.best is None else self.watch.best).coef

    def learned(self, chunk: LabelledRows, settings: Settings, progress: Progress | None) -> Stream:
        """The stream after steps on pairs with a row of the chunk; none if there is no such pair, or it has stopped."""
        if self.watch.is_over:
            return self
        held, chunk = (None, chunk) if self.held is None else self.held.split(chunk)
        if chunk.n_rows == 0:
            return replace(self, held=held)
        keys = keys_of(chunk.grades.ids)
        rows = self.queries.working_set(chunk, keys)
        n_rows = self.n_rows + (0 if self.again else chunk.n_rows)
        alpha = self.strength / n_rows if isinstance(settings.alpha, str) else float(settings.alpha)
        after = replace(self, held=held, queries=self.queries.after(chunk, keys), n_rows=n_rows, alpha=alpha)
        n_new = _count(rows, chunk.n_rows)
        if n_new == 0:
            return after
        return after._stepped(rows, chunk.n_rows, n_new, settings, progress)

    def _stepped(
        self, rows: LabelledRows, n_fresh: int, n_pairs: int, settings: Settings, progress: Progress | None
    ) -> Stream:
        run = Run(settings, rows, self.alpha, self.scale, over_fresh(settings.sampler, rows, n_fresh))
        if progress is not None and progress.verbose > 0:
            objective = Problem(rows, settings.loss, self.alpha, self.scale).objective(self.descent.coef)
            progress(Iteration(self.descent.t, objective, np.nan, progress.seconds))
        descent, n_steps = run.taken(self.descent.copy()), max(1, round(settings.steps_per_row * n_fresh))
        run.steps(descent, n_steps)
        run.released(descent).check_finite()
        watch, held = self.watch, self.held
        n_pairs, n_steps = self.n_pairs + n_pairs, self.n_steps + n_steps
        if held is not None and held.is_due(n_steps):
            score = held.score(descent.coef)
            watch, held = watch if score is None else watch.after(descent, score), held.scored(n_steps)
        return replace(self, descent=descent, watch=watch, held=held, n_pairs=n_pairs, n_steps=n_steps)

    def watched(self, watch: Watch) -> Stream:
        """The same with this watch."""
        return replace(self, watch=watch)

    def reread(self) -> Stream:
        """The same with no query open: a query that ends a pass does not go on in the next one."""
        held = None if self.held is None else self.held.reread()
        return replace(self, queries=self.queries.without_rows(), held=held, again=True)

    def under(self, settings: Settings) -> Stream:
        """The same with early stopping as asked for from here on."""
        if not settings.early_stopping:
            return replace(self, held=None, watch=Watch(), ended=False)
        if self.held is not None:
            return self
        seed = np.uint64(self.descent.seed) ^ THIRD_STREAM
        held = Held(float(settings.validation_fraction), seed, np.uint64(0), self.with_qid)
        return replace(self, held=held, watch=Watch(), ended=False)

    @property
    def share_lost(self) -> float:
        """Share of the pairs of rows of one query whose earlier row had been forgotten when the later one came."""
        return self.queries.lost / max(1, self.queries.met)


def begin_stream(settings: Settings, chunk: LabelledRows, seed: int) -> Stream:
    """A stream whose first chunk this is; what is measured, is measured on it."""
    scale, alpha, _ = choose(settings.scale, 1.0, settings.loss, chunk)
    strength = 0.0
    if isinstance(settings.alpha, str):
        with overflow_ignored():
            strength = choose_alpha(settings.alpha, settings.loss, columns_of(chunk), scale, 1.0)
        alpha = strength / chunk.n_rows
    descent = Descent.begin(np.zeros(chunk.n_features), None, seed, 0, settings.average)
    return Stream(descent, no_queries(settings, seed), scale, alpha, chunk.ids is not None, strength=strength)


def no_queries(settings: Settings, seed: int) -> OpenQueries:
    """No query is open yet."""
    most = UNBOUNDED if settings.open_queries is None else int(settings.open_queries)
    return OpenQueries(int(settings.reservoir), most, np.uint64(seed) ^ OTHER_STREAM)


def _count(rows: LabelledRows, n_fresh: int) -> int:
    try:
        return count_fresh(rows, n_fresh)
    except NoPairsError:
        return 0


def numbered_chunks(chunks: Chunks, passes: int) -> Iterator[tuple[tuple[int, int], tuple[Any, Any, Any, Any]]]:
    """((pass, number), (X, y, qid, sample_weight)) of each chunk of a stream; empty ones are left out."""
    chunks = chunks.equal_chunks if isinstance(chunks, Dataset) else chunks
    if passes > 1 and not callable(chunks) and iter(chunks) is chunks:
        raise ParameterError(
            f"passes={passes} needs a stream that can be read again: give a list, or a function that opens it anew."
        )
    for number_of_pass in range(passes):
        source: Iterable[Any] = chunks() if callable(chunks) else chunks
        for number, item in enumerate(source):
            parts = _unpack(item)
            if np.shape(parts[0])[0] > 0:
                yield (number_of_pass, number), parts


def _unpack(item: Any) -> tuple[Any, Any, Any, Any]:
    if isinstance(item, (tuple, list)) and not hasattr(item, "X"):
        if len(item) not in (2, 3):
            raise DataError(f"A chunk has {len(item)} parts: give (X, y) or (X, y, qid).")
        return item[0], item[1], item[2] if len(item) == 3 else None, None
    if not hasattr(item, "X") or not hasattr(item, "y"):
        raise DataError(f"A chunk is a {type(item).__name__}: give (X, y, qid), or an object with X, y and qid.")
    return item.X, item.y, getattr(item, "qid", None), getattr(item, "sample_weight", None)
