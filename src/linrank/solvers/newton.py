"""Newton's method for smooth losses, and for the hinge by smoothing it.

Directions come from conjugate gradients on Hessian products. Where an exact d x d Hessian can be had and conjugate
gradients take longer than it would cost, it is built once and its Cholesky factor preconditions them from then on; it
is built anew when even so they need more than a few steps. The line search works in score space.

The certificate of a smooth objective is |grad f|^2 / (2 alpha), by strong convexity. The hinge is rounded off
(`_smoothing.py`) over a width that shrinks when most of the certified gap is due to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from .._errors import ParameterError
from .._objective import Objective, Point, zeros
from .._preferences import FloatArray
from .._smoothing import SmoothedHinge
from ._base import Callback, Iteration, Solution, Status, check_limits, ending
from ._best import STALL, Best
from ._line import search

#: Steps of conjugate gradients after which a preconditioner is out of date, unless a new one would cost twice as many.
STALE = 4
#: Relative residual at which conjugate gradients stop.
FORCING = 0.1
#: Rows of the samples on which a start from zero begins, and how many of them a feature needs to be told apart.
SAMPLES = (5_000, 25_000, 125_000)
ROWS_A_FEATURE = 20
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
        Build exact Hessians when they pay, always, or never.
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
        run = _Run(
            zeros(objective) if given is None else given, _Directions(self.hessian, self.rounded), time.perf_counter()
        )
        if isinstance(start, Solution) and isinstance(start.state, _Kept):
            run.directions.H, run.directions.earlier, run.mu = start.state.H, start.state.steps, start.state.mu
        target = self.tol * objective.value_at_zero
        if given is None and self.samples:
            for part in _samples(objective):
                self._descend(part, run, max(target, ROUGH * objective.value_at_zero), None, rough=True)
        run.directions.steps = 0  # those on samples were cheap
        tracker = self._descend(objective, run, target, callback)
        kept = _Kept(run.directions.H, run.directions.earlier + run.directions.steps, run.mu)
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
                if rough and run.directions.H is not None:
                    run.directions.renew(point)  # cheap here, and it will serve for all rows
                return tracker
            point = tracker.refine(point, target, decrement)
            line = point.along(run.directions.at(point, rough))
            trial = search(line, 1.0)
            # About how far f was above its minimum before this step, if the quadratic model held all the way.
            decrement = -0.5 * line.slope if 0.9 < trial.t < 1.1 else np.inf
            point = line.point(trial)


@dataclass(frozen=True)
class _Kept:
    """What a solution leaves to a start from it, for whatever alpha."""

    H: FloatArray | None  # the mean loss's last exact Hessian
    steps: int  # of conjugate gradients made without one, in all fits so far
    mu: float


@dataclass
class _Run:
    """What is carried from one sample of the rows to the next."""

    w: FloatArray
    directions: _Directions
    begin: float
    mu: float = 1.0
    status: Status = Status.MAX_ITER
    history: list[Iteration] = field(default_factory=list)


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
        if min(rest, 10.0 * decrement) > self.smoothing or self.fine(target):
            return point
        narrower = self.smoothed.narrowed(target, self.smoothing)
        if narrower.mu >= self.mu:
            return point
        self.smoothed = narrower
        self.objective, self.smooth_value = self.smoothed.objective, np.inf
        return self.objective.at_scores(point.w, point.scores, point.steps)


class _Directions:
    """Newton directions, with a Cholesky factor as preconditioner once it pays."""

    def __init__(self, hessian: str, rounded: bool) -> None:
        self.hessian, self.rounded = hessian, rounded
        self.H: FloatArray | None = None  # of the mean loss: with any alpha added it makes a preconditioner
        self.factor: FloatArray | None = None  # Cholesky's, lower
        self.alpha = np.nan  # the factor's
        self.steps, self.earlier = 0, 0  # of conjugate gradients without a factor: in this fit, in those before

    def at(self, point: Point, rough: bool = False) -> FloatArray:
        """An approximate solution of H d = -gradient; `rough`: on a sample, whose factor will serve for all rows."""
        cost = None if self.hessian == "products" else point.hessian_steps
        if cost is not None and self.hessian == "exact":
            return self._exact(point)
        limit = 10 * point.w.size + 100
        if cost is not None:
            if self.H is not None and self.alpha != point.objective.alpha:
                self._factorise(point.objective.alpha)
            limit = max(STALE, int(self._patience(cost, rough)))
        direction, solved = self._conjugate_gradients(point, limit)
        return direction if solved or cost is None else self._exact(point)

    def _patience(self, cost: float, rough: bool) -> float:
        """Steps of conjugate gradients before an exact Hessian is built, which costs as much as `cost` of them."""
        if rough:
            return cost / 8
        # Along a path of alphas, what the fits before could have saved by one counts as well.
        return cost / 2 if self.factor is not None else cost - self.earlier

    def renew(self, point: Point) -> None:
        """Build the exact Hessian and its factor."""
        self.H = point.risk_hessian()
        self._factorise(point.objective.alpha)

    def _exact(self, point: Point) -> FloatArray:
        self.renew(point)
        if self.factor is None:
            return self._conjugate_gradients(point, 10 * point.w.size + 100)[0]
        return -self._precondition(point.gradient)

    def _factorise(self, alpha: float) -> None:
        assert self.H is not None
        self.alpha = alpha
        self.factor, failed = dpotrf(self.H + alpha * np.eye(len(self.H)), lower=1)
        if failed:  # indefinite by rounding: conjugate gradients cope
            self.H = self.factor = None

    def _precondition(self, r: FloatArray) -> FloatArray:
        if self.factor is None:
            return r
        z: FloatArray = dpotrs(self.factor, r, lower=1)[0]
        return z

    def _conjugate_gradients(self, point: Point, limit: int) -> tuple[FloatArray, bool]:
        r = -point.gradient
        x, z = np.zeros_like(r), self._precondition(r)
        p, rz = z, float(r @ z)
        # In the preconditioner's norm and in the certificate's: an old factor hardly sees what has become active since.
        multiply = point.rounded_hessian_product if self.rounded else point.hessian_product
        goal, plain_goal = FORCING**2 * rz, FORCING**2 * float(r @ r)
        for _ in range(limit):
            self.steps += self.factor is None
            Hp = multiply(p)
            curvature = float(p @ Hp)
            if not curvature > 0:
                break
            step = rz / curvature
            x, r = x + step * p, r - step * Hp
            z = self._precondition(r)
            rz, before = float(r @ z), rz
            if rz <= goal and float(r @ r) <= plain_goal:
                return x, True
            p = z + (rz / before) * p
        return x, False
