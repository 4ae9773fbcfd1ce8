"""The curvature of a pairwise loss: a Laplacian over the members, its weights c_ij phi''(s_i - s_j).

Beside it the slopes c_ij phi'(s_i - s_j) of single pairs, as an antisymmetric matrix A over the members: A_ij is that
of a winner i over j, and A_ji its negative. The gradient is A 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray, IntArray
from .._work import Work
from ..data.rankings import Rankings

#: Laplacian times V of the short rankings listed, pair by pair: f(s, rankings, short, V, out, work).
DirectProduct = Callable[[FloatArray, Rankings, IntArray, FloatArray, FloatArray, Work], None]
#: Gradient of the short rankings listed, pair by pair: f(s, rankings, short, out, work).
DirectGradient = Callable[[FloatArray, Rankings, IntArray, FloatArray, Work], object]


class LongRanking(ABC):
    """A long ranking as it was evaluated: what its Hessian products need."""

    ranking: int

    @abstractmethod
    def multiply(self, u: float, V: FloatArray, out: FloatArray, work: Work) -> None:
        """Fill out with the ranking's Laplacian times V; u is the ranking's weight."""

    @abstractmethod
    def turn(self, u: float, s: FloatArray, V: FloatArray, out: FloatArray, work: Work) -> None:
        """Fill out with A V, s the scores that it was evaluated at."""


@dataclass(frozen=True)
class PairCurvature:
    """The Laplacian of one block: short rankings pair by pair, long ones by what was kept of them."""

    scores: FloatArray
    rankings: Rankings
    short: IntArray
    direct: DirectProduct
    slopes: DirectGradient
    long: Sequence[LongRanking]

    def product(self, v: FloatArray, work: Work) -> FloatArray:
        """Laplacian times a vector over the members."""
        out = np.empty(v.size)
        if self.short.size:
            self.direct(self.scores, self.rankings, self.short, v, out, work)
        for kept in self.long:
            here = self.rankings.members(kept.ranking)
            kept.multiply(float(self.rankings.u[kept.ranking]), v[here], out[here], work)
        return out

    def turn(self, v: FloatArray, work: Work) -> FloatArray:
        """A times a vector over the members, none of it below 0.

        Of short rankings by their gradient: with weights times z = 1 + v it is z (A z), and A z = A 1 + A v.
        """
        out = np.empty(v.size)
        if self.short.size:
            plain, z, weights = np.empty(v.size), 1.0 + v, self.rankings.member_weights
            for given, into in (
                (weights, plain),
                (weights * z, out),
            ):  # ones as well, or sums would differ in their bits
                self.slopes(self.scores, replace(self.rankings, v=given), self.short, into, work)
            out /= z
            out -= plain
        for kept in self.long:
            here = self.rankings.members(kept.ranking)
            kept.turn(float(self.rankings.u[kept.ranking]), self.scores[here], v[here], out[here], work)
        return out
