"""Stochastic pairwise descent: steps on pairs that are drawn, never summed. Sculley, 2009; docs/stochastic.md.

A `Descent` is the descent under way: all that changes, and nothing else. The same seed gives the same bits, in however
many pieces the steps are made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from .._errors import DataError
from .._typing import FloatArray
from ..kernels import stochastic as kernels
from .draws import Draws
from .rows import Rows
from .rules import AnyRule

#: Entries of X read between two looks at the keyboard, and most steps: interrupts wait no longer than that.
PIECE_ENTRIES, PIECE_STEPS = 1 << 23, 1 << 14
#: Scales whose squares neither over- nor underflow.
SMALLEST_SCALE, LARGEST_SCALE = 1e-120, 1e120


@dataclass
class Descent:
    """A descent under way.

    Attributes
    ----------
    v, b, state
        w = state[0] * v, |w|^2 = state[0]^2 state[1], sum of averaged w = state[2] v - b; b is None without averaging.
    t : int
        Steps made, the schedule's counter.
    averaged : int
        Steps in the average.
    seed, counter : uint64
        The random stream, and its next unused number.
    """

    v: FloatArray
    b: FloatArray | None
    seed: np.uint64
    counter: np.uint64 = field(default_factory=lambda: np.uint64(0))
    t: int = 0
    averaged: int = 0
    state: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    @classmethod
    def begin(cls, w: FloatArray, metric: FloatArray | None, seed: int, t: int, average: bool) -> Self:
        """Start at w, in the units of X, as if after t steps."""
        descent = cls(w.astype(np.float64), np.zeros(w.size) if average else None, np.uint64(seed), t=t)
        descent.state[[kernels.SQUARE, kernels.PEAK]] = kernels.squared_norm(descent.v, metric)
        return descent

    def remeasured(self, metric: FloatArray | None, average: bool) -> Descent:
        """The same descent under another scale; an average goes on, begins or ends here."""
        self.state[[kernels.SQUARE, kernels.PEAK]] = kernels.squared_norm(self.v, metric)
        if not average:
            self.b = None
        elif self.b is None:
            self.b, self.averaged, self.state[kernels.TOTAL] = np.zeros(self.v.size), 0, 0.0
        return self

    def copy(self) -> Descent:
        """A copy that goes its own way."""
        return replace(self, v=self.v.copy(), b=None if self.b is None else self.b.copy(), state=self.state.copy())

    def divide(self, unit: FloatArray) -> None:
        """Divide the weights by `unit`: they were those of columns divided by it."""
        self.v /= unit
        if self.b is not None:
            self.b /= unit

    @property
    def coef(self) -> FloatArray:
        """The weights in the units of X: the last ones, or the mean of those after each step."""
        if self.b is None or self.averaged == 0:
            return self.state[kernels.FACTOR] * self.v
        return (self.state[kernels.TOTAL] * self.v - self.b) / self.averaged

    def check_finite(self) -> None:
        """Refuse weights that have overflowed."""
        if not np.all(np.isfinite(self.coef)):
            raise DataError(
                "The weights overflow: scale the features to sizes around 1, use scale=True, or raise alpha."
            )

    def run(
        self, rule: AnyRule, alpha: float, rows: Rows, metric: FloatArray | None, draws: Draws, n_steps: int
    ) -> None:
        """Make n_steps steps on pairs of rows; `metric` is 1/scale^2 or None for 1."""
        piece = max(1, min(PIECE_STEPS, PIECE_ENTRIES // max(1, 2 * rows.entries_a_row)))
        winner, loser, work = np.empty(piece, dtype=np.int64), np.empty(piece, dtype=np.int64), rows.work()
        last = self.t + n_steps
        while self.t < last:
            phase, end = rule.phase(self.t)
            compiled, end = phase.compiled(alpha), min(last, end)
            while self.t < end:
                n = int(min(piece, end - self.t))
                self.counter = draws.draw(self.seed, self.counter, winner[:n], loser[:n])
                rows.steps(compiled, metric, winner[:n], loser[:n], self, work)
                self.t += n
                self.averaged += n
