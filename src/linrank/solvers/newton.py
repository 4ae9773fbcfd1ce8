"""Newton's method for smooth losses, and for the hinge by smoothing it.

A start from zero begins on samples of the rows, which leave the factor of their Hessian, too, to all rows
(`_directions.py`). The line search works in score space.

The certificate of a smooth objective is |grad f|^2 / (2 alpha), by strong convexity. The hinge is rounded off
(`_smoothing.py`) over a width that shrinks when most of the certified gap is due to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from .._errors import ParameterError
from .._objective import Objective, Point, zeros
from .._preferences import FloatArray
from .._smoothing import SmoothedHinge
from ._base import Callback, Iteration, Solution, Status, check_limits, ending
from ._best import STALL, Best
from ._directions import Directions, Known
from ._line import FLAT, FLAT_ENOUGH, search

#: Rows of the samples on which a start from zero begins, and how many of them a feature needs to be told apart.
SAMPLES = (5_000, 25_000, 125_000)
ROWS_A_FEATURE = 20
#: Least width of smoothing at which a sample's Hessian is built: in a narrower band it has too few pairs.
WIDE = 0.25
#: The gap to which samples are solved, relative to f(0).
ROUGH = 1e-3


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
    """

    tol: float = 1e-3
    max_iter: int = 1000
    hessian: str = "auto"
    samples: bool = True
    rounded: bool = True

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)
        if self.hessian not in ("auto", "exact", "products"):
            raise ParameterError(f"hessian={self.hessian!r} is not known: use 'auto', 'exact' or 'products'.")

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights or an earlier solution; from zero, over growing samples of the rows first."""
        given = start.w if isinstance(start, Solution) else start
        kept = start.state if isinstance(start, Solution) and isinstance(start.state, _Kept) else _Kept()
        directions = Directions(self.hessian, self.rounded, kept.known)
        run = _Run(zeros(objective) if given is None else given, directions, time.perf_counter(), kept.mu)
        target = self.tol * objective.value_at_zero
        if given is None and self.samples:
            for part in _samples(objective):
                self._descend(part, run, max(target, ROUGH * objective.value_at_zero), None, rough=True)
            directions.steps = 0  # those on samples were cheap
        tracker = self._descend(objective, run, target, callback)
        kept = _Kept(directions.known, run.mu)
        return Solution(tracker.w, tracker.value, tracker.gap, run.status, run.history, kept)

    def _descend(
        self, objective: Objective, run: _Run, target: float, callback: Callback | None, rough: bool = False
    ) -> _Smooth | _Smoothed:
        """Newton steps on one objective, from where the run stands until its gap is within the target.

        `rough`: also until there is less to gain than a sample can tell.
        """
        smoothed = SmoothedHinge.applies_to(objective)
        tracker = _Smoothed(objective, run.mu) if smoothed else _Smooth(objective)
        point = tracker.objective.at(run.w)
        run.directions.failures = 0  # on other rows than before, perhaps
        run.history, still, decrement = [], 0, np.inf
        while True:
            still = 0 if tracker.certify(point) else still + 1
            seconds = time.perf_counter() - run.begin
            run.history.append(Iteration(len(run.history) + 1, tracker.value, tracker.gap, seconds))
            if callback is not None:
                callback(run.history[-1])
            converged = tracker.gap <= target or (rough and decrement <= 0.1 * target and tracker.fine(target))
            status = ending(converged, still >= STALL, len(run.history), self.max_iter)
            if status is not None:
                run.status, run.w, run.mu = status, tracker.w, tracker.mu
                if rough and run.directions.slow:
                    run.directions.renew(tracker.widened(point))  # cheap here, and it will serve for all rows
                return tracker
            point = tracker.refine(point, target, decrement)
            point, decrement = run.step(point, rough)


class _Kept(NamedTuple):
    """What a solution leaves to a start from it, for whatever alpha."""

    known: Known = Known()
    mu: float = 1.0


@dataclass
class _Run:
    """What is carried from one sample of the rows to the next."""

    w: FloatArray
    directions: Directions
    begin: float
    mu: float
    status: Status = Status.MAX_ITER
    history: list[Iteration] = field(default_factory=list)

    def step(self, point: Point, rough: bool) -> tuple[Point, float]:
        """The next point, and about how far f was above its minimum at the last."""
        line = point.along(self.directions.at(point, rough))
        trial = search(line, 1.0, FLAT if self.directions.solved else FLAT_ENOUGH)
        return line.point(trial), self.directions.decrement(line.slope, trial.t, rough)


def _samples(objective: Objective) -> Iterator[Objective]:
    """The objective over growing samples of the rows, where they say something about so many features."""
    for n_rows in SAMPLES:
        if n_rows >= ROWS_A_FEATURE * objective.n_features:
            part = objective.sample(n_rows)
            if part is None:
                return
            yield part


class _Smooth(Best):
    """The best point and its certificate, for a smooth objective."""

    mu = 1.0

    def fine(self, target: float) -> bool:
        """Whether smoothing leaves room for a gap within the target."""
        return True

    def refine(self, point: Point, target: float, decrement: float) -> Point:
        """The point to step from."""
        return point

    def widened(self, point: Point) -> Point:
        """The point at which a sample tells most of the curvature."""
        return point


class _Smoothed:
    """The hinge's best point and certificate, from points of a smoothed objective."""

    def __init__(self, objective: Objective, mu: float) -> None:
        self.smoothed = SmoothedHinge(objective, mu)
        self.objective = self.smoothed.objective
        self.w = zeros(objective)
        self.value, self.lower, self.gap, self.smoothing = np.inf, -np.inf, np.inf, np.inf
        self.smooth_value = np.inf  # the least value of the smoothed objective at its present width

    @property
    def mu(self) -> float:
        """The width over which the hinge is rounded off."""
        return self.smoothed.mu

    def certify(self, point: Point) -> bool:
        """Take note of a point; whether it improves on those before."""
        value, lower, self.smoothing = self.smoothed.bounds(point)
        lower = max(lower, 0.0) - point.rounding
        progress = value < self.value or lower > self.lower or point.value < self.smooth_value
        self.smooth_value = min(point.value, self.smooth_value)
        if value < self.value:
            self.w, self.value = point.w, value
        self.lower = max(self.lower, lower)
        self.gap = max(self.value - self.lower, point.rounding)
        return progress

    def fine(self, target: float) -> bool:
        """Whether smoothing leaves room for a gap within the target."""
        return self.smoothing <= 0.5 * target

    def refine(self, point: Point, target: float, decrement: float) -> Point:
        """The point to step from: smoothed less, where smoothing is most of what is left to gain."""
        rest = float(point.gradient @ point.gradient) / (2.0 * self.objective.alpha)
        if min(rest, 3.0 * decrement) > self.smoothing or self.fine(target):
            return point
        narrower = self.smoothed.narrowed(target, self.smoothing)
        if narrower.mu >= self.mu:
            return point
        self.smoothed = narrower
        self.objective, self.smooth_value = self.smoothed.objective, np.inf
        return point.under(self.objective)

    def widened(self, point: Point) -> Point:
        """The point at which a sample tells most of the curvature: smoothed so much that it counts enough pairs."""
        if self.mu >= WIDE:
            return point
        return point.under(replace(self.smoothed, mu=WIDE).objective)
