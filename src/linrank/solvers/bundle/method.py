"""The bundle method (cutting planes) for any convex loss: TreeRSVM, Algorithm 1, with a line search.

The planes' maximum plus the penalty is a model below f; its minimiser w_t is where Algorithm 1 evaluates next. With
`line_search`, the segment from the best point so far through w_t is searched in score space, which costs loss
evaluations but no further product with X, and the plane is taken at the point found there: two products with X an
iteration. The certificate is the model's minimum (`planes.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._errors import ParameterError
from ..._typing import FloatArray
from ...objective import Objective, Point, Trial
from .._base import Callback, Solution, Status
from ..certificate import Bounds, Certificate
from ..goal import Goal
from ..iterate import State, check_limits, iterate, start_point
from ..line_search import search
from .planes import Minimum, Model, Planes

#: Iterations a plane is kept without being part of the model's minimiser.
MAX_IDLE = 40
#: Where the plane at the point found raises the model at its minimiser by less than this part of the gap, Algorithm 1's
#: plane is taken as well.
CUTS = 0.1


@dataclass(frozen=True)
class Cuts(State):
    """The best point, the model, and its minimum, towards which the next step goes."""

    point: Point
    model: Model
    minimum: Minimum
    lower: float  # the greatest minimum of a model so far
    t: float  # where the last line search ended that led to a better point
    goal: Goal
    n: int = 0  # iterations so far


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
    max_cuts : int or None
        Give up, as stalled, after so many iterations: another method may do better.
    """

    tol: float = 1e-3
    max_iter: int = 1000
    line_search: bool = True
    max_planes: int = 500
    max_cuts: int | None = None

    stall = 10

    def __post_init__(self) -> None:
        check_limits(self.tol, self.max_iter)
        if self.max_planes < 3:
            raise ParameterError(f"max_planes={self.max_planes!r} must be at least 3.")
        if self.max_cuts is not None and self.max_cuts < 2:
            raise ParameterError(f"max_cuts={self.max_cuts!r} must be at least 2, or None.")

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights, or an earlier solution whose planes are used again."""
        return iterate(self, objective, start, callback)

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> Cuts:
        """The model of the planes known already, and of that at the starting point."""
        model = Model.empty(objective.n_features, self.max_planes, MAX_IDLE if self.line_search else self.max_iter)
        if isinstance(start, Solution) and isinstance(start.state, Planes):
            model = model.with_all(start.state)
        elif self.line_search:
            model = model.with_plane(np.zeros(objective.n_features), 0.0)  # no loss is negative
        point, nowhere = start_point(objective, start), Minimum(np.empty(0), -np.inf, -np.inf)
        goal = Goal(objective, self.tol)
        none = Cuts(Certificate.none(objective), True, False, point, model, nowhere, -np.inf, 1.0, goal)
        return self._cut(none, point, point, 1.0)

    def step(self, state: Cuts) -> Cuts:
        """Search towards the model's minimiser, and cut there."""
        line = state.point.along(state.minimum.w - state.point.w)
        trial = search(line, state.t) if self.line_search else line.at(1.0)
        found = line.point(trial)
        cut = found if _cuts(trial, state) else line.point(1.0)
        best = min(found, cut, key=lambda point: point.value)
        better = best.value < state.point.value
        return self._cut(state, best if better else state.point, cut, trial.t if better else state.t)

    def _cut(self, state: Cuts, best: Point, cut: Point, t: float) -> Cuts:
        """The model with the plane at `cut`, its minimum, and what that certifies of the best point."""
        objective, model, minimum = best.objective, state.model.touching(cut), state.minimum
        stuck = model is None or state.n + 1 == self.max_cuts
        if model is None:
            model = state.model
        else:
            model, minimum = model.minimised(objective.penalty)
        lower = max(state.lower, minimum.value)
        rounding = best.rounding + model.error.at_minimiser(objective)
        certificate = state.best.joined(Bounds(best.w, best.value, max(lower, 0.0) - rounding, rounding))
        gained = minimum.value > state.lower or best is not state.point
        return Cuts(certificate, gained, stuck, best, model, minimum, lower, t, state.goal, state.n + 1)

    def ends(self, state: Cuts) -> Status | None:
        """By the gap; where the errors of an approximate loss are most of what is wanted, few steps would mend that."""
        status, goal = state.goal.ends(state.best, state.point), state.goal.gap
        coarse = state.point.error > 0 and state.best.rounding > 0.5 * goal
        if status is None and coarse and state.point.value - state.lower <= goal:
            return Status.LIMITED
        return status

    def result(self, state: Cuts) -> Certificate:
        """The best point, or that which met the gradient's rule."""
        return state.goal.result(state.best, state.point)

    def left(self, state: Cuts) -> Planes:
        """The planes: they hold for every penalty."""
        return state.model.planes()


def _cuts(trial: Trial, state: Cuts) -> bool:
    """Whether the plane at the trial raises the model at its minimiser (t = 1) by a good part of the gap."""
    return trial.risk + trial.risk_slope * (1.0 - trial.t) - state.minimum.risk >= CUTS * state.best.gap
