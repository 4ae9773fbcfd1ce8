"""Newton directions for smooth objectives, as values: `Directions.next(point, memory) -> direction, memory`.

Whether to rent or to buy: without a factor, directions come from conjugate gradients on Hessian products; an exact
Hessian costs as much as some of these, and is built once so many have been made. Its Cholesky factor, corrected by the
steps taken since (`secants.py`), then gives directions for nothing. When many steps have been taken with it, it is
built anew. A factor serves for many points, for any penalty, and that of a sample of the rows for all rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..._typing import FloatArray, IntArray
from ...objective import EPS, Objective, Point
from .conjugate_gradients import Solved, conjugate_gradients
from .secants import Secant, by_diagonal, by_solving, corrected


@dataclass(frozen=True)
class Tuning:
    """Numbers that steer directions; ``benchmarks/run.py ablation`` says what each is worth."""

    #: Relative residual at which conjugate gradients stop,
    forcing: float = 0.2
    #: or, earlier, where the gap that it foretells is this part of the one wanted.
    enough: float = 0.5
    #: What a column's variance counts in the diagonal that stands for a Hessian which is not to be had.
    spread: float = 0.5
    #: Steps that secants remember, with a factor,
    memory: int = 12
    #: and without one.
    recent: int = 6
    #: Secants alone give directions where rows have so many entries that a pass over X costs more than the loss,
    entries: float = 20.0
    #: the largest of the columns' variances is so many times their mean,
    uneven: float = 4.0
    #: and the gap has halved within so many steps.
    patience: int = 20
    #: A line is searched to this part of its slope along such directions: another one costs no more than a trial.
    flat: float = 0.5
    #: A factor is renewed after so many times the steps that a new one costs in products.
    renewal: float = 8.0


TUNING = Tuning()
#: Squares of deviations beyond it would leave no digits to divide by.
LARGEST = 1e300


@dataclass(frozen=True)
class CurvatureMemory:
    """What is known of the mean loss's curvature; it serves for any penalty."""

    H: FloatArray | None = None  # the last exact Hessian
    factor: FloatArray | None = None  # Cholesky's, lower, of H + c
    c: float = np.nan
    secants: tuple[Secant, ...] = ()  # what steps since then have shown
    products: int = 0  # made in this fit without a factor
    earlier: int = 0  # the same in fits before, which an exact Hessian would have saved
    steps: int = 0  # taken with the factor
    last: tuple[FloatArray, FloatArray] | None = None  # w and the mean loss's gradient at the last point
    columns: IntArray | None = None  # whose part of the Hessian H is; None: of all
    damping: float = 0.0  # of steps on faces, in variances of the columns
    reach: float = 0.0  # how long the last of them would have been
    halved: float = math.inf  # the gap when it had last halved,
    slow: int = 0  # and the steps since

    def elsewhere(self) -> CurvatureMemory:
        """For another objective: no step leads from a point of this one to it."""
        return replace(self, last=None)

    def for_next_fit(self) -> CurvatureMemory:
        """For another fit to the same rows."""
        return replace(self, last=None, products=0, earlier=self.earlier + self.products, halved=math.inf, slow=0)

    def on_other_rows(self) -> CurvatureMemory:
        """For more rows: what was made on fewer of them was cheap."""
        return replace(self, last=None, products=0, earlier=0, steps=0, halved=math.inf, slow=0)

    def factorised(self, c: float) -> CurvatureMemory:
        """With the factor of H + c; without H where rounding has made it indefinite, or it is of some columns alone."""
        if self.columns is not None:
            return replace(self, H=None, columns=None)
        if self.H is None or self.c == c:
            return self
        factor, failed = dpotrf(self.H + c * np.eye(len(self.H)), lower=1)
        return replace(self, H=None, factor=None) if failed else replace(self, factor=factor, c=c)

    def noted(self, point: Point, most: int) -> CurvatureMemory:
        """With the step from the last point to this one."""
        here, secants = (point.w, point.risk_gradient), self.secants
        if self.last is not None:
            s, y = here[0] - self.last[0], here[1] - self.last[1]
            if float(s @ y) >= 0 and np.any(s):  # 0: the loss is flat there, which tells as much
                secants = (*secants, Secant(s, y))[max(len(secants) + 1 - most, 0) :]
        return replace(self, last=here, secants=secants)

    def watched(self, gap: float) -> CurvatureMemory:
        """With the gap at the next point."""
        halved = gap <= 0.5 * self.halved and math.isfinite(gap)
        return replace(self, halved=gap, slow=0) if halved else replace(self, slow=self.slow + 1)

    def precondition(self, r: FloatArray) -> FloatArray:
        """(H + c)^-1 r, or r without a factor; r may hold vectors as columns."""
        if self.factor is None:
            return r
        z: FloatArray = dpotrs(self.factor, r, lower=1)[0]
        return z


class Direction(NamedTuple):
    """A direction, whether a better one was given up as too dear, and the point where it ends, if it does."""

    d: FloatArray
    given_up: bool = False
    end: FloatArray | None = None
    flat: float | None = None  # where the search of its line ends, if not where others do


@dataclass(frozen=True)
class Directions:
    """How directions are found.

    hessian : "auto", "exact" or "products"; float32 : whether conjugate gradients may read X in float32;
    max_products : when they give up, where no Hessian is bought before; target : the gap wanted.
    """

    hessian: str = "auto"
    float32: bool = True
    max_products: float = math.inf
    target: float = 0.0

    def next(self, point: Point, memory: CurvatureMemory, sample: bool = False) -> tuple[Direction, CurvatureMemory]:
        """An approximate solution of H d = -gradient; `sample`: of the rows, so that a Hessian is cheap."""
        cost = None if self.hessian == "products" else point.objective.hessian_cost
        if self.hessian == "exact" and cost is not None:
            return self._exact(point)
        memory = memory.factorised(point.objective.penalty.curvature)
        if memory.factor is not None:
            old = cost is not None and memory.steps >= TUNING.renewal * cost
            return self._exact(point) if old else self._with_factor(point, memory.noted(point, TUNING.memory))
        if cost is None and _told_apart(point.objective) and memory.slow <= TUNING.patience:
            return self._by_secants(point, memory)
        rent = math.inf if cost is None else 0 if sample else max(1, int(cost - memory.earlier))
        d, n, good = self._conjugate_gradients(point, cost is None, min(rent, self.max_products))
        if not good and rent <= self.max_products and cost is not None:
            return self._exact(point)
        return Direction(d, not good and n >= self.max_products), replace(memory, products=memory.products + n)

    def _with_factor(self, point: Point, memory: CurvatureMemory) -> tuple[Direction, CurvatureMemory]:
        d = -point.gradient
        if memory.secants:
            d = corrected(by_solving(memory.precondition), memory.secants, memory.c, d)
        else:
            d = memory.precondition(d)
        return Direction(d), replace(memory, steps=memory.steps + 1)

    def _by_secants(self, point: Point, memory: CurvatureMemory) -> tuple[Direction, CurvatureMemory]:
        """Limited-memory BFGS from the diagonal: a direction for nothing, where conjugate gradients take products."""
        objective, penalty = point.objective, point.objective.penalty
        memory = memory.watched(penalty.conjugate(point.gradient)).noted(point, TUNING.recent)
        if not memory.secants:
            return Direction(-point.gradient / _diagonal(objective), flat=TUNING.flat), memory
        diagonal = _diagonal(objective, _spread_along(memory.secants[-1], objective.variances))
        d = corrected(by_diagonal(diagonal), memory.secants, penalty.curvature, -point.gradient)
        return Direction(d, flat=TUNING.flat), memory

    def _exact(self, point: Point) -> tuple[Direction, CurvatureMemory]:
        memory = CurvatureMemory(point.risk_hessian()).factorised(point.objective.penalty.curvature)
        if memory.factor is None:
            return Direction(self._conjugate_gradients(point, True).x), memory
        memory = memory.noted(point, TUNING.memory)
        return Direction(-memory.precondition(point.gradient)), memory

    def _conjugate_gradients(self, point: Point, alone: bool, limit: float = math.inf) -> Solved:
        """The direction after at most `limit` Hessian products; preconditioned where no Hessian will come."""
        objective, b = point.objective, -point.gradient
        goal = TUNING.forcing * math.sqrt(float(b @ b))
        gap, enough = objective.penalty.conjugate, TUNING.enough * self.target
        return conjugate_gradients(
            lambda p: point.hessian_product(p, exact=not self.float32),
            b,
            _diagonal(objective) if alone else None,
            lambda r: math.sqrt(float(r @ r)) <= goal or gap(r) <= enough,
            int(min(limit, 10 * b.size + 100)),  # beyond that rounding is to blame
        )


def _told_apart(objective: Objective) -> bool:
    """Whether secants will do: a pass over X costs more than the loss, and variances tell the columns apart.

    Where all columns have the same variance, as scaled ones have, the diagonal says nothing, and secants of a few
    steps do not make up for it.
    """
    return objective.entries_a_row >= TUNING.entries and objective.unevenness > TUNING.uneven


def _spread_along(step: Secant, variance: FloatArray) -> float:
    """What the columns' variances count in the curvature that a step has shown."""
    size = float(step.s @ (variance * step.s))
    return step.curvature / size if size > 0 else TUNING.spread


def _diagonal(objective: Objective, spread: float | None = None) -> FloatArray:
    """What stands for the Hessian's diagonal: the penalty's part, and the variances of the columns.

    The true one lies between nothing and 2 phi'' times the variance, as more or fewer pairs are active; so no column,
    however few of its pairs are left, is blown up. It costs no pass over X but the first one.
    """
    spread = TUNING.spread if spread is None else spread
    diagonal = objective.penalty.curvature + spread * objective.variances
    return np.clip(diagonal, EPS * float(diagonal.max()), LARGEST)
