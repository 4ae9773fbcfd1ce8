"""The bundle method (cutting planes) for any convex loss: TreeRSVM, Algorithm 1, with a line search.

Every subgradient a at w gives a plane below the empirical risk, R(w') >= a.w' + b. The planes' maximum plus the
regulariser is a model below f; its minimiser w_t is where Algorithm 1 evaluates next. With `line_search`, the
segment from the best point so far through w_t is searched in score space, which costs loss evaluations but no
further product with X, and the plane is taken at the point found there: two products with X an iteration.

The certificate: for any x in the simplex, b.x - |A^T x|^2 / (2 alpha) is below the minimum of f. We compute that
value from the planes ourselves and keep the largest, so the gap is right even where the QP's answer is not.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._errors import ParameterError
from .._objective import Objective, Point, Trial, zeros
from .._preferences import FloatArray
from ._base import Callback, Iteration, Solution, check_limits, ending
from ._line import search
from ._simplex import maximise_over_simplex

#: Iterations a plane is kept without being part of the model's minimiser.
PATIENCE = 40
#: Iterations without any progress after which rounding is to blame.
STALL = 10


class Planes(NamedTuple):
    """Planes a.w + b below the empirical risk: they hold for every alpha."""

    a: FloatArray  # (n, d)
    b: FloatArray  # (n,)
    error: PlaneError


class PlaneError(NamedTuple):
    """How far planes may be off because the loss's sums are approximate: mostly 0."""

    value: float = 0.0
    gradient: float = 0.0
    farthest: float = 0.0  # |w| of the points where they touch the risk

    def joined(self, point: Point) -> PlaneError:
        """With one more plane, at a point."""
        here = point.error, point.gradient_error, float(np.linalg.norm(point.w))
        return PlaneError(*(max(a, b) for a, b in zip(self, here, strict=True)))

    def at_minimiser(self, objective: Objective) -> float:
        """How far a plane may lie above the risk at the minimiser, which is at most |w| = sqrt(2 f(0) / alpha) away."""
        away = self.farthest + float(np.sqrt(2.0 * objective.value_at_zero / objective.alpha))
        return self.value + (self.gradient * away if self.gradient > 0.0 else 0.0)


@dataclass(frozen=True)
class Bundle:
    """Minimise any convex objective to a certified gap.

    Parameters
    ----------
    tol : float
        Stop when the certified gap is at most tol * f(0).
    max_iter : int
        Stop after so many iterations, with the best point and its honest gap.
    line_search : bool
        False: Algorithm 1 of the paper as it stands, which forgets no plane before there are `max_planes`.
    max_planes : int
        Planes kept at most, each a d-vector: beyond that they are merged into one that keeps the bound.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    line_search: bool = True
    max_planes: int = 500

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)
        if self.max_planes < 3:
            raise ParameterError(f"max_planes={self.max_planes!r} must be at least 3.")

    def minimise(
        self,
        objective: Objective,
        start: FloatArray | Solution | None = None,
        callback: Callback | None = None,
    ) -> Solution:
        """Minimise from `start`: weights, or an earlier solution whose planes are used again."""
        clock = time.perf_counter
        begin, target = clock(), self.tol * objective.value_at_zero
        model = self._first_model(objective, start)
        w = start.w if isinstance(start, Solution) else start
        best = cut = objective.at(zeros(objective) if w is None else w)
        lower, still, step = -np.inf, 0, 1.0
        history: list[Iteration] = []
        while True:
            overflow = not model.add_at(cut)
            w_t = best.w if overflow else model.minimise()
            still = 0 if model.lower_bound > lower else still + 1
            lower = max(lower, model.lower_bound)
            gap = max(best.value - max(lower, 0.0), 0.0) + best.rounding + model.error.at_minimiser(objective)
            history.append(Iteration(len(history) + 1, best.value, gap, clock() - begin))
            if callback is not None:
                callback(history[-1])
            status = ending(gap <= target, overflow or still >= STALL, len(history), self.max_iter)
            if status is not None:
                return Solution(best.w, best.value, gap, status, history, model.planes())
            line = best.along(w_t - best.w)
            trial = search(line, step) if self.line_search else line.at(1.0, gradient=True)
            found = line.point(trial)
            # Where its plane would cut too little away at the model's minimiser, Algorithm 1's plane does.
            cut = found if _cuts(trial, model.risk, gap) else line.point(1.0)
            candidate = min(found, cut, key=lambda point: point.value)
            if candidate.value < best.value:
                best, step, still = candidate, trial.t, 0

    def _first_model(self, objective: Objective, start: FloatArray | Solution | None) -> _Model:
        patience = PATIENCE if self.line_search else self.max_iter
        model = _Model(objective.n_features, objective.alpha, self.max_planes, patience)
        if isinstance(start, Solution) and isinstance(start.state, Planes):
            model.add_all(start.state)
        elif self.line_search:
            model.add(np.zeros(objective.n_features), 0.0)  # no loss is negative
        return model


def _cuts(trial: Trial, model_risk: float, gap: float) -> bool:
    """Whether the plane at the trial raises the model at its minimiser (t = 1) by a good part of the gap."""
    return trial.risk + trial.risk_slope * (1.0 - trial.t) - model_risk >= 0.1 * gap


class _Model:
    """The planes, their Gram matrix and multipliers; grows as needed, forgets what has long been idle."""

    def __init__(self, n_features: int, alpha: float, max_planes: int, patience: int) -> None:
        self.alpha, self.max_planes, self.patience = alpha, max_planes, patience
        self.n = 0
        self.a = np.empty((16, n_features))
        self.b = np.empty(16)
        self.G = np.empty((16, 16))
        self.x = np.zeros(16)  # multipliers, in the simplex
        self.idle = np.zeros(16, dtype=np.int64)
        self.lower_bound = -np.inf
        self.risk = -np.inf  # the planes' maximum at the model's minimiser
        self.error = PlaneError()

    def planes(self) -> Planes:
        """The planes held, without spare room."""
        return Planes(self.a[: self.n].copy(), self.b[: self.n].copy(), self.error)

    def add_all(self, planes: Planes) -> None:
        """Take over planes found earlier."""
        self.error = planes.error
        for a, b in zip(planes.a, planes.b, strict=True):
            self.add(a, float(b))

    def add(self, a: FloatArray, b: float) -> None:
        """Add one plane; it starts without weight, but the first has all."""
        if self.n == self.b.size:
            self._keep_only(np.flatnonzero(self.idle[: self.n] <= self.patience))
        if self.n >= self.max_planes:
            self._merge()
        if self.n == self.b.size:
            self._grow()
        k = self.n
        self.a[k], self.b[k] = a, b
        self.G[k, : k + 1] = self.a[: k + 1] @ a
        self.G[: k + 1, k] = self.G[k, : k + 1]
        self.x[k] = 1.0 if k == 0 else 0.0
        self.idle[k] = 0
        self.n += 1

    def add_at(self, point: Point) -> bool:
        """Add the plane that touches the risk at a point, one product with X^T; False where it overflows."""
        a = point.risk_gradient
        b = point.risk - float(point.w @ a)
        if not np.isfinite(b) or not np.isfinite(float(a @ a)):
            return False
        self.add(a, b)
        self.error = self.error.joined(point)
        return True

    def minimise(self) -> FloatArray:
        """The model's minimiser; updates the lower bound at the multipliers found, whatever their quality."""
        n = self.n
        x = maximise_over_simplex(self.G[:n, :n], self.b[:n], self.alpha, self.x[:n])
        x = np.maximum(x, 0.0)
        x /= x.sum()
        self.x[:n] = x
        self.idle[:n] = np.where(x > 0, 0, self.idle[:n] + 1)
        support = np.flatnonzero(x)
        w = -(x[support] @ self.a[support]) / self.alpha
        self.lower_bound = float(x @ self.b[:n]) - 0.5 * self.alpha * float(w @ w)
        self.risk = float(np.max(self.b[:n] - self.G[:n, :n] @ x / self.alpha))  # A w = -G x / alpha
        return w

    def _merge(self) -> None:
        """Replace the oldest planes by the model's own combination of all: a plane, too, and with the same bound."""
        n = self.n
        a, b = self.x[:n] @ self.a[:n], float(self.x[:n] @ self.b[:n])
        self._keep_only(np.arange(n - self.max_planes // 2, n))
        self.x[: self.n] = 0.0
        self.add(a, b)
        self.x[self.n - 1] = 1.0

    def _keep_only(self, keep: NDArray[np.intp]) -> None:
        """Forget all other planes: if those have no weight, the bound stands without them."""
        k = keep.size
        self.a[:k], self.b[:k], self.x[:k] = self.a[keep], self.b[keep], self.x[keep]
        self.idle[:k] = self.idle[keep]
        self.G[:k, :k] = self.G[np.ix_(keep, keep)]
        self.n = k

    def _grow(self) -> None:
        size = 2 * self.b.size
        a, G = np.empty((size, self.a.shape[1])), np.empty((size, size))
        a[: self.n], G[: self.n, : self.n] = self.a[: self.n], self.G[: self.n, : self.n]
        self.a, self.G = a, G
        self.b, self.x = np.resize(self.b, size), np.resize(self.x, size)
        self.idle = np.resize(self.idle, size)
        self.x[self.n :] = 0.0
