"""The engine's contract: where rows live, and all that anybody may ask of them.

Rows, and vectors over rows, stay in their engine. Out come floats, d-vectors, d x d matrices and handles that mean
nothing to their holder; the exceptions are a sample of at most 64 MB and the numbers of clusters. An engine maps blocks
of rankings and adds up in their order, so that the same engine gives the same bits whenever it is asked, on any number
of threads.

A handle to scores may be computed again: it stands for X w of the w it was made from, plus the steps t X d taken since,
in their order. All of these pass through the engine, so one that may lose what it holds can note them.

At a given w and d any two engines agree to 1e-12 relative, or to the larger error that a loss states of itself;
`linrank.testing.check_engine` asserts it.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from .._typing import FloatArray
from ..losses import Loss, Sums
from ._facts import Columns, Facts
from .outer import Outer

if TYPE_CHECKING:
    from ..data.ranking_data import RankingData

__all__ = ["Columns", "Engine", "Evaluation", "Facts", "Outer", "Scores"]


#: A handle to a score for each row, kept by the engine that made it; nobody else looks into it.
Scores = Any


class Engine(Protocol):
    """Rows X with preferences between them; a context manager, within which it works."""

    @property
    def facts(self) -> Facts:
        """Rows, features, queries, pairs and row weights: known from the start, before it is entered."""

    def columns(self) -> Columns:
        """What scaling, alpha and directions need to know of each column: two passes over X, made once."""

    def largest_row(self, scale: FloatArray | None) -> float:
        """Largest norm of a row of X, its columns divided by `scale`."""

    def fingerprint(self) -> str:
        """Digest of all that the mean loss depends on: reads X, so it is not among the facts."""

    def hessian_cost(self, loss: Loss) -> float | None:
        """Cost of an exact Hessian in Hessian products, before any evaluation; None: not to be had."""

    def scores(self, w: FloatArray) -> Scores:
        """X w."""

    def at_zero(self, loss: Loss) -> Sums:
        """The loss where all scores are equal: many a loss knows it without adding up."""

    def evaluate(
        self, loss: Loss, s: Scores, d: Scores | None = None, t: float = 0.0, gradient: bool = False
    ) -> Evaluation:
        """The loss at s, or at s + t d. `gradient`: it will probably be asked for, and can come along at once."""

    def sample(self, n_rows: int) -> Engine | None:
        """A local engine for `draw(n_rows)`; None where rows are too few or no pair is left.

        It works within this one, so it is neither entered nor left.
        """

    def draw(self, n_rows: int, first: int = 0, of: int | None = None) -> RankingData | None:
        """About n_rows rows in whole queries, the same in every engine, at most 64 MB; `_parts.draw` says which.

        This engine's are rows number first, first + 1, ... of `of`, counted query by query.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Evaluation(Protocol):
    """A loss at given scores. Sums and products are not divided by N: that is `sums.weight`.

    `scale` divides what comes out, column by column; of a Hessian also what goes in. Features near the ends of the
    range are divided before they overflow.
    """

    @property
    def sums(self) -> Sums:
        """Value, weight, slope g.d on the line, errors: numbers that add up."""

    @property
    def scores(self) -> Scores:
        """The scores at which it was evaluated."""

    def gradient(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T g, g a (sub)gradient of the loss in the scores."""

    def hessian_product(self, v: FloatArray, exact: bool = True, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X v, for smooth losses. Not `exact`: to the digits of float32 where that is faster."""

    def hessian(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X, where `hessian_cost` is a number."""

    def outer(
        self,
        units: str = "queries",
        scale: FloatArray | None = None,
        shift: FloatArray | None = None,
        along: FloatArray | None = None,
    ) -> Outer:
        """Sum over units of psi psi^T, psi = (X^T g of the unit's pairs) / scale + (their weight) shift.

        Units are "queries", "rows" (what a row's pairs contribute together), or "clusters" of rows, by
        `RankingData.cluster`. A cluster lies in one part: that of a sum of engines is refused where it lies in two. One
        that cuts a query is for the local engine alone. With `along`, (d, k), it is along^T psi, for a k x k matrix.
        """
