"""What a loss is: a convex function of the scores, with its gradient. It knows nothing of X or w."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._data import RankingData
from .._errors import DataError
from .._preferences import FloatArray, Preferences
from ..kernels import active
from ..kernels._scratch import Scratch
from ..kernels.hinge import gather, scatter_add

T = TypeVar("T")

#: How work is spread: apply a function to block numbers, give the answers in their order.
Map = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]


@dataclass(frozen=True)
class LossPoint:
    """What is known of a loss at given scores: the mean loss and its (sub)gradient, one entry per row."""

    value: float
    gradient: FloatArray
    curvature: Curvature | None = None  # None: the loss is not smooth
    error: float = 0.0  # of the value, beyond what rounding does to hinge-like sums: certificates add it
    gradient_error: float = 0.0  # of the gradient's entries, beyond rounding, summed up: certificates add it
    pull: float = np.nan  # mean of -phi': losses made of squared hinges tell it,
    pull_error: float = 0.0  # how far rounding may have moved it,
    hinge: float = np.nan  # and the mean hinge at their first margin


class Curvature(ABC):
    """The Hessian of a smooth loss at given scores, a matrix over the rows."""

    @abstractmethod
    def product(self, V: FloatArray) -> FloatArray:
        """Hessian times a vector over the rows, or times a block of them as columns."""

    @abstractmethod
    def hessian(self, X: Any, scale: FloatArray | None = None) -> FloatArray:
        """X^T (Hessian) X for dense features X, their columns divided by `scale`."""


class Loss(ABC):
    """Mean of phi(s_i - s_j) over the preferences, weighted by c_ij."""

    name: ClassVar[str]
    smooth: ClassVar[bool] = True  # whether its points have a curvature
    hessian_by_columns: ClassVar[bool] = False  # whether that builds an exact Hessian by one product a column

    @property
    @abstractmethod
    def value_at_zero(self) -> float:
        """phi(0), the mean loss when all scores are equal."""

    def probability(self, z: FloatArray) -> FloatArray | None:
        """Probability of i over j by z = s_i - s_j, for losses that are a likelihood; else None."""
        return None

    @abstractmethod
    def at(self, scores: FloatArray, data: RankingData, map: Map = map) -> LossPoint:
        """Evaluate value and gradient at scores in row order; `map` spreads blocks of queries over workers.

        The curvature keeps the scores given: they must not be changed as long as it is in use.
        """


def gather_block(scores: FloatArray, preferences: Preferences, block: int, out: FloatArray) -> None:
    """Bring the rows' scores into the members' order, for the members of a block."""
    first, last = preferences.ranking_ptr[preferences.blocks[block : block + 2]]
    if scores.ndim != 1 or scores.size <= preferences.last_row:  # kernels do not look
        shape, last_row = scores.shape, preferences.last_row
        raise DataError(f"There are values of shape {shape} for rows up to {last_row}: give one for each row.")
    gather(preferences.row, scores, first, last, out)


def members_of(scores: FloatArray, p: Preferences) -> FloatArray:
    """The rows' scores in the members' order, in an array of its own."""
    s = np.empty(p.row.size)
    gather(p.row, scores, 0, p.row.size, s)
    return s


def evaluate_blocks(
    scores: FloatArray, p: Preferences, map: Map, evaluate: Callable[[FloatArray, int, FloatArray, Scratch], T]
) -> tuple[FloatArray, list[T]]:
    """The gradient by rows, and what each block's evaluation gave.

    evaluate(s, block, g, scratch) fills g for the members of the block, whose scores are s.
    """
    gradient = np.zeros(scores.size)

    def one(block: int) -> T:
        gather_block(scores, p, block, s)
        with p.scratch.lend() as scratch:
            answer = evaluate(s, block, g, scratch)
        scatter_block(g, 1.0 / p.total, p, block, gradient)
        return answer

    with p.scratch.lend() as own:
        s, g = (own.take(name, p.row.size, np.float64) for name in ("s", "g"))
        return gradient, list(map(one, range(p.n_blocks)))


def multiply_blocks(
    V: FloatArray, p: Preferences, map: Map, multiply: Callable[[int, FloatArray, FloatArray, Scratch], None]
) -> FloatArray:
    """The product of a matrix over the members with a vector over the rows, or with a block of them as columns.

    multiply(block, V, out, scratch) does it in the members' order, for the members of a block.
    """
    if V.ndim == 2:
        columns = [multiply_blocks(np.ascontiguousarray(column), p, map, multiply) for column in V.T]
        return np.column_stack(columns)
    out = np.zeros(V.size)

    def one(block: int) -> None:
        gather_block(V, p, block, members)
        with p.scratch.lend() as scratch:
            multiply(block, members, answer, scratch)
        scatter_block(answer, 1.0 / p.total, p, block, out)

    with p.scratch.lend() as own:
        members, answer = (own.take(name, p.row.size, np.float64) for name in ("members", "answer"))
        for _ in map(one, range(p.n_blocks)):
            pass
    return out


def split_block(p: Preferences, block: int, limit: int) -> tuple[Any, Any]:
    """Rankings of a block with at most `limit` pairs a member, and the others."""
    return p.split(int(p.blocks[block]), int(p.blocks[block + 1]), limit)


def count_active(
    s: FloatArray, preferences: Preferences, first: int, last: int, margin: float, c: FloatArray, d: FloatArray
) -> None:
    """Fill c and d for the members of rankings first ... last - 1: the weights of their active partners."""
    p = preferences
    with p.scratch.lend() as scratch:
        rankings = p.ranking_ptr, p.level_ptr, p.ranking_levels, *p.split(first, last, active.SHORT)
        active.active_counts(s, p.v, *rankings, margin, c, d, scratch)


def scatter_block(values: FloatArray, factor: float, preferences: Preferences, block: int, out: FloatArray) -> None:
    """Add factor times the members' values of a block to their rows. No two blocks share a row."""
    first, last = preferences.ranking_ptr[preferences.blocks[block : block + 2]]
    scatter_add(preferences.row, values, factor, first, last, out)
