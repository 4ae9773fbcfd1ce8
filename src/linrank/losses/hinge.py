"""The pairwise hinge loss, phi(z) = max(0, 1 - z): TreeRSVM, section 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._data import RankingData
from .._preferences import FloatArray
from ..kernels.hinge import hinge_sums
from ._base import Loss, LossPoint, Map, count_active, gather_block, scatter_block


@dataclass(frozen=True)
class Hinge(Loss):
    """Mean of max(0, margin - (s_i - s_j)), in O(m log m) for any real-valued utilities; the margin is 1."""

    margin: float = 1.0

    name: ClassVar[str] = "hinge"
    smooth: ClassVar[bool] = False

    @property
    def value_at_zero(self) -> float:
        """phi(0)."""
        return max(0.0, self.margin)

    def at(self, scores: FloatArray, data: RankingData, map: Map = map) -> LossPoint:
        """Value and a subgradient at the scores; a pair exactly at the margin counts as inactive."""
        p = data.preferences
        gradient = np.zeros(scores.size)

        def evaluate(block: int) -> float:
            first, last = int(p.blocks[block]), int(p.blocks[block + 1])
            gather_block(scores, p, block, s)
            count_active(s, p, first, last, self.margin, c, d)
            value = hinge_sums(s, p.v, p.u, p.ranking_ptr, first, last, self.margin, c, d)
            scatter_block(d, 1.0 / p.total, p, block, gradient)
            return value

        with p.scratch.lend() as own:
            s, c, d = (own.take(name, p.row.size, np.float64) for name in "scd")
            value = sum(map(evaluate, range(p.n_blocks)))
        return LossPoint(value / p.total, gradient)
