"""On a worker: some of the rows, their engine, and what was computed from them."""

from __future__ import annotations

import ctypes
import os
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
import scipy.sparse as sp

from ..._errors import LinrankError, overflow_ignored
from ..._threads import Stop, Stopped, give_up_if_stopped, stopped_by
from ...data.ranking_data import RankingData
from ..base import Engine, Evaluation, Scores
from .recipes import Evaluated, Known, Product, Recipe

#: Scores and evaluations that a shard keeps at most: a fit needs three or four, and can make again what it misses.
KEPT = 12


class Missing(NamedTuple):
    """An answer: the shard no longer has what this key stands for."""

    key: int


class Failure(NamedTuple):
    """An answer: an error, pickled where that can be."""

    error: bytes | None
    text: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """An error as it travels; what has no pickle is told by its text."""
        text = f"{type(error).__name__}: {error}"
        try:
            packed = cloudpickle.dumps(error)
            pickle.loads(packed)
        except Exception:
            return cls(None, text)
        return cls(packed, text)

    def throw(self) -> None:
        """Raise it here."""
        if self.error is not None:
            raise pickle.loads(self.error)
        raise LinrankError(f"A worker failed with {self.text}.")


class LostError(Exception):
    """What a key stands for is not here."""


class Request(NamedTuple):
    """What is asked of all shards."""

    engine: str
    freed: list[int]
    method: str
    arguments: tuple[Any, ...]
    n_jobs: int | None = None

    def packed(self) -> bytes:
        """As it travels: opened inside a task only, as a worker that cannot read a message would leave the cluster."""
        return cloudpickle.dumps(self)


class Shard:
    """Rows on a worker. Its engine and what it has computed are left out of its pickle, and made again where needed."""

    def __init__(self, data: RankingData, device: Any = None) -> None:
        self.data, self.device = data, device
        self._reset()

    def _reset(self) -> None:
        self._engine: Engine | None = None
        self._held: OrderedDict[int, Any] = OrderedDict()
        self._lock = threading.RLock()  # a task that was cancelled may still run beside the next

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data, "device": self.device}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    def __sizeof__(self) -> int:
        """Bytes, by which workers know when they are full."""
        return size_of(self.data)

    def engine(self, n_jobs: int | None = None) -> Engine:
        """The engine, entered: it is left when the shard goes."""
        if self._engine is None:
            from ..open import open_engine

            keep_freed_memory()
            made = open_engine(self.data, n_jobs, self.device)
            made.__enter__()
            self._engine = made
        return self._engine

    def answer(self, request: Request, number: int) -> Any:
        """What is asked, or that it cannot be told without a recipe; `number` is the shard's own."""
        with self._lock, overflow_ignored():
            self.engine(request.n_jobs)
            for key in request.freed:
                self._held.pop(key, None)
            try:
                return getattr(self, f"_answer_{request.method}")(number, *request.arguments)
            except LostError as lost:
                return Missing(lost.args[0])

    def _answer_facts(self, number: int) -> Any:
        return self.engine().facts, size_of(self.data)

    def _answer_of_engine(self, number: int, method: str, *arguments: Any) -> Any:
        return getattr(self.engine(), method)(*arguments)

    def _answer_draw(self, number: int, n_rows: int, before: Sequence[int], of: int) -> Any:
        return self.engine().draw(n_rows, int(before[number]), of)

    def _answer_evaluate(self, number: int, recipe: Recipe, gradient: bool) -> Any:
        found = self.evaluation(recipe, gradient)
        return found.sums, found.gradient() if gradient else None

    def _answer_of_evaluation(self, number: int, recipe: Recipe, method: str, *arguments: Any) -> Any:
        return getattr(self.evaluation(recipe), method)(*arguments)

    def _answer_matrix(self, number: int, recipe: Recipe, method: str, *arguments: Any) -> Any:
        """A symmetric matrix, by half of it."""
        found = getattr(self.evaluation(recipe), method)(*arguments)
        return found[np.triu_indices(len(found))]

    def evaluation(self, recipe: Recipe, gradient: bool = False) -> Evaluation:
        """What is known under the recipe's key, or made by it."""
        known = self._found(recipe.key)
        if known is not None:
            return known
        if not isinstance(recipe, Evaluated):
            raise LostError(recipe.key)
        d, t = None if recipe.d is None else self.scores(recipe.d), recipe.t
        if recipe.w is not None:
            s, t = self.product(Product(-recipe.key, recipe.w)), 0.0
        else:
            assert recipe.s is not None
            s = self.scores(recipe.s)
        made = self.engine().evaluate(recipe.loss, s, d, t, gradient)
        self._keep(recipe.key, made)
        return made

    def scores(self, recipe: Recipe) -> Scores:
        """The same for scores; those of an evaluation are its own."""
        known = self._found(recipe.key)
        if known is None and isinstance(recipe, Product):
            known = self.product(recipe)
            self._keep(recipe.key, known)
        elif known is None:
            known = self.evaluation(recipe)
        return known.scores if hasattr(known, "sums") else known

    def product(self, recipe: Product) -> Scores:
        """X w."""
        return self.engine().scores(recipe.w)

    def _found(self, key: int) -> Any:
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def _keep(self, key: int, made: Any) -> None:
        self._held[key] = made
        while len(self._held) > KEPT:
            self._held.popitem(last=False)


def size_of(data: RankingData) -> int:
    """Bytes of the rows and of the preferences between them."""
    X, p = data.X, data.preferences
    features = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes
    return int(
        features + data.query.nbytes + p.row.nbytes + p.level_ptr.nbytes + (0 if data.y is None else data.y.nbytes)
    )


#: Whether the work of an engine, by its name, is to be given up on this worker.
_stops: dict[str, Stop] = {}


def stop_of(engine: str) -> Stop:
    """What tells the work of an engine to give up."""
    if len(_stops) > 1000:  # long over
        _stops.clear()
    return _stops.setdefault(engine, Stop())


def give_up(engine: str) -> None:
    """Give up all work of an engine: asked on the worker's own loop, while tasks run in threads."""
    stop_of(engine).set()


def guarded(engine: str, work: Callable[[], Any]) -> Any:
    """The answer, or the Failure that came instead: an error of a task would be held against its shard."""
    try:
        with stopped_by(stop_of(engine)), overflow_ignored():
            give_up_if_stopped()
            return work()
    except BaseException as error:
        if isinstance(error, Stopped):
            error = LinrankError("The work was given up, as nobody waits for it.")
        return Failure.of(error)


def serve(shards: list[Shard], numbers: list[int], message: bytes) -> bytes:
    """A trip's task: the answers of some shards on one worker, in their order."""
    try:
        request: Request = pickle.loads(message)
    except BaseException as error:  # somebody's own loss, of a module that this worker lacks
        return pickle.dumps(Failure.of(error))

    def work() -> list[Any]:
        threads = request.n_jobs or worker_threads()
        at_once = min(threads, len(shards))
        shared = request._replace(n_jobs=-(-threads // at_once))
        if at_once == 1:
            return [shard.answer(shared, number) for shard, number in zip(shards, numbers, strict=True)]
        return _in_threads(shards, numbers, shared, at_once)

    return pickle.dumps(guarded(request.engine, work))


def _in_threads(shards: list[Shard], numbers: list[int], request: Request, at_once: int) -> list[Any]:
    def one(shard: Shard, number: int) -> Any:
        with stopped_by(stop_of(request.engine)):
            give_up_if_stopped()
            return shard.answer(request, number)

    with ThreadPoolExecutor(at_once, thread_name_prefix="linrank-shards") as pool:
        return list(pool.map(one, shards, numbers))


@cache
def keep_freed_memory() -> None:
    """Let this process keep arrays of up to 64 MB that were freed, to be used again, where its C library can.

    Dask's nanny makes glibc give back everything above 128 kB at once: the page faults of an evaluation's fresh arrays
    then take a quarter of its time.
    """
    with suppress(OSError, AttributeError, ValueError):
        library = ctypes.CDLL(None)
        library.mallopt(-3, 64 << 20)  # M_MMAP_THRESHOLD
        library.mallopt(-1, 256 << 20)  # M_TRIM_THRESHOLD


def worker_threads() -> int:
    """The threads of this worker."""
    from distributed import get_worker

    try:
        return max(1, int(get_worker().state.nthreads))
    except ValueError:
        return os.cpu_count() or 1


def touch(shard: Any) -> None:
    """Nothing: where it runs, the shard is brought to."""


__all__ = ["Failure", "Known", "Missing", "Request", "Shard", "give_up", "serve", "touch"]
