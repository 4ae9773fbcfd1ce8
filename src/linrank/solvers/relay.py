"""Two methods in turn: Newton's, and where it gives up, the bundle method from there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .._typing import FloatArray
from ..objective import Objective
from ._base import Callback, Solution, Status
from .bundle import Bundle, Planes
from .bundle.method import Cuts
from .certificate import Bounds, Certificate
from .iterate import iterate
from .newton import Newton
from .newton.method import Iterate, WarmStart


@dataclass(frozen=True)
class Relay:
    """The first method until it is stuck, then the second; a start from what the second left begins with it."""

    first: Newton
    second: Bundle

    stall = Bundle.stall

    @property
    def max_iter(self) -> int:
        """Of both together."""
        return self.second.max_iter

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights, or an earlier solution of either method."""
        return iterate(self, objective, start, callback)

    def begin(self, objective: Objective, start: FloatArray | Solution | None) -> Iterate | Cuts:
        """As the method that an earlier solution is from, or as the first."""
        second = isinstance(start, Solution) and isinstance(start.state, Planes)
        return self.second.begin(objective, start) if second else self.first.begin(objective, start)

    def step(self, state: Iterate | Cuts) -> Iterate | Cuts:
        """A step of the method whose state it is; where the first is stuck, the second takes over its best point."""
        if isinstance(state, Cuts):
            return self.second.step(state)
        found = self.first.step(state)
        if not found.stuck or self.ends(found) is not None:
            return found
        best = found.best
        taken = self.second.begin(found.point.objective, best.w)
        return replace(taken, best=taken.best.joined(Bounds(best.w, best.value, best.lower, best.rounding, best.floor)))

    def ends(self, state: Iterate | Cuts) -> Status | None:
        """By the gap."""
        return state.goal.ends(state.best, state.point)

    def result(self, state: Iterate | Cuts) -> Certificate:
        """The best point."""
        return state.best

    def left(self, state: Iterate | Cuts) -> WarmStart | Planes:
        """What its method leaves."""
        return self.second.left(state) if isinstance(state, Cuts) else self.first.left(state)
