"""The local engine: data in this process, work on a pool of threads."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._errors import DataError, LinrankError, overflow_ignored
from .._memory import check_room_for, give_back
from .._once import cached_property
from .._threads import Crew, count_threads, give_up_if_stopped, one_blas_thread, raise_interrupt, stop_of_this_thread
from .._typing import FloatArray, IntArray
from .._work import WorkPool
from ..data.parts import draw
from ..data.ranking_data import RankingData
from ..data.rankings import sizes
from ..kernels.hinge import gather, scatter_add
from ..losses import Loss, Sums
from ..losses._base import add_sums
from ._cost import hessian_cost
from ._facts import Columns, Facts
from .columns import measure_columns
from .evaluation import Block, LocalEvaluation, LocalScores
from .matrix import as_matrix
from .reading import Reading, fast_reading

#: Most entries of X and most members for which a task is over in some ten milliseconds: Ctrl-C can wait so long.
QUICK_ENTRIES, QUICK_MEMBERS = 1 << 22, 1 << 17
#: Numbers of rows use the room of the sort: no loss is evaluated while X is multiplied.
ROWS = "keys"
#: From so many members on, only the last evaluation keeps more than its scores: memory counts.
MANY_MEMBERS = 1 << 20
#: Most features for which a d x d Hessian is built, and most entries of the tree of one ranking's levels.
MAX_HESSIAN = 1000
LARGEST_TREE = 1 << 24
#: An exact Hessian takes rows by their scores: where those of a block lie further apart, X is read at random for it.
FAR = 2 << 30


class LocalEngine:
    """Products with X and losses of its scores, on `n_jobs` threads; a context manager.

    Blocks are cut by the data and added up in their order, so the bits do not depend on `n_jobs`. Long work runs on
    the pool even with one thread: the main thread stays free to take Ctrl-C at once. Quick work does not: to wake
    another thread would take a good part of its time.
    """

    def __init__(self, data: RankingData, n_jobs: int | None = None) -> None:
        self.data = data
        self.matrix = as_matrix(data.X)
        self.n_threads = count_threads(n_jobs)
        self.work = WorkPool()
        self._pool: ThreadPoolExecutor | None = None
        self._open = threading.Event()  # closed after an interruption: threads take no further block
        self._open.set()
        self._last: weakref.ref[LocalEvaluation] | None = None
        self._fast: Reading | None = None
        self._quick = data.X.size <= QUICK_ENTRIES and data.preferences.n_members <= QUICK_MEMBERS

    def __enter__(self) -> LocalEngine:
        self._open.set()
        try:
            if self.data.preferences.n_members >= MANY_MEMBERS:
                give_back()  # what rankings were made of
            one_blas_thread.enter(self)
            if self.n_threads > 1 or not self._quick:
                self._pool = _started(ThreadPoolExecutor(self.n_threads, thread_name_prefix="linrank"), self.n_threads)
                self.work = WorkPool(self._crew())
        except BaseException:  # an interrupt: nobody will leave
            one_blas_thread.leave(self)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._open.clear()
            if self._pool is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = None
            self._fast, self.work = None, WorkPool()
            one_blas_thread.leave(self)
        except BaseException:  # an interrupt: it may have come in the middle of leaving
            one_blas_thread.leave(self)
            raise

    def _crew(self) -> Crew | None:
        """The threads that a task may share its parts with."""
        several = self._pool is not None and self.n_threads > 1 and not self._quick
        return Crew(self._pool, self.n_threads, self._open) if several and self._pool is not None else None

    @cached_property
    def facts(self) -> Facts:
        """Rows, features, queries, pairs and row weights."""
        return Facts.of(self.data)

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks of rankings."""
        p = self.data.preferences
        ends = p.ranking_ptr[p.blocks].tolist()
        return [Block(p.block(b), slice(ends[b], ends[b + 1])) for b in range(p.n_blocks)]

    def map(self, function: Callable[[Any], Any], blocks: Iterable[Any]) -> list[Any]:
        """Apply the function to blocks on the pool; answers in their order."""
        give_up_if_stopped()
        todo = list(blocks)
        answers: list[Any] = [None] * len(todo)
        if self._pool is None or (self._quick and len(todo) == 1):
            for k, block in enumerate(todo):
                give_up_if_stopped()
                self._refuse_if_left()
                answers[k] = function(block)
            return answers
        # Each thread takes the next block when it is done with one: waking a thread costs more than a small block.
        numbers, stop = itertools.count(), stop_of_this_thread()

        def work() -> None:
            with overflow_ignored():  # a thread does not inherit it
                while self._open.is_set() and not (stop and stop.is_set()) and (k := next(numbers)) < len(todo):
                    answers[k] = function(todo[k])

        try:
            for future in [self._pool.submit(work) for _ in range(min(self.n_threads, len(todo)))]:
                future.result()
        except RuntimeError as error:
            raise_interrupt(error)
            raise
        give_up_if_stopped()  # then some blocks have no answer
        self._refuse_if_left()
        return answers

    def _over(self, blocks: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
        """As `map`; a single quick block at once, as its product takes no longer than to ask what `map` asks."""
        self._refuse_if_left()
        return [function(blocks[0])] if self._quick and len(blocks) == 1 else self.map(function, blocks)

    def _refuse_if_left(self) -> None:
        """A thread of a sum may still ask after an interrupt: it would go through all blocks in vain."""
        if not self._open.is_set():
            raise LinrankError("This engine was left: enter it again before it is asked anything.")

    def over_rows(self, function: Callable[[int], Any]) -> list[Any]:
        """Apply the function to the numbers of the matrix's blocks."""
        return self.map(function, range(self.matrix.n_blocks))

    def fingerprint(self) -> str:
        """Digest of all that the mean loss depends on."""
        return self.data.fingerprint()

    def hessian_cost(self, loss: Loss) -> float | None:
        """Cost of an exact Hessian in Hessian products, modelled; None where it cannot be had."""
        p, d = self.data.preferences, self.data.n_features
        if not loss.smooth or sp.issparse(self.data.X) or d > MAX_HESSIAN or self._far_apart:
            return None
        if loss.steps is not None and int(sizes(p.ranking_levels).max(initial=0)) * d > LARGEST_TREE:
            return None
        return hessian_cost(self.data, loss)

    @cached_property
    def _far_apart(self) -> bool:
        """Whether a block's rows, of which a Hessian takes one after the other by score, span more than FAR bytes."""
        p, X = self.data.preferences, self.data.X
        if X.nbytes <= FAR or p.n_members == 0:
            return False
        first = p.ranking_ptr[p.blocks[:-1]]
        span = np.maximum.reduceat(p.row, first) - np.minimum.reduceat(p.row, first)
        return int(span.max()) * (X.nbytes // X.shape[0]) > FAR

    def scores(self, w: FloatArray) -> LocalScores:
        """X w."""
        w = self.checked(w)
        if not w.any():
            return LocalScores(np.zeros(self.data.preferences.n_members))
        return LocalScores(self.dot(self.exact, w))

    def at_zero(self, loss: Loss) -> Sums:
        """The loss where all scores are equal."""

        def one(block: Block) -> Sums:
            give_up_if_stopped()
            return loss.at_zero(block.rankings, work)

        with self.work.lend() as work:
            return add_sums([one(block) for block in self.blocks])

    def evaluate(
        self, loss: Loss, s: LocalScores, d: LocalScores | None = None, t: float = 0.0, gradient: bool = False
    ) -> LocalEvaluation:
        """The loss at s, or at s + t d."""
        for handle in (s,) if d is None else (s, d):
            if not isinstance(handle, LocalScores) or handle.values.size != self.data.preferences.n_members:
                raise DataError("These scores are another engine's: take them from `scores`, or from an evaluation.")
        last = self._last() if self._last is not None else None
        if last is not None and self.data.preferences.n_members >= MANY_MEMBERS:
            last.rest(s)
        found = LocalEvaluation(self, loss, s, d, t)
        self._last = weakref.ref(found)
        return found

    def checked(self, w: FloatArray) -> FloatArray:
        """A vector over the features, as kernels take it."""
        if np.shape(w) != (self.data.n_features,):
            raise DataError(
                f"There are weights of shape {np.shape(w)} for {self.data.n_features} features: give one each."
            )
        return np.ascontiguousarray(w, dtype=np.float64)

    def divisors(self, scale: FloatArray | None) -> FloatArray:
        """What columns are divided by: ones where there is no scale."""
        return np.ones(self.data.n_features) if scale is None else self.checked(scale)

    def dot(self, reading: Reading, w: FloatArray) -> FloatArray:
        """X w in the members' order."""
        matrix = reading.matrix
        with self.work.lend() as work:
            rows = work.take(ROWS, matrix.shape[0], np.float64)
            self._over(range(matrix.n_blocks), lambda block: matrix.dot(w, block, rows))
            return self.to_members(rows, reading)

    def to_members(self, values: FloatArray, reading: Reading) -> FloatArray:
        """Values of rows in the members' order."""
        s = np.empty(self.data.preferences.n_members)
        ways = list(zip(self.blocks, reading.rows, strict=True))
        self._over(ways, lambda way: gather(way[1], values, 0, way[1].size, s[way[0].members]))
        return s

    def transpose_dot(self, reading: Reading, parts: list[FloatArray], scale: FloatArray | None = None) -> FloatArray:
        """X^T g over `scale`, g given block by block in the members' order; blocks of rows are added in their order."""
        unit, matrix = self._unit, reading.matrix
        with self.work.lend() as work:
            rows = work.zeros(ROWS, matrix.shape[0], np.float64)

            def add(ways: list[tuple[IntArray, FloatArray]]) -> None:
                for row, part in ways:
                    scatter_add(row, part, 1.0 / unit, 0, part.size, rows)

            ways = list(zip(reading.rows, parts, strict=True))
            self._over([ways] if reading.shared else [[way] for way in ways], add)
            product = _sum(self._over(range(matrix.n_blocks), lambda block: matrix.transpose_dot(rows, block)))
        return unit * (product if scale is None else product / self.checked(scale))

    @cached_property
    def _unit(self) -> float:
        """A power of 2 near N, or 1: sums over pairs are divided by it, exactly, while they are multiplied by X."""
        return float(2.0 ** max(np.frexp(self.data.preferences.total)[1], 0))

    @cached_property
    def exact(self) -> Reading:
        """X as it is; no two blocks share a row."""
        return Reading(self.matrix, [block.rankings.row for block in self.blocks])

    @property
    def fast(self) -> Reading:
        """X for directions, copied once where that pays."""
        if self._fast is None:
            self._fast = fast_reading(self.exact)
        return self._fast

    def draw(self, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
        """Some whole queries."""
        return draw(self.data, n_rows, first, of)

    def sample(self, n_rows: int) -> LocalEngine | None:
        """An engine for a sample of the rows, on the same threads."""
        data = self.draw(n_rows)
        if data is None or data.preferences.n_rankings == 0:
            return None
        part = LocalEngine(data, self.n_threads)
        part._open = self._open
        part._pool = self._pool if self.n_threads > 1 or not part._quick else None
        part.work = WorkPool(part._crew())
        return part

    def largest_row(self, scale: FloatArray | None) -> float:
        """Largest norm of a row of X, its columns divided by `scale`."""
        unit = self.divisors(scale)
        return float(np.sqrt(max(self.over_rows(lambda block: self.matrix.largest_square(unit, block)))))

    def columns(self) -> Columns:
        """What is known of each column, rows counting by their weight."""
        return self._columns

    @cached_property
    def _columns(self) -> Columns:
        return measure_columns(self.matrix, self.data.sample_weight, self.over_rows)


def _sum(parts: list[FloatArray]) -> FloatArray:
    """The parts added up in their order, into the first of them."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


def _started(pool: ThreadPoolExecutor, n_threads: int) -> ThreadPoolExecutor:
    """The pool with all of its threads: later on there may be no memory to begin one."""
    check_room_for(n_threads)
    all_there = threading.Barrier(n_threads)
    try:
        for future in [pool.submit(all_there.wait) for _ in range(n_threads)]:
            future.result()
    except BaseException as error:  # an interrupt: those that are there must not wait for the others
        all_there.abort()
        pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, RuntimeError):
            raise_interrupt(error)
        raise
    return pool
