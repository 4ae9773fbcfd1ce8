"""Two methods in turn: where the first gives up, the second goes on from there."""

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
    """Newton's method and the bundle method, or the other way round: the first until it is stuck, then the second.

    A start from what either left goes on with it.
    """

    first: Newton | Bundle
    second: Newton | Bundle

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
        left = start.state if isinstance(start, Solution) else None
        kind = {Planes: Bundle, WarmStart: Newton}.get(type(left))
        return (self.second if kind is type(self.second) else self.first).begin(objective, start)

    def step(self, state: Iterate | Cuts) -> Iterate | Cuts:
        """A step of the method whose state it is; where the first is stuck, the second takes over its best point."""
        method = self._method(state)
        found: Iterate | Cuts = method.step(state)  # type: ignore[arg-type]
        if method is self.second or not found.stuck or self.ends(found) is not None:
            return found
        best = found.best
        taken = self.second.begin(found.goal.objective, best.w)
        return replace(taken, best=taken.best.joined(Bounds(best.w, best.value, best.lower, best.rounding, best.floor)))

    def ends(self, state: Iterate | Cuts) -> Status | None:
        """By the gap."""
        return self._method(state).ends(state)  # type: ignore[arg-type]

    def result(self, state: Iterate | Cuts) -> Certificate:
        """The best point."""
        return state.best

    def left(self, state: Iterate | Cuts) -> WarmStart | Planes:
        """What its method leaves."""
        return self._method(state).left(state)  # type: ignore[arg-type]

    def _method(self, state: Iterate | Cuts) -> Newton | Bundle:
        """The method whose state it is."""
        return self.first if isinstance(state, Cuts) == isinstance(self.first, Bundle) else self.second
