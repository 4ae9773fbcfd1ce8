"""A loss by itself, without X: all blocks of a data set one after the other, with memory that is used again.

It is what an engine on one thread does with scores: they are gathered from the rows, each block is evaluated, and its
gradient is scattered back to the rows. All three are part of what is timed, as they were when losses did it themselves.
Beside it, products with X alone, on an engine's threads: its own begin and end in the order of the rankings.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.engines.matrix import Matrix
from linrank.kernels.hinge import gather, scatter_add
from linrank.losses import Loss, LossPoint, Work


@dataclass(frozen=True)
class Evaluated:
    """The mean loss and its gradient over the rows; the gradient is good until the next evaluation."""

    value: float
    gradient: np.ndarray
    points: list[LossPoint]


class Evaluator:
    """A data set's blocks, and memory for one task at a time."""

    def __init__(self, data: RankingData) -> None:
        p = data.preferences
        self.n_rows, self.total, self.work = data.n_rows, p.total, Work()
        self.blocks = [p.block(b) for b in range(p.n_blocks)]
        ends = p.ranking_ptr[p.blocks].tolist()
        self.members = [slice(first, last) for first, last in pairwise(ends)]

    def at(self, loss: Loss, scores: np.ndarray) -> Evaluated:
        """The loss at one score for each row."""
        s = self._gathered(scores)  # of its own: a curvature may keep it
        found = zip(self.blocks, self.members, strict=True)
        points = [loss.at(s[here], block, self.work) for block, here in found]
        value = sum(point.sums.value for point in points) / self.total
        return Evaluated(value, self._scattered([point.gradient for point in points]), points)

    def product(self, at: Evaluated, v: np.ndarray) -> np.ndarray:
        """The Hessian of the mean loss times a vector over the rows; good until the next evaluation."""
        members = self._gathered(v)
        found = zip(at.points, self.members, strict=True)
        return self._scattered([point.curvature.product(members[here], self.work) for point, here in found])

    def _gathered(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty(self.members[-1].stop)
        for block, here in zip(self.blocks, self.members, strict=True):
            gather(block.row, rows, 0, block.n_members, out[here])
        return out

    def _scattered(self, parts: list[np.ndarray]) -> np.ndarray:
        rows = self.work.zeros("rows", self.n_rows, np.float64)
        for block, part in zip(self.blocks, parts, strict=True):
            scatter_add(block.row, part, 1.0 / self.total, 0, part.size, rows)
        return rows


def evaluate_all(loss: Loss, scores: np.ndarray, data: RankingData) -> Evaluated:
    """The mean loss at one score for each row, once."""
    return Evaluator(data).at(loss, np.ascontiguousarray(scores, dtype=np.float64))


def dot(engine: LocalEngine, w: np.ndarray, matrix: Matrix | None = None) -> np.ndarray:
    """X w by rows; or that of another matrix, on the engine's threads."""
    matrix = matrix or engine.matrix
    scores = np.empty(matrix.shape[0])
    engine.map(lambda block: matrix.dot(w, block, scores), range(matrix.n_blocks))
    return scores


def transpose_dot(engine: LocalEngine, g: np.ndarray, matrix: Matrix | None = None) -> np.ndarray:
    """X^T g, g by rows; or that of another matrix."""
    matrix = matrix or engine.matrix
    total, *parts = engine.map(lambda block: matrix.transpose_dot(g, block), range(matrix.n_blocks))
    for part in parts:
        total += part
    return total
