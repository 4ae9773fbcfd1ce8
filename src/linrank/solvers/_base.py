"""What every solver gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from .._errors import ParameterError
from .._preferences import FloatArray

if TYPE_CHECKING:
    from .._objective import Objective


class Status(StrEnum):
    """How a solver ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    FINISHED = "finished"
    STOPPED = "stopped"

    @property
    def advice(self) -> str:
        """What it means, and what to do about it."""
        return {
            Status.CONVERGED: "The certified gap is within tol.",
            Status.MAX_ITER: "max_iter was reached: raise max_iter, tol or alpha, or use scale=True.",
            Status.STALLED: "Rounding leaves no room for progress: raise tol or alpha, or use scale=True.",
            Status.FINISHED: "All steps were made: a stochastic solver has no certificate.",
            Status.STOPPED: "The held-out queries gained nothing more.",
        }[self]


def check_limits(tol: float, max_iter: int) -> None:
    """Refuse a tolerance or an iteration limit that no solver can keep."""
    if not tol > 0:
        raise ParameterError(f"tol={tol!r} must be above 0.")
    if max_iter < 1:
        raise ParameterError(f"max_iter={max_iter!r} must be at least 1.")


def ending(converged: bool, stalled: bool, iterations: int, max_iter: int) -> Status | None:
    """How to end, or None to go on."""
    if converged:
        return Status.CONVERGED
    if stalled:
        return Status.STALLED
    return Status.MAX_ITER if iterations >= max_iter else None


class Iteration(NamedTuple):
    """One line of a solver's history."""

    iteration: int
    objective: float  # the best value so far
    gap: float  # certified: the best value is at most so far above the minimum
    seconds: float


@dataclass(frozen=True)
class Solution:
    """The best point found, with its certificate."""

    w: FloatArray
    value: float
    gap: float
    status: Status
    history: list[Iteration]
    state: Any = field(default=None, repr=False)  # what a warm start can use again, if anything

    @property
    def n_iter(self) -> int:
        """Number of iterations made."""
        return self.history[-1].iteration if self.history else 0


Callback = Callable[[Iteration], None]


@runtime_checkable
class Solver(Protocol):
    """Minimises an objective, of which it sees d-vectors alone, to an upper bound on how far it is from the minimum."""

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights, an earlier solution, or None; call `callback` once an iteration."""
