"""Newton's method for smooth losses, and for the hinge by smoothing it.

An iteration takes the next direction (`directions.py`) and searches its line in score space. A start from zero begins
on samples of the rows, which leave their solution, and the factor of their Hessian, to all rows. The hinge is rounded
off (`smoothing.py`) over a width that shrinks when most of what is left to gain is due to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..._errors import ParameterError
from ..._objective import Objective, Point, zeros
from ..._preferences import FloatArray
from .._base import Callback, Solution
from ..certificate import Certificate
from ..iterate import State, check_limits, drive, iterate
from ..line_search import search
from .directions import CurvatureMemory, Directions
from .smoothing import Given, Smoothed, view_of


@dataclass(frozen=True)
class Tuning:
    """Numbers that steer the method; ``benchmarks/run.py ablation`` says what each is worth."""

    #: Rows of the samples on which a start from zero begins, and how many of them a feature needs to be told apart.
    samples: tuple[int, ...] = (5_000, 25_000)
    rows_a_feature: int = 20
    #: The gap to which they are solved, relative to f(0).
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
    left_to_gain: float  # about how far the smooth objective was above its minimum; infinite where that is not known
    target: float


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
        Whether a start from zero begins on samples of the rows.
    rounded : bool
        Whether conjugate gradients read sparse float64 features from a float32 copy, made once: half as large as X, or
        two thirds beyond 65,536 features, and faster to read. Gradients and certificates read X itself.
    max_products : float
        Give up, as stalled, where a direction takes more Hessian products: another method may do better.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    hessian: str = "auto"
    samples: bool = True
    rounded: bool = True
    max_products: float = np.inf

    stall = 5

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)
        if self.hessian not in ("auto", "exact", "products"):
            raise ParameterError(f"hessian={self.hessian!r} is not known: use 'auto', 'exact' or 'products'.")

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights or an earlier solution; from zero, over samples of the rows first."""
        return iterate(self, objective, start, callback)

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> Iterate:
        """At weights given, at an earlier solution, or at that of samples of the rows."""
        warm = start.state if isinstance(start, Solution) and isinstance(start.state, WarmStart) else WarmStart()
        w = start.w if isinstance(start, Solution) else start
        target = self.tol * objective.value_at_zero
        if w is None:
            w, warm = self._from_samples(objective, target, warm)
        return _first(objective, w, warm, target)

    def step(self, state: Iterate) -> Iterate:
        """A step along the next direction, after smoothing less where that is most of what is left to gain."""
        return _next(_refined(state), self.directions(state.target))

    def directions(self, target: float) -> Directions:
        """How directions to such a gap are found."""
        return Directions(self.hessian, self.rounded, self.max_products, target)

    def converged(self, state: Iterate) -> bool:
        """Whether the gap is within tol."""
        return state.best.gap <= state.target

    def left(self, state: Iterate) -> WarmStart:
        """The curvature, and the width of smoothing."""
        return WarmStart(state.memory.for_next_fit(), state.view.mu)

    def _from_samples(self, objective: Objective, target: float, warm: WarmStart) -> tuple[FloatArray, WarmStart]:
        """Weights and curvature from samples of the rows."""
        w, rough = zeros(objective), max(target, TUNING.rough * objective.value_at_zero)
        for part in samples(objective) if self.samples else ():
            state = drive(OnSample(self), _first(part, w, warm, rough)).state
            w, warm = state.best.w, WarmStart(state.memory.on_other_rows(), state.view.mu)
        return w, warm


@dataclass(frozen=True)
class OnSample:
    """The method on a sample of the rows: to less than the sample can tell, and with a Hessian at once."""

    method: Newton

    stall = 5

    @property
    def max_iter(self) -> int:
        """As on all rows."""
        return self.method.max_iter

    def step(self, state: Iterate) -> Iterate:
        """As on all rows, but Hessians are cheap."""
        return _next(_refined(state), self.method.directions(state.target), sample=True)

    def converged(self, state: Iterate) -> bool:
        """Whether there is less to gain than a sample can tell."""
        little = state.left_to_gain <= 0.1 * state.target and state.smoothing <= 0.5 * state.target
        return state.best.gap <= state.target or little


def samples(objective: Objective) -> Iterator[Objective]:
    """The objective over growing samples of the rows, where they say something about so many features."""
    for n_rows in TUNING.samples:
        enough = n_rows >= TUNING.rows_a_feature * objective.n_features
        part = objective.sample(n_rows) if enough else None
        if part is not None:
            yield part


def _first(objective: Objective, w: FloatArray, warm: WarmStart, target: float) -> Iterate:
    view = view_of(objective, warm.mu)
    point = view.objective.at(w)
    found, smoothing = view.at(point)
    best = Certificate.none(objective).joined(found)
    return Iterate(best, True, False, view, point, warm.memory, point.value, smoothing, np.inf, target)


def _refined(state: Iterate) -> Iterate:
    """The same weights, smoothed less where smoothing is most of what is left to gain."""
    point, target = state.point, state.target
    if state.smoothing <= 0.5 * target:
        return state
    rest = point.objective.penalty.gap(point.w, point.risk_gradient)
    if min(rest, 3.0 * state.left_to_gain) > state.smoothing:
        return state
    view = state.view.narrowed(target, state.smoothing)
    if view.mu >= state.view.mu:
        return state
    return replace(state, view=view, point=point.under(view.objective), memory=state.memory.elsewhere(), least=np.inf)


def _next(state: Iterate, directions: Directions, sample: bool = False) -> Iterate:
    """The point found along the next direction."""
    direction, memory = directions.next(state.point, state.memory, sample)
    line = state.point.along(direction.d)
    trial = search(line, 1.0)
    point = line.point(trial)
    found, smoothing = state.view.at(point)
    best = state.best.joined(found)
    gained = best.improves_on(state.best) or best.lower > state.best.lower or point.value < state.least
    left_to_gain = _left_to_gain(line.slope, trial.t, direction.solved or sample)
    least = min(point.value, state.least)
    given_up = direction.given_up
    return Iterate(best, gained, given_up, state.view, point, memory, least, smoothing, left_to_gain, state.target)


def _left_to_gain(slope: float, t: float, known: bool) -> float:
    """About how far f was above its minimum before a step of length t; `known`: where the direction tells."""
    return -0.5 * slope * max(t * t, 1.0 / t) if known else np.inf
