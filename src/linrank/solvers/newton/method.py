"""Newton's method for smooth losses, and for the hinge by smoothing it.

An iteration takes the next direction (`directions.py`) and searches its line in score space. A start from zero begins
on a sample of the rows, which leaves its solution, and the factor of its Hessian, to all rows. The hinge is rounded off
(`smoothing.py`) over a width that shrinks when most of the gap is due to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._errors import ParameterError
from ..._typing import FloatArray
from ...objective import Objective, Point, zeros
from .._base import Callback, Solution, Status
from ..certificate import Certificate
from ..goal import Goal, check_gradient_tol
from ..iterate import State, check_limits, drive, iterate
from ..line_search import search, search_segment
from .directions import CurvatureMemory, Directions
from .face import FaceDirections
from .smoothing import Given, Smoothed, view_of


@dataclass(frozen=True)
class Tuning:
    """Numbers that steer the method; ``benchmarks/run.py ablation`` says what each is worth."""

    #: Rows of the sample on which a start from zero begins, or so many a feature, or one in so many of all rows.
    sample: int = 5_000
    rows_a_feature: int = 20
    one_in: int = 40
    #: Most that its Hessian costs, in Hessian products with all rows.
    pays: float = 20.0
    #: The gap to which it is solved, relative to f(0).
    rough: float = 1e-3


TUNING = Tuning()


class WarmStart(NamedTuple):
    """What a solution leaves to a start from it, for whatever penalty."""

    memory: CurvatureMemory = CurvatureMemory()
    mu: float = 1.0


@dataclass(frozen=True)
class Iterate(State):
    """A point of the smooth objective, and what is known of its curvature."""

    view: Given | Smoothed
    point: Point
    memory: CurvatureMemory
    least: float  # value of the smooth objective at its present width
    smoothing: float  # part of the gap that is due to smoothing
    goal: Goal
    untried: bool = False  # whether the objective falls from the first point, and no step was tried yet

    @property
    def target(self) -> float:
        """The gap wanted."""
        return self.goal.gap


@dataclass(frozen=True)
class Newton:
    """Minimise a smooth objective, or that of the hinge, to a certified gap.

    Parameters
    ----------
    tol : float
        Stop when the certified gap is at most tol * f(0).
    max_iter : int
        Stop after so many iterations, with the best point and its honest gap.
    hessian : {"auto", "exact", "products"}
        Build exact Hessians when they pay, always, or never; a start from an earlier solution uses those it left.
    samples : bool
        Whether a start from zero begins on a sample of the rows.
    float32 : bool
        Whether conjugate gradients read sparse float64 features from a float32 copy, made once: half as large as X, or
        two thirds beyond 65,536 features, and faster to read. Gradients and certificates read X itself.
    max_products : int or None
        Give up, as stalled, where a direction takes more Hessian products: another method may do better.
    gradient_tol : float or None
        Stop instead when |grad f(w)| <= gradient_tol * |grad f(0)|, for smooth losses: rule (3) of P-SWX.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    hessian: str = "auto"
    samples: bool = True
    float32: bool = True
    max_products: int | None = None
    gradient_tol: float | None = None

    stall = 5

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)
        check_gradient_tol(self.gradient_tol)
        if self.max_products is not None and not (isinstance(self.max_products, int) and self.max_products > 0):
            raise ParameterError(f"max_products={self.max_products!r} must be a whole number above 0, or None.")
        if self.hessian not in ("auto", "exact", "products"):
            raise ParameterError(f"hessian={self.hessian!r} is not known: use 'auto', 'exact' or 'products'.")

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights or an earlier solution; from zero, over a sample of the rows first."""
        return iterate(self, objective, start, callback)

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> Iterate:
        """At weights given, at an earlier solution, or at that of a sample of the rows."""
        if self.gradient_tol is not None and not objective.loss.smooth:
            raise ParameterError(f"gradient_tol needs a smooth loss, {objective.loss.name!r} is not: leave it out.")
        if self.gradient_tol is not None and not objective.penalty.smooth:
            raise ParameterError("gradient_tol needs a penalty without l1_ratio and bounds: leave it out.")
        warm = start.state if isinstance(start, Solution) and isinstance(start.state, WarmStart) else WarmStart()
        w = start.w if isinstance(start, Solution) else start
        if w is None and not objective.penalty.smooth:  # all weights 0 may be the answer
            state = _first(objective, zeros(objective), warm, self.tol)
            if not state.untried:
                return state
        if w is None:
            w, warm = self._from_sample(objective, warm)
        return _first(objective, w, warm, self.tol, self.gradient_tol)

    def step(self, state: Iterate) -> Iterate:
        """A step along the next direction, after smoothing less where that is most of the gap."""
        return _next(_refined(state), self.directions(state))

    def directions(self, state: Iterate) -> Directions:
        """How directions to the gap wanted are found; by the gradient's rule, a small gap is not enough."""
        most = np.inf if self.max_products is None else self.max_products
        kind = Directions if state.point.objective.penalty.smooth else FaceDirections
        return kind(self.hessian, self.float32, most, state.target if self.gradient_tol is None else 0.0)

    def ends(self, state: Iterate) -> Status | None:
        """By the gap, or by the gradient."""
        return None if state.untried else state.goal.ends(state.best, state.point)

    def result(self, state: Iterate) -> Certificate:
        """The best point, or that which met the gradient's rule."""
        return state.goal.result(state.best, state.point)

    def left(self, state: Iterate) -> WarmStart:
        """The curvature, and the width of smoothing."""
        return WarmStart(state.memory.for_next_fit(), state.view.mu)

    def _from_sample(self, objective: Objective, warm: WarmStart) -> tuple[FloatArray, WarmStart]:
        """Weights and curvature from a sample of the rows, where there is one."""
        part = sample_of(view_of(objective, warm.mu).objective) if self.samples else None
        if part is None:
            return zeros(objective), warm
        rough = max(self.tol, TUNING.rough)
        start = _first(replace(part, loss=objective.loss), zeros(objective), warm, rough)
        state = drive(OnSample(self), start).state
        return state.best.w, WarmStart(state.memory.on_other_rows(), state.view.mu)


@dataclass(frozen=True)
class OnSample:
    """The method on a sample of the rows, with a Hessian at once."""

    method: Newton

    stall = 5

    @property
    def max_iter(self) -> int:
        """As on all rows."""
        return self.method.max_iter

    def step(self, state: Iterate) -> Iterate:
        """As on all rows, but Hessians are cheap."""
        return _next(_refined(state), self.method.directions(state), sample=True)

    def ends(self, state: Iterate) -> Status | None:
        """Where the gap is within what a sample can tell."""
        return state.goal.ends(state.best, state.point)


def sample_of(objective: Objective) -> Objective | None:
    """A smooth objective over a sample of the rows that tells features apart; None where that does not pay.

    Where most rows are of one grade, fewer pairs are left of a sample, and it takes more rows to tell as much.
    """
    wanted = int(TUNING.rows_a_feature * objective.n_features / objective.evenness)
    n_rows = max(TUNING.sample, wanted, objective.n_rows // TUNING.one_in)
    share = n_rows / objective.n_rows
    if share > 1 or (objective.hessian_cost or 0.0) * share > TUNING.pays:
        return None
    return objective.sample(n_rows)


def _first(
    objective: Objective, w: FloatArray, warm: WarmStart, tol: float, gradient_tol: float | None = None
) -> Iterate:
    view = view_of(objective, warm.mu)
    point = view.objective.at(objective.penalty.nearest(w))
    found, smoothing = view.at(point)
    best = Certificate.none(objective).joined(found)
    goal = Goal(objective, tol, gradient_tol)
    untried = not objective.penalty.smooth and bool(np.any(point.gradient))
    return Iterate(best, True, False, view, point, warm.memory, point.value, smoothing, goal, untried)


def _refined(state: Iterate) -> Iterate:
    """The same weights, smoothed less where smoothing is most of the gap."""
    point, target = state.point, state.target
    if not state.smoothing > 0.5 * target:
        return state
    if state.smoothing <= point.objective.penalty.gap(point.w, point.risk_gradient, risk=point.risk):
        return state
    view = state.view.narrowed(target, state.smoothing)
    if view.mu >= state.view.mu:
        return state
    return replace(state, view=view, point=point.under(view.objective), memory=state.memory.elsewhere(), least=np.inf)


def _next(state: Iterate, directions: Directions, sample: bool = False) -> Iterate:
    """The point found along the next direction."""
    direction, memory = directions.next(state.point, state.memory, sample)
    if direction.end is None:
        line = state.point.along(direction.d)
        point = line.point(search(line, 1.0, direction.flat))
    else:
        segment = state.point.towards(direction.end)
        point = segment.point(search_segment(segment))
    found, smoothing = state.view.at(point)
    best = state.best.joined(found)
    gained = best.improves_on(state.best) or best.lower > state.best.lower or point.value < state.least
    least = min(point.value, state.least)
    given_up = direction.given_up
    return Iterate(best, gained, given_up, state.view, point, memory, least, smoothing, state.goal)
