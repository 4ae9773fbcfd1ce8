"""A loss over the rows of a data set, block after block, without an engine: the way from members to rows, spelt out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from .._work import Work
from ..data.ranking_data import RankingData
from ..data.rankings import Rankings
from ..losses import Loss, LossPoint, Sums


@dataclass(frozen=True)
class RowPoint:
    """A loss at given scores of all rows: its sums, and the mean loss with its gradient over rows."""

    blocks: Sequence[tuple[Rankings, LossPoint]]
    sums: Sums
    value: float
    gradient: FloatArray

    def product(self, v: FloatArray) -> FloatArray:
        """The Hessian of the mean loss times a vector over rows."""
        out = np.zeros(v.size)
        for rankings, point in self.blocks:
            assert point.curvature is not None
            np.add.at(out, rankings.row, point.curvature.product(v[rankings.row], Work()))
        return out / self.sums.weight


def loss_at(loss: Loss, scores: FloatArray, data: RankingData) -> RowPoint:
    """The loss at one score for each row."""
    p = data.preferences
    blocks, sums, gradient = [], Sums(), np.zeros(data.n_rows)
    for rankings in map(p.block, range(p.n_blocks)):
        point = loss.at(scores[rankings.row], rankings, Work())
        np.add.at(gradient, rankings.row, point.gradient)
        blocks.append((rankings, point))
        sums = sums + point.sums
    return RowPoint(blocks, sums, sums.value / sums.weight, gradient / sums.weight)
