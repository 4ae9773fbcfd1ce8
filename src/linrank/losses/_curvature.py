"""The curvature of a pairwise loss: a Laplacian over the members, its weights c_ij phi''(s_i - s_j)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from .._work import Work
from ..data.rankings import Rankings

#: Laplacian times V of the short rankings listed, pair by pair: f(s, rankings, short, V, out, work).
DirectProduct = Callable[[FloatArray, Rankings, IntArray, FloatArray, FloatArray, Work], None]


class LongRanking(ABC):
    """A long ranking as it was evaluated: what its Hessian products need."""

    ranking: int

    @abstractmethod
    def multiply(self, u: float, V: FloatArray, out: FloatArray, work: Work) -> None:
        """Fill out with the ranking's Laplacian times V; u is the ranking's weight."""


@dataclass(frozen=True)
class PairCurvature:
    """The Laplacian of one block: short rankings pair by pair, long ones by what was kept of them."""

    scores: FloatArray
    rankings: Rankings
    short: IntArray
    direct: DirectProduct
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
