"""A preconditioner corrected by what the last steps have shown: the two loops of limited-memory BFGS."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import numpy as np

from .._objective import Objective, Point
from .._preferences import FloatArray

#: Steps that are remembered.
MEMORY = 12


class Secants:
    """The last steps s and what they did to the gradient, y: the inverse Hessian takes y to s.

    Kept is what they did to the mean loss's gradient, so that they serve for any alpha.
    """

    def __init__(self, pairs: Iterable[tuple[FloatArray, FloatArray]] = ()) -> None:
        self.pairs = deque(pairs, maxlen=MEMORY)
        self._ready: list[tuple[FloatArray, FloatArray, float]] = []  # s, y and s.y with alpha added
        self._alpha = np.nan
        self._last: tuple[Objective, FloatArray, FloatArray] | None = None

    def note(self, point: Point) -> None:
        """Take note of a point; if the one before was of the same objective, of the step between them."""
        last, self._last = self._last, (point.objective, point.w, point.risk_gradient)
        if last is not None and last[0] is point.objective:
            s, y = point.w - last[1], point.risk_gradient - last[2]
            if float(s @ y) >= 0 and np.any(s):  # 0: the loss is flat there, which tells as much
                self.pairs.append((s, y))
                self._alpha = np.nan

    def apply(self, precondition: Callable[[FloatArray], FloatArray], r: FloatArray, alpha: float) -> FloatArray:
        """The corrected preconditioner times r; `precondition` takes vectors as columns, too."""
        if alpha != self._alpha:
            with_alpha = ((s, y + alpha * s) for s, y in self.pairs)
            self._ready, self._alpha = [(s, y, float(s @ y)) for s, y in with_alpha], alpha
        if not self._ready:
            return precondition(r)
        parts = []
        for s, y, sy in reversed(self._ready):
            parts.append(float(s @ r) / sy)
            r = r - parts[-1] * y
        s, y, sy = self._ready[-1]
        z, Py = precondition(np.array([r, y]).T).T
        z = z * (sy / float(y @ Py))  # the preconditioner may be too large or too small as a whole
        for (s, y, sy), part in zip(self._ready, reversed(parts), strict=True):
            z = z + (part - float(y @ z) / sy) * s
        return z
