"""Stochastic pairwise descent: steps on pairs that are drawn, never summed. Sculley, 2009; docs/stochastic.md.

A `StepRule` says what a step does, a `Descent` is the descent under way: all that changes, and nothing else. The same
seed gives the same bits, in however many pieces the steps are made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from .._errors import ParameterError
from .._typing import FloatArray
from ..kernels import stochastic as kernels
from .samplers import Sampler

RULES = {
    "sgd": kernels.SGD,
    "pegasos": kernels.PEGASOS,
    "passive_aggressive": kernels.PASSIVE_AGGRESSIVE,
    "romma": kernels.ROMMA,
    "passive_aggressive_then_pegasos": kernels.PASSIVE_AGGRESSIVE_THEN_PEGASOS,
}
LOSS_NAMES = {"hinge": kernels.HINGE, "squared_hinge": kernels.SQUARED_HINGE, "logistic": kernels.LOGISTIC}

#: Entries of X read between two looks at the keyboard, and most steps: interrupts wait no longer than that.
PIECE_ENTRIES, PIECE_STEPS = 1 << 22, 1 << 12
#: Scales whose squares neither over- nor underflow.
SMALLEST_SCALE, LARGEST_SCALE = 1e-120, 1e120


@dataclass(frozen=True)
class StepRule:
    """w <- s w + c x on a pair's difference x; `decay` None means the step size 1/(alpha i)."""

    rule: str = "pegasos"
    loss: str = "hinge"
    alpha: float = 1e-4
    C: float = 1.0
    decay: float | None = None
    switch: int = 10_000

    def __post_init__(self) -> None:
        if self.loss != "hinge" and self.rule not in ("sgd", "pegasos"):
            raise ParameterError(
                f"rule={self.rule!r} is made for the hinge: use loss='hinge', or rule='pegasos' or 'sgd' with "
                f"loss={self.loss!r}."
            )

    def compiled(self) -> kernels.Rule:
        """The rule as kernels take it."""
        return kernels.Rule(
            RULES[self.rule],
            LOSS_NAMES[self.loss],
            float(self.alpha),
            float(self.C),
            0.0 if self.decay is None else float(self.decay),
            int(self.switch),
        )


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

    def run(self, rule: StepRule, X: Any, metric: FloatArray | None, sampler: Sampler, n_steps: int) -> None:
        """Make n_steps steps on pairs of rows of X; `metric` is 1/scale^2 or None for 1."""
        compiled, sparse = rule.compiled(), sp.issparse(X)
        entries = 2 * X.nnz // X.shape[0] if sparse else 2 * X.shape[1]
        piece = max(1, min(PIECE_STEPS, PIECE_ENTRIES // max(1, entries)))
        winner, loser = np.empty(piece, dtype=np.int64), np.empty(piece, dtype=np.int64)
        work = np.zeros(X.shape[1]) if sparse else None
        rows = (X.data, X.indices, X.indptr) if sparse else X
        last = self.t + n_steps
        while self.t < last:
            n = min(piece, last - self.t)
            self.counter = sampler.draw(self.seed, self.counter, winner[:n], loser[:n])
            self._step(rows, work, metric, winner[:n], loser[:n], compiled)
            self.t += n
            self.averaged += n

    def _step(self, rows: Any, work: Any, metric: Any, winner: Any, loser: Any, rule: kernels.Rule) -> None:
        here = metric, winner, loser, rule, self.t, self.v, self.b, self.state
        if work is None:
            kernels.dense_steps(rows, *here)
        else:
            data, indices, indptr = rows
            kernels.csr_steps(data, indices, indptr, *here, work)
