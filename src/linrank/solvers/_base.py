"""What every solver gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .._errors import ParameterError
from .._typing import FloatArray

if TYPE_CHECKING:
    from ..objective import Objective


class Status(StrEnum):
    """How a solver ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    LIMITED = "limited"
    FINISHED = "finished"
    STOPPED = "stopped"

    @property
    def advice(self) -> str:
        """What it means, and what to do about it."""
        return {
            Status.CONVERGED: "The certified gap is within tol, or the gradient within gradient_tol.",
            Status.MAX_ITER: "max_iter was reached: raise max_iter, tol or alpha, or use scale=True.",
            Status.LIMITED: "The loss's own accuracy allows no smaller gap: raise tol or alpha, lower its eps, or have "
            "scores in float64.",
            Status.STALLED: "Rounding leaves no room for progress: raise tol or alpha, or use scale=True.",
            Status.FINISHED: "All steps were made: a stochastic solver has no certificate.",
            Status.STOPPED: "The held-out queries gained nothing more.",
        }[self]


class Iteration(NamedTuple):
    """One line of a solver's history."""

    iteration: int
    objective: float  # the best value so far
    gap: float  # certified: the best value is at most so far above the minimum
    seconds: float


@dataclass(frozen=True)
class Solution:
    """The best point found, with its certificate.

    Attributes
    ----------
    w : (d,)
        The weights.
    value : float
        f(w).
    gap : float
        At most so far is f(w) above its minimum; NaN where nothing is known.
    status : Status
        How the solver ended, or the word for it: anything but "converged" is told by a ConvergenceWarning.
    history : list of Iteration
        One entry an iteration; the last one's number is `n_iter`.
    state : object
        What a start from this solution can use again, if anything: for any alpha, but the same data, scale and loss.
    """

    w: FloatArray
    value: float
    gap: float
    status: Status
    history: list[Iteration]
    state: Any = field(default=None, repr=False)

    @property
    def n_iter(self) -> int:
        """Number of iterations made."""
        return self.history[-1].iteration if self.history else 0


def plain_history(history: list[Iteration]) -> list[tuple[int, float, float, float]]:
    """A history in types that every tool stores: tuples of (iteration, objective, gap, seconds)."""
    return [(int(number), float(objective), float(gap), float(seconds)) for number, objective, gap, seconds in history]


def checked(solution: Any, n_features: int) -> Solution:
    """A solver's answer, its status and history as they should be; a sentence says what is wrong with it."""
    if not isinstance(solution, Solution):
        raise ParameterError(f"The solver answers by a {type(solution).__name__}: give a linrank.solvers.Solution.")
    if np.shape(solution.w) != (n_features,):
        shape = np.shape(solution.w)
        raise ParameterError(f"The solver's weights have shape {shape}: give one for each of {n_features} features.")
    try:
        status = Status(solution.status)
    except ValueError:
        words = ", ".join(repr(str(status)) for status in Status)
        raise ParameterError(f"The solver's status {solution.status!r} is not known: give one of {words}.") from None
    try:
        history = [Iteration(*entry) for entry in solution.history]
    except TypeError:
        raise ParameterError("The solver's history is no list of iterations: give linrank.solvers.Iteration.") from None
    return replace(solution, w=np.asarray(solution.w, dtype=np.float64), status=status, history=history)


Callback = Callable[[Iteration], None]


@runtime_checkable
class Solver(Protocol):
    """Minimises an objective, of which it sees d-vectors alone, to an upper bound on how far it is from the minimum.

    One instance serves several fits at once, each in a thread of its own: what it learns goes into `Solution.state`.
    """

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights, an earlier solution, or None; call `callback` once an iteration."""
