"""The local engine: data in this process, work on a pool of threads."""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._data import RankingData
from .._preferences import FloatArray
from .._threads import count_threads, give_up_if_stopped, one_blas_thread
from ..losses import Curvature, Loss, LossPoint
from ._columns import Columns
from ._matrix import as_matrix

#: Most entries of X and most members for which a task is over in some ten milliseconds: Ctrl-C can wait so long.
QUICK_ENTRIES, QUICK_MEMBERS = 1 << 22, 1 << 17
#: Most features for which a d x d Hessian is built, and most entries of X in one ranking: more are read from memory at
#: random, and the cost model does not hold.
MAX_HESSIAN = 1000
LARGEST_RANKING = 1 << 23


def overflow_ignored() -> Any:
    """No warnings of overflow while solvers run: they look at what they get, and say what to do about it."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


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
        self._pool: ThreadPoolExecutor | None = None
        self._open = threading.Event()  # closed after an interruption: threads take no further block
        self._open.set()
        self._rounded: LocalEngine | None = None
        self._tried = False  # whether a rounded copy was tried
        self._quick = data.X.size <= QUICK_ENTRIES and data.preferences.row.size <= QUICK_MEMBERS

    def __enter__(self) -> LocalEngine:
        self._open.set()
        try:
            one_blas_thread.enter(self)
            if self.n_threads > 1 or not self._quick:
                self._pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="linrank")
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
            self._rounded, self._tried = None, False
            one_blas_thread.leave(self)
        except BaseException:  # an interrupt: it may have come in the middle of leaving
            one_blas_thread.leave(self)
            raise

    def map(self, function: Callable[[int], Any], blocks: Iterable[int]) -> list[Any]:
        """Apply the function to block numbers on the pool; answers in their order."""
        give_up_if_stopped()
        todo = list(blocks)
        if self._pool is None or (self._quick and len(todo) == 1):
            return [function(block) for block in todo]
        # Each thread takes the next block when it is done with one: waking a thread costs more than a small block.
        answers: list[Any] = [None] * len(todo)
        numbers = itertools.count()

        def work() -> None:
            with overflow_ignored():  # a thread does not inherit it
                while self._open.is_set() and (k := next(numbers)) < len(todo):
                    answers[k] = function(todo[k])

        for future in [self._pool.submit(work) for _ in range(min(self.n_threads, len(todo)))]:
            future.result()
        return answers

    def dot(self, w: FloatArray) -> FloatArray:
        """Scores X w."""
        scores = np.empty(self.matrix.shape[0])
        self.map(lambda block: self.matrix.dot(w, block, scores), range(self.matrix.n_blocks))
        return scores

    def transpose_dot(self, g: FloatArray) -> FloatArray:
        """X^T g, the blocks added in their order."""
        parts = self.map(lambda block: self.matrix.transpose_dot(g, block), range(self.matrix.n_blocks))
        total: FloatArray = parts[0]
        for part in parts[1:]:
            total += part
        return total

    def loss_at(self, loss: Loss, scores: FloatArray) -> LossPoint:
        """The loss at given scores."""
        return loss.at(scores, self.data, self.map)

    def hessian_steps(self, loss: Loss) -> float | None:
        """Cost of an exact Hessian in steps of conjugate gradients; None where it cannot be had.

        A step for each feature where the loss builds it column by column. Else a rule of thumb, 3.5 + d / 30, which
        ``benchmarks/run.py hessian`` holds against measured costs.
        """
        p = self.data.preferences
        d = self.data.n_features
        if sp.issparse(self.data.X) or d > MAX_HESSIAN:
            return None
        if loss.hessian_by_columns:
            return float(d)
        if p.longest * d > LARGEST_RANKING:
            return None
        return (3.5 + d / 30) * max(1.0, p.row.size / self.data.n_rows)

    def sample(self, n_rows: int) -> LocalEngine | None:
        """An engine for a sample of the rows, on the same threads; None where rows are too few or no pair is left."""
        if 3 * n_rows > self.data.n_rows:
            return None
        data = self.data.sample(n_rows)
        if data is None:
            return None
        part = LocalEngine(data, self.n_threads)
        part._open = self._open
        part._pool = self._pool if self.n_threads > 1 or not part._quick else None
        return part

    def rounded(self) -> LocalEngine | None:
        """An engine whose products read a float32 copy of X, made once; None where that gains nothing."""
        if not self._tried:
            matrix, self._tried = self.matrix.rounded(), True
            if matrix is not None:
                self._rounded = copy.copy(self)
                self._rounded.matrix = matrix
        return self._rounded

    def hessian(self, curvature: Curvature, scale: FloatArray | None) -> FloatArray:
        """X^T (curvature) X with the columns of X divided by `scale`, blocks of queries added in their order."""
        return curvature.hessian(self.data.X, scale)

    def largest_row(self, scale: FloatArray | None) -> float:
        """Largest norm of a row of X, its columns divided by `scale`."""
        unit = np.ones(self.matrix.shape[1]) if scale is None else scale
        blocks = range(self.matrix.n_blocks)
        return float(np.sqrt(max(self.map(lambda block: self.matrix.largest_square(unit, block), blocks))))

    def columns(self) -> Columns:
        """What is known of each column, rows counting by their weight."""
        v = self.data.sample_weight
        if v is None or not np.any(v):  # explicit pairs may stand on rows without weight
            v = np.ones(self.data.n_rows)
        blocks = range(self.matrix.n_blocks)
        largest = np.max(self.map(self.matrix.largest, blocks), axis=0)
        unit = np.where(largest > 0, largest, 1.0)  # squares of numbers up to 1 neither over- nor underflow
        total = float(v.sum())
        mean = self.transpose_dot(v / total)
        parts = self.map(lambda block: self.matrix.squared_deviations(v / total, mean, unit, block), blocks)
        deviation = unit * np.sqrt(np.sum(parts, axis=0))
        # A constant column deviates from its mean by the mean's rounding, which grows like the root of the rows.
        rounding = np.finfo(np.float64).eps * (64 + 8 * np.sqrt(self.data.n_rows)) * np.abs(mean)
        # Divided at the end: whole weights add up exactly, in whatever order.
        count = np.sum(self.map(lambda block: self.matrix.nonzeros(v, block), blocks), axis=0)
        return Columns(mean, np.where(deviation > rounding, deviation, 0.0), np.minimum(count / total, 1.0))
