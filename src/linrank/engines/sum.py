"""Several engines as one: devices, or workers, that hold whole queries each. All that they are asked adds up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from types import TracebackType
from typing import Any

import numpy as np

from .._errors import DataError, overflow_ignored
from .._memory import check_room_for
from .._once import cached_property
from .._threads import give_up_if_stopped, one_blas_thread, raise_interrupt
from .._typing import FloatArray
from ..data.parts import within_limit
from ..data.ranking_data import RankingData
from ..losses import Loss, Sums
from ..losses._base import add_sums
from ._facts import Columns, Facts
from .base import Engine, Evaluation, Scores
from .local import LocalEngine
from .outer import Outer


def mean_cost(costs: Sequence[float | None], rows: Sequence[int]) -> float | None:
    """The mean of Hessians' costs, weighted by rows; None where one of them is None, or there are none."""
    known = [cost for cost in costs if cost is not None]
    return float(np.average(known, weights=rows)) if known and len(known) == len(costs) else None


def join_drawn(parts: Sequence[RankingData | None], whole: bool) -> RankingData | None:
    """What parts have drawn, as one sample of at most 64 MB; not `whole`: a part of one, of a row more."""
    drawn = [part for part in parts if part is not None and part.n_rows > 0]
    if not drawn:
        return None
    data = RankingData.joined(drawn)
    kept = within_limit(data.X, data.query, np.arange(data.n_rows), one_more=not whole)
    return data if kept.size == data.n_rows else data.part(kept)


@dataclass(frozen=True)
class SumScores:
    """Scores of each part."""

    parts: list[Scores]


class SumEngine:
    """The sum of several engines, added up in their order; a query is whole in one of them.

    Parameters
    ----------
    engines : sequence of Engine
        The parts, with the same features. Any of them may have no pairs.
    at_once : bool, default=False
        Whether all parts work at the same time, each asked by a thread of its own: for parts that work elsewhere.
    """

    def __init__(self, engines: Sequence[Engine], at_once: bool = False) -> None:
        if not engines:
            raise DataError("A sum of no engines has no rows: give at least one engine.")
        self.engines, self.at_once = list(engines), at_once
        self._pool: ThreadPoolExecutor | None = None
        if len({engine.facts.features for engine in engines}) > 1:
            raise DataError("The engines of a sum have different numbers of features: give parts of the same data.")
        self._entered = ExitStack()

    def __enter__(self) -> SumEngine:
        with ExitStack() as stack:  # those that were entered are left if the next one cannot be
            stack.callback(one_blas_thread.leave, self)  # samples work here
            one_blas_thread.enter(self)
            for engine in self.engines:
                stack.enter_context(engine)
            if self.at_once:
                check_room_for(len(self.engines))
                self._pool = ThreadPoolExecutor(len(self.engines), thread_name_prefix="linrank-sum")
                stack.callback(self._close)
            self._entered = stack.pop_all()
        return self

    def _close(self) -> None:
        """Begin nothing more; what runs is not waited for, as an interrupt is not."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.__exit__(kind, error, trace)

    def each(self, ask: Callable[[int], Any]) -> list[Any]:
        """The answers of all parts, in their order; an error of one is raised when all have answered."""
        give_up_if_stopped()
        numbers = range(len(self.engines))
        if self._pool is None:
            return [ask(k) for k in numbers]

        def quietly(k: int) -> Any:
            with overflow_ignored():  # a thread does not inherit it
                return ask(k)

        try:
            futures = [self._pool.submit(quietly, k) for k in numbers]
            wait(futures)
            return [future.result() for future in futures]
        except RuntimeError as error:
            raise_interrupt(error)
            raise

    @cached_property
    def facts(self) -> Facts:
        """Those of all parts."""
        return reduce(Facts.joined, (engine.facts for engine in self.engines))

    def columns(self) -> Columns:
        """The columns over the rows of all parts."""
        return self._columns

    @cached_property
    def _columns(self) -> Columns:
        return Columns.joined(self.each(lambda k: self.engines[k].columns()))

    def largest_row(self, scale: FloatArray | None) -> float:
        """The largest of the parts'."""
        return max(self.each(lambda k: self.engines[k].largest_row(scale)))

    def fingerprint(self) -> str:
        """The digests of all parts."""
        return "+".join(self.each(lambda k: self.engines[k].fingerprint()))

    def hessian_cost(self, loss: Loss) -> float | None:
        """The mean over the rows of those parts that have pairs; None where one of them has no Hessian."""
        parts = [engine for engine in self.engines if engine.facts.pairs]
        return mean_cost([engine.hessian_cost(loss) for engine in parts], [engine.facts.rows for engine in parts])

    def scores(self, w: FloatArray) -> SumScores:
        """X w, part by part."""
        return SumScores(self.each(lambda k: self.engines[k].scores(w)))

    def at_zero(self, loss: Loss) -> Sums:
        """The loss where all scores are equal."""
        return add_sums(self.each(lambda k: self.engines[k].at_zero(loss)))

    def evaluate(
        self, loss: Loss, s: SumScores, d: SumScores | None = None, t: float = 0.0, gradient: bool = False
    ) -> SumEvaluation:
        """The loss at s + t d, part by part."""
        for handle in (s,) if d is None else (s, d):
            if not isinstance(handle, SumScores) or len(handle.parts) != len(self.engines):
                raise DataError("These scores are another engine's: take them from `scores`, or from an evaluation.")

        def one(k: int) -> Evaluation:
            return self.engines[k].evaluate(loss, s.parts[k], None if d is None else d.parts[k], t, gradient)

        return SumEvaluation(self, self.each(one))

    def draw(self, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
        """The rows that the parts draw, one after the other: those that one engine would draw from all of them."""
        total = self.facts.rows if of is None else of
        before = first + np.r_[0, np.cumsum([engine.facts.rows for engine in self.engines])]
        parts = self.each(lambda k: self.engines[k].draw(n_rows, int(before[k]), total))
        return join_drawn(parts, whole=of is None)

    def sample(self, n_rows: int) -> LocalEngine | None:
        """A local engine for the rows drawn."""
        data = self.draw(n_rows)
        return None if data is None or data.preferences.n_rankings == 0 else LocalEngine(data)


class SumEvaluation:
    """A loss at given scores, part by part."""

    def __init__(self, engine: SumEngine, parts: list[Evaluation]) -> None:
        self._each, self.parts = engine.each, parts
        self.sums = add_sums([part.sums for part in parts])
        self.scores = SumScores([part.scores for part in parts])

    def gradient(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T g."""
        return self._add(lambda k: self.parts[k].gradient(scale))

    def hessian_product(self, v: FloatArray, exact: bool = True, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X v."""
        return self._add(lambda k: self.parts[k].hessian_product(v, exact, scale))

    def hessian(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X."""
        return self._add(lambda k: self.parts[k].hessian(scale))

    def outer(
        self,
        units: str = "queries",
        scale: FloatArray | None = None,
        shift: FloatArray | None = None,
        along: FloatArray | None = None,
    ) -> Outer:
        """Sum over units of psi psi^T; a cluster in two parts is refused."""
        return Outer.of_parts(self._each(lambda k: self.parts[k].outer(units, scale, shift, along)))

    def _add(self, ask: Callable[[int], FloatArray]) -> FloatArray:
        first, *rest = self._each(ask)
        return sum(rest, first)
