"""RankNCG's stand-in for the logistic loss, with 1 - erfc(a z)/2 in place of the sigmoid (section 4.2).

    phi'(z) = -erfc(a z) / 2,     a = sqrt(3) / (pi sqrt(2)),     |1 - erfc(a z)/2 - sigma(z)| < 0.023

phi is the integral of that, so that value, gradient and Hessian belong together and the certificate is true:

    phi(z) = e^{-a^2 z^2} / (2 a sqrt(pi)) - z erfc(a z) / 2,     phi''(z) = a e^{-a^2 z^2} / sqrt(pi).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import erfc

from .._errors import ParameterError
from .._typing import FloatArray, IntArray
from .._work import Work
from ..data.rankings import Rankings
from ..kernels import erfc as kernels
from ..summation import Series, parameters
from ._even import EvenLoss, EvenPairs, Members

A = float(np.sqrt(1.5) / np.pi)
ROOT_PI = float(np.sqrt(np.pi))
#: Levels of up to so many members are summed pair by pair.
SMALL_LEVEL = 32


@dataclass(frozen=True)
class LogisticErfc(EvenLoss):
    """The loss whose slope is -erfc(a z)/2; eps is the accuracy of its sums, relative to their weights."""

    eps: float = 1e-10

    name: ClassVar[str] = "logistic_erfc"
    strength: ClassVar[float] = 0.2
    phi_0: ClassVar[float] = 0.5 / (A * ROOT_PI)

    def __post_init__(self) -> None:
        if not 0 < self.eps < 1:
            raise ParameterError(f"eps={self.eps!r} must lie between 0 and 1.")

    def probability(self, z: FloatArray) -> FloatArray:
        """1 - erfc(a z)/2."""
        return np.asarray(0.5 * erfc(-A * z))

    def direct(self, s: FloatArray, p: Rankings, short: IntArray, g: FloatArray, work: Work) -> float:
        """Value and gradient of short rankings."""
        return float(kernels.surrogate_direct(s, p.member_weights, p.u, p.level_ptr, p.ranking_levels, short, A, g))

    def direct_product(
        self, s: FloatArray, p: Rankings, short: IntArray, V: FloatArray, out: FloatArray, work: Work
    ) -> None:
        """The Hessian of short rankings times V."""
        shape = p.level_ptr, p.ranking_levels, short
        kernels.surrogate_laplacian_direct(s, p.member_weights, p.u, *shape, A, V, out)

    def pairs(self, of: Members, g: FloatArray, work: Work) -> EvenPairs:
        """A long ranking."""
        return _SeriesPairs(self.eps, of, g, work)


class _SeriesPairs(EvenPairs):
    """Sums of erfc and Gaussians by the fast summation of section 5."""

    def __init__(self, eps: float, of: Members, g: FloatArray, work: Work) -> None:
        self.eps, self.parameters = eps, parameters(eps / 16.0)
        super().__init__(of, g, work)

    def series_error(self, size: float) -> float:
        """Every sum errs by eps times its weights; the slopes' enter the value times the scores."""
        weight = float(self.v.sum())
        return 2.0 * self.eps * weight * (weight + size)

    def prepare(self, s: FloatArray) -> None:
        """Scores in the units of erfc."""
        self.y = A * s

    def _sums(self, within: bool, q: FloatArray, erfc: FloatArray, gauss: FloatArray) -> None:
        """Sums of q erfc(y_i - y_j) and q e^-(y_i - y_j)^2 over all j, or those at the level of i."""
        y, ptr = (self.y[self.by_level], self.levels) if within else (self.y, self.whole)
        small = np.diff(ptr) <= SMALL_LEVEL
        kernels.direct_sums(ptr, np.flatnonzero(small), y, q, erfc, gauss)
        for k in np.flatnonzero(~small):
            here = slice(int(ptr[k]), int(ptr[k + 1]))
            erfc[here], gauss[here] = Series(y[here], q[here], self.parameters).erfc_and_gauss(y[here])
        gauss -= q  # of each row with itself

    def first_sums(self, within: bool, s: FloatArray, v: FloatArray, T: FloatArray) -> float:
        """T = sum of v erf/2, the even part by it and by Gaussians."""
        erfc, gauss = np.empty((2, v.size))
        self._sums(within, v, erfc, gauss)
        ptr = self.levels if within else self.whole
        total = np.repeat(np.add.reduceat(v, ptr[:-1]), np.diff(ptr))
        T[:] = 0.5 * (total - erfc)
        return float(v @ (s * T)) + float(v @ gauss) / (4.0 * A * ROOT_PI)

    def second_sums(self, within: bool, q: FloatArray, out: FloatArray) -> None:
        """Gaussian sums."""
        erfc = np.empty(q.size)
        self._sums(within, q, erfc, out)
        out *= A / ROOT_PI
