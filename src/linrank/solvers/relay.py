"""Two methods in turn: where the first gives up, the second goes on from there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from .._typing import FloatArray
from ..objective import Objective
from ._base import Callback, Solution, Status
from .bundle import Bundle, Planes
from .bundle.method import Cuts
from .certificate import Bounds
from .iterate import Run, drive
from .newton import Newton
from .newton.method import Iterate, WarmStart

#: The loop, for either method with its own state.
_drive: Callable[..., Run] = drive


@dataclass(frozen=True)
class Relay:
    """Newton's method and the bundle method, or the other way round: the first until it stalls, then the second.

    A start from what either left goes on with it.
    """

    first: Newton | Bundle
    second: Newton | Bundle

    def minimise(
        self, objective: Objective, start: FloatArray | Solution | None = None, callback: Callback | None = None
    ) -> Solution:
        """Minimise from `start`: weights, or an earlier solution of either method."""
        begin, method = time.perf_counter(), self._method(start)
        run = _drive(method, method.begin(objective, start), callback, begin)
        status = run.status
        if status is Status.STALLED and method is self.first:
            if len(run.history) >= self.second.max_iter:
                status = Status.MAX_ITER  # the second has none left
            else:
                method = self.second
                run = _drive(method, self._taken(objective, run.state), callback, begin, run.history)
                status = run.status
        best = method.result(run.state)
        return Solution(best.w, best.value, best.gap, status, run.history, method.left(run.state))

    def _method(self, start: FloatArray | Solution | None) -> Newton | Bundle:
        """The method that an earlier solution is from, or the first."""
        left = start.state if isinstance(start, Solution) else None
        kind = {Planes: Bundle, WarmStart: Newton}.get(type(left))
        return self.second if kind is type(self.second) else self.first

    def _taken(self, objective: Objective, state: Iterate | Cuts) -> Iterate | Cuts:
        """The second method at the first one's best point, with what is known of the minimum."""
        best, taken = state.best, self.second.begin(objective, state.best.w)
        return replace(taken, best=taken.best.joined(Bounds(best.w, best.value, best.lower, best.rounding, best.floor)))
