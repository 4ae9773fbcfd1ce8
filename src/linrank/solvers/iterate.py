"""The one loop: history, callback, convergence, stalling and the limit of iterations, for every exact method.

A method is a frozen configuration. `begin` makes its first state and `step` the next one; a state is a value, and
nothing else is remembered from one step to the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from .._errors import ParameterError
from .._typing import FloatArray
from ..objective import Objective, Point, zeros
from ._base import Callback, Iteration, Solution, Status
from .certificate import Certificate

#: Why the bundle method, cg and tron refuse a penalty with kinks or bounds.
ONLY_RIDGE = "l1_ratio, monotonic_cst and bounds are for Newton's method: use solver='auto' or 'newton'."


@dataclass(frozen=True)
class State:
    """Where a method stands, as far as the loop asks; methods add what they need."""

    best: Certificate
    gained: bool  # whether the last step gained anything
    stuck: bool  # whether no further step can be made


S = TypeVar("S", bound=State)


class Steps(Protocol[S]):
    """What the loop asks of a method once it has begun."""

    @property
    def max_iter(self) -> int:
        """Most iterations."""

    @property
    def stall(self) -> int:
        """Iterations without any gain after which rounding is to blame."""

    def step(self, state: S) -> S:
        """The next state."""

    def ends(self, state: S) -> Status | None:
        """How to end here; None: go on."""


class Method(Steps[S], Protocol[S]):
    """A method, from its first state to what it leaves."""

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> S:
        """The first state: at given weights, an earlier solution, or zero."""

    def result(self, state: S) -> Certificate:
        """The point to give back, and what is known of it."""

    def left(self, state: S) -> Any:
        """What a start from the solution can use."""


class Run(NamedTuple):
    """How the loop ended."""

    state: Any
    status: Status
    history: list[Iteration]


def iterate(
    method: Method[S], objective: Objective, start: FloatArray | Solution | None, callback: Callback | None
) -> Solution:
    """Minimise an objective by a method."""
    begin = time.perf_counter()
    run = drive(method, method.begin(objective, start), callback, begin)
    best = method.result(run.state)
    return Solution(best.w, best.value, best.gap, run.status, run.history, method.left(run.state))


def drive(
    method: Steps[S],
    state: S,
    callback: Callback | None = None,
    begin: float | None = None,
    before: list[Iteration] | None = None,
) -> Run:
    """Take steps from a state until they have converged, stall or are too many; the clock runs from `begin`.

    Iterations that another method made before are counted on.
    """
    since = time.perf_counter() if begin is None else begin
    history = [] if before is None else before
    still = 0
    while True:
        still = 0 if state.gained else still + 1
        history.append(Iteration(len(history) + 1, state.best.value, state.best.gap, time.perf_counter() - since))
        if callback is not None:
            callback(history[-1])
        if (status := method.ends(state)) is not None:
            return Run(state, status, history)
        if state.stuck or still >= method.stall:
            return Run(state, Status.STALLED, history)
        if len(history) >= method.max_iter:
            return Run(state, Status.MAX_ITER, history)
        state = method.step(state)


def start_point(objective: Objective, start: FloatArray | Solution | None) -> Point:
    """The objective at given weights, at an earlier solution, or at zero, for methods that take the ridge alone."""
    if not objective.penalty.smooth:
        raise ParameterError(ONLY_RIDGE)
    given = start.w if isinstance(start, Solution) else start
    return objective.at(zeros(objective) if given is None else given)


def check_limits(tol: float, max_iter: int) -> None:
    """Refuse a tolerance or an iteration limit that no method can keep."""
    if not tol > 0:
        raise ParameterError(f"tol={tol!r} must be above 0.")
    if max_iter < 1:
        raise ParameterError(f"max_iter={max_iter!r} must be at least 1.")
