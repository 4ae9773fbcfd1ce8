"""The pairwise logistic loss, phi(z) = log(1 + e^-z), without enumerating the pairs: RankNCG, section 3, made exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from .._typing import FloatArray, IntArray
from .._work import Work
from ..data.rankings import Rankings
from ..kernels import logistic as kernels
from ..kernels import logistic_direct as pairwise
from ._even import EvenLoss, EvenPairs, Members


@dataclass(frozen=True)
class Logistic(EvenLoss):
    """Mean of log(1 + e^-(s_i - s_j)) to 3e-12, in O(m log m) for any real-valued utilities: one sort, two sweeps."""

    name: ClassVar[str] = "logistic"
    strength: ClassVar[float] = 0.2
    phi_0: ClassVar[float] = float(np.log(2.0))

    def probability(self, z: FloatArray) -> FloatArray:
        """sigma(z)."""
        return np.asarray(expit(z))

    def direct(self, s: FloatArray, p: Rankings, short: IntArray, g: FloatArray, work: Work) -> float:
        """Value and gradient of short rankings."""
        up, down = (work.take(name, s.size, np.float64) for name in ("up", "down"))
        shape = p.level_ptr, p.ranking_levels, short
        return float(pairwise.logistic_direct(s, p.v, p.u, *shape, g, up, down))

    def direct_product(
        self, s: FloatArray, p: Rankings, short: IntArray, V: FloatArray, out: FloatArray, work: Work
    ) -> None:
        """The Hessian of short rankings times V."""
        up, down = (work.take(name, s.size, np.float64) for name in ("up", "down"))
        shape = p.level_ptr, p.ranking_levels, short
        pairwise.logistic_laplacian_direct(s, p.v, p.u, *shape, V, out, up, down)

    def pairs(self, of: Members, g: FloatArray, work: Work) -> EvenPairs:
        """A long ranking."""
        return SortedPairs(of, g, work)

    @property
    def own_error(self) -> float:
        """The series': value and gradient of long rankings are exactly those of a function so close to the loss."""
        return kernels.ERROR


class SortedPairs(EvenPairs):
    """Logistic sums by the recurrence over exponentials of `kernels/logistic.py`."""

    def prepare(self, s: FloatArray) -> None:
        """Exponentials of the gaps between sorted scores, of all members and level by level."""
        self.x = {False: _gaps(self.whole, s)}
        self.side: IntArray | None = None
        if self.levels.size == 3:  # two levels: against each other, and nothing within
            self.by_level, self.side = None, (self.order >= self.levels[1]).astype(np.int64)

    def mixed_weight(self) -> float:
        """Of two levels, twice the product of their weights."""
        if self.side is None:
            return super().mixed_weight()
        low, high = (float(self.v[a:b].sum()) for a, b in zip(self.levels[:-1], self.levels[1:], strict=True))
        return 2.0 * low * high

    def first_sums(self, within: bool, s: FloatArray, v: FloatArray, T: FloatArray) -> float:
        """One sweep in both directions."""
        if self.side is not None:
            states = np.empty((4, kernels.SLOPE.size))
            coefficients = kernels.SLOPE, kernels.VALUE
            return float(kernels.cross_sums(s, self.x[False], v, self.side, *coefficients, states, T))
        ptr = self.levels if within else self.whole
        if within not in self.x:
            self.x[within] = _gaps(ptr, s)
        ahead, back = np.empty((2, kernels.SLOPE.size))
        return float(kernels.pair_sums(ptr, s, self.x[within], v, kernels.SLOPE, kernels.VALUE, ahead, back, T))

    def second_sums(self, within: bool, q: FloatArray, out: FloatArray) -> None:
        """One sweep in both directions."""
        if self.side is not None:
            states = np.empty((4, kernels.SLOPE.size))
            kernels.cross_second_sums(self.x[False], q, self.side, kernels.SECOND, states, out)
            return
        ptr = self.levels if within else self.whole
        ahead, back = np.empty((2, kernels.SLOPE.size))
        kernels.second_sums(ptr, self.x[within], q, kernels.SECOND, ahead, back, out)


def _gaps(ptr: IntArray, s: FloatArray) -> FloatArray:
    x = np.empty(s.size)
    kernels.gaps(ptr, s, x)
    return x
