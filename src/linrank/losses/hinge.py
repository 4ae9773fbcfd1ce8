"""The pairwise hinge loss, phi(z) = max(0, 1 - z): TreeRSVM, section 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from .._work import Work
from ..data import active
from ..data.rankings import Rankings
from ..kernels.hinge import hinge_sums
from ._base import Loss, LossPoint, Sums
from .huber_hinge import HuberHinge


@dataclass(frozen=True)
class Hinge(Loss):
    """Sum of c max(0, margin - (s_i - s_j)), in O(m log m) for any real-valued utilities; the margin is 1.

    counting : as in `SquaredHinge`; "pairs" is PairRSVM, "levels" the O(rm) method, "tree" TreeRSVM.
    """

    margin: float = 1.0
    counting: str = "auto"

    name: ClassVar[str] = "hinge"
    strength: ClassVar[float] = 0.5
    smooth: ClassVar[bool] = False

    def __post_init__(self) -> None:
        active.check_counting(self.counting)

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Value and a subgradient of one block; a pair exactly at the margin counts as inactive."""
        r = rankings
        c, d = work.take("c", r.n_members, np.float64), np.empty(r.n_members)
        active.active_counts(scores, r, self.margin, c, d, work, self.counting)
        value = hinge_sums(scores, r.v, r.u, r.ranking_ptr, 0, r.n_rankings, self.margin, c, d)
        return LossPoint(Sums(value, r.weight), d)

    def at_zero(self, rankings: Rankings, work: Work) -> Sums:
        """N phi(0)."""
        return Sums(max(0.0, self.margin) * rankings.weight, rankings.weight)

    def smoothed(self, mu: float) -> Loss | None:
        """The Huberised hinge."""
        return HuberHinge(mu, self.counting) if self.margin == 1.0 else None
