"""An engine around any other: counts trips to the rows, and lets nothing out but what the contract names."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from .._typing import FloatArray
from ..data.ranking_data import RankingData
from ..engines.base import Columns, Engine, Evaluation, Facts, Outer, Scores
from ..losses import Loss, Sums


class Handle:
    """Stands for scores, and tells nothing of them."""


class CountingEngine:
    """Wraps an engine, and is one.

    Trips are counted by their kind in `trips`: "scores", "at_zero", "evaluate", "gradient" (where it did not come along
    with an evaluation), "hessian_product", "hessian", "outer", "columns", "largest_row", "fingerprint", "sample" and
    "draw". Facts and the cost of a Hessian are known without. Arrays that come out are vectors of d entries and d x d
    matrices: anything else, such as one with an entry for each row, is an AssertionError that names the method. Scores
    are handles without contents. Samples are local by contract: they are counted, and not wrapped.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.trips: Counter[str] = Counter()
        self._scores: WeakKeyDictionary[Handle, Scores] = WeakKeyDictionary()

    @property
    def total(self) -> int:
        """Trips of all kinds."""
        return self.trips.total()

    @property
    def facts(self) -> Facts:
        """Those of the engine."""
        return self.engine.facts

    def columns(self) -> Columns:
        """A trip."""
        columns = self._trip("columns", self.engine.columns())
        for field in fields(columns):
            self._checked("columns", getattr(columns, field.name))
        return columns

    def largest_row(self, scale: FloatArray | None) -> float:
        """A trip."""
        return self._trip("largest_row", self.engine.largest_row(scale))

    def fingerprint(self) -> str:
        """A trip."""
        return self._trip("fingerprint", self.engine.fingerprint())

    def hessian_cost(self, loss: Loss) -> float | None:
        """No trip."""
        return self._checked("hessian_cost", self.engine.hessian_cost(loss))

    def scores(self, w: FloatArray) -> Scores:
        """A trip."""
        return self._handle(self._trip("scores", self.engine.scores(w), inside=True))

    def at_zero(self, loss: Loss) -> Sums:
        """A trip."""
        return self._trip("at_zero", _numbers(self.engine.at_zero(loss)), inside=True)

    def evaluate(
        self, loss: Loss, s: Scores, d: Scores | None = None, t: float = 0.0, gradient: bool = False
    ) -> CountingEvaluation:
        """A trip, whatever is asked."""
        along = None if d is None else self._held(d)
        inner = self.engine.evaluate(loss, self._held(s), along, t, gradient)
        return CountingEvaluation(self, self._trip("evaluate", inner, inside=True), gradient)

    def sample(self, n_rows: int) -> Engine | None:
        """A trip."""
        return self._trip("sample", self.engine.sample(n_rows), inside=True)

    def draw(self, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
        """A trip."""
        return self._trip("draw", self.engine.draw(n_rows, first, of), inside=True)

    def __enter__(self) -> Self:
        self.engine.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.__exit__(kind, error, trace)

    def _trip(self, method: str, answer: Any, inside: bool = False) -> Any:
        """Count an answer that was got; those that go `inside` a wrapper are not looked into."""
        self.trips[method] += 1
        return answer if inside else self._checked(method, answer)

    def _checked(self, method: str, answer: Any) -> Any:
        shape, d = np.shape(answer), self.facts.features
        assert all(size == d for size in shape), (
            f"{method} lets out an array of shape {shape}: there are {self.facts.rows} rows, "
            f"and only vectors of {d} entries and {d} x {d} matrices may leave an engine"
        )
        return answer

    def _handle(self, scores: Scores) -> Handle:
        handle = Handle()
        self._scores[handle] = scores
        return handle

    def _held(self, handle: Scores) -> Scores:
        assert isinstance(handle, Handle), "scores are handles that `scores` or an evaluation gave out"
        assert handle in self._scores, "these scores are another engine's"
        return self._scores[handle]


class CountingEvaluation:
    """An evaluation, counted."""

    def __init__(self, engine: CountingEngine, inner: Evaluation, came_along: bool) -> None:
        self._engine, self._inner, self._came_along = engine, inner, came_along
        self._handle: Handle | None = None

    @property
    def sums(self) -> Sums:
        """Numbers, no arrays."""
        return _numbers(self._inner.sums)

    @property
    def scores(self) -> Scores:
        """A handle."""
        if self._handle is None:
            self._handle = self._engine._handle(self._inner.scores)
        return self._handle

    def gradient(self, scale: FloatArray | None = None) -> FloatArray:
        """A trip, once, where it did not come along."""
        answer = self._inner.gradient(scale)
        if self._came_along:
            return self._engine._checked("gradient", answer)
        self._came_along = True
        return self._engine._trip("gradient", answer)

    def hessian_product(self, v: FloatArray, exact: bool = True, scale: FloatArray | None = None) -> FloatArray:
        """A trip."""
        return self._engine._trip("hessian_product", self._inner.hessian_product(v, exact, scale))

    def hessian(self, scale: FloatArray | None = None) -> FloatArray:
        """A trip."""
        return self._engine._trip("hessian", self._inner.hessian(scale))

    def outer(
        self,
        units: str = "queries",
        scale: FloatArray | None = None,
        shift: FloatArray | None = None,
        along: FloatArray | None = None,
    ) -> Outer:
        """A trip; clusters are told by their numbers."""
        found = self._engine._trip("outer", self._inner.outer(units, scale, shift, along), inside=True)
        assert isinstance(found, Outer), f"outer answers by a {type(found).__name__}, not by an Outer"
        k = self._engine.facts.features if along is None else along.shape[1]
        assert found.total.shape == (k, k), f"outer lets out an array of shape {found.total.shape}, not {k} x {k}"
        return found


def _numbers(sums: Sums) -> Sums:
    for name, number in sums._asdict().items():
        assert name == "hinge" or isinstance(number, float), f"Sums.{name} is a {type(number).__name__}, not a float"
    return sums
