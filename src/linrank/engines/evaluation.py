"""A loss at the scores of a local engine: one point a block, and the products with X that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..data.mapped import unlocked
from ..data.rankings import Preferences, Rankings
from ..kernels.hinge import scatter_add
from ..kernels.products import slope_and_size
from ..losses import Curvature, Loss, LossPoint, Sums
from ..losses._base import add_sums
from ..losses._curvature import PairCurvature
from .hessian import by_pairs, explicit_pairs, half_hessian, hessian_by_columns
from .outer import Ask, Outer, outer
from .reading import Reading

if TYPE_CHECKING:
    from .local import LocalEngine


class Block(NamedTuple):
    """Some rankings, and where their members stand among all."""

    rankings: Rankings
    members: slice


@dataclass(frozen=True)
class LocalScores:
    """A score for each member of a ranking, in the members' order: losses read them as they stand."""

    values: FloatArray


class LocalEvaluation:
    """A loss at given scores of a local engine: one point a block."""

    def __init__(self, engine: LocalEngine, loss: Loss, s: LocalScores, d: LocalScores | None, t: float) -> None:
        self.engine, self.loss = engine, loss
        self._recipe = None if d is None else (s, d, t)
        self._scores: LocalScores | None = s if d is None else LocalScores(np.empty(s.values.size))

        def one(block: Block) -> tuple[LossPoint, Sums]:
            here, step = self.scores.values[block.members], None if d is None else d.values[block.members]
            if self._recipe is not None:
                _move(here, *self._recipe, block)
            point = self._at(block)
            slope, size = slope_and_size(self._over_members(point.gradient, here), here, step)
            return point, point.sums._replace(slope=slope, size=size)

        answers = engine.map(one, engine.blocks)
        self._points: list[LossPoint] | None = [point for point, _ in answers]
        self.sums = add_sums([sums for _, sums in answers])

    @property
    def scores(self) -> LocalScores:
        """A handle to s + t d; computed again, to the same bits, where they were let go."""
        if self._scores is None and self._recipe is not None:
            (s, d, t), values = self._recipe, np.empty(self._recipe[0].values.size)
            self.engine.map(lambda block: _move(values[block.members], s, d, t, block), self.engine.blocks)
            self._scores = LocalScores(values)
        assert self._scores is not None
        return self._scores

    @scores.setter
    def scores(self, given: LocalScores) -> None:
        self._scores, self._recipe = given, None

    def _at(self, block: Block) -> LossPoint:
        """The loss of a block at its scores."""
        with self.engine.work.lend() as work:
            return self.loss.at(self.scores.values[block.members], block.rankings, work)

    @property
    def points(self) -> list[LossPoint]:
        """The loss at each block; computed again, to the same bits, where it was let go."""
        if self._points is None:
            _ = self.scores  # here, not on a thread of the pool: it would wait for the others
            self._points = self.engine.map(self._at, self.engine.blocks)
        return self._points

    def rest(self, used: LocalScores) -> None:
        """Let go of all that can be computed again: another point is looked at now, from the scores that are used.

        Scores on a line go as long as the line is in use; at its start they stay, and the way there is forgotten.
        """
        self._points = None
        if self._scores is used:
            self._recipe = None
        elif self._recipe is not None and self._recipe[0] is used:
            self._scores = None

    def _over_members(self, values: FloatArray, scores: FloatArray) -> FloatArray:
        """What a loss answers, if it has a value for each member: kernels do not look."""
        if values.shape != scores.shape or values.dtype != np.float64:
            raise DataError(
                f"The loss {self.loss.name!r} gives {values.dtype} values of shape {values.shape} for {scores.size} "
                "scores: give a float64 for each."
            )
        return values

    def gradient(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T g."""
        if self._scores is not None:
            self._recipe = None  # a search ends here: it must not keep the scores where it began
        return self.engine.transpose_dot(self.engine.exact, [point.gradient for point in self.points], scale)

    def hessian_product(self, v: FloatArray, exact: bool = True, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X v; not exact: by X in float32."""
        reading, v = self.engine.exact if exact else self.engine.fast, self.engine.checked(v)
        w = v if scale is None else v / self.engine.checked(scale)
        return self._back(reading, self.engine.dot(reading, w), scale)

    def _back(self, reading: Reading, V: FloatArray, scale: FloatArray | None) -> FloatArray:
        """X^T L V for a vector over the members."""
        return self.engine.transpose_dot(reading, self.curvature_products(V), scale)

    def curvature_products(self, V: FloatArray) -> list[FloatArray]:
        """L V for a vector over the members, block by block."""

        def one(k: int) -> FloatArray:
            with self.engine.work.lend() as work:
                here = V[self.engine.blocks[k].members]
                return self._over_members(self._curvature(k).product(here, work), here)

        return self.engine.map(one, range(len(self.points)))

    def hessian(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X with the columns of X divided by `scale`."""
        steps, data, pairs = self.loss.steps, self.engine.data, self.engine.data.preferences.longest == 2
        unit, X = self.engine.divisors(scale), unlocked(data.X)
        if steps is None and not pairs:
            reading, to_members = self.engine.exact, self.engine.to_members
            return hessian_by_columns(lambda x: self._back(reading, to_members(x, reading), scale), X, unit)

        def one(k: int) -> FloatArray:
            block = self.engine.blocks[k]
            with self.engine.work.lend() as work:
                if steps is not None and not pairs:
                    here = self.scores.values[block.members]
                    return half_hessian(X, unit, here, block.rankings, steps, work)
                found = explicit_pairs(self._curvature(k), block.rankings, work)
                return by_pairs(X, unit, block.rankings, found, work)

        shape = data.n_features, data.n_features
        half = sum(self.engine.map(one, range(len(self.points))), np.zeros(shape))
        return half + half.T

    def outer(
        self,
        units: str = "queries",
        scale: FloatArray | None = None,
        shift: FloatArray | None = None,
        along: FloatArray | None = None,
    ) -> Outer:
        """Sum over units of psi psi^T."""
        return outer(self, Ask.of(self.engine.data, self.loss, units, scale, shift, along))

    def row_gradient(self) -> FloatArray:
        """The gradient over the rows."""
        g = np.zeros(self.engine.data.n_rows)
        for point, block in zip(self.points, self.engine.blocks, strict=True):
            scatter_add(block.rankings.row, point.gradient, 1.0, 0, point.gradient.size, g)
        return g

    def gradient_of(self, preferences: Preferences) -> FloatArray:
        """The gradient over the rows of other preferences between them."""
        rows, g = np.zeros(self.engine.data.n_rows), np.zeros(self.engine.data.n_rows)
        rows[self.engine.data.preferences.row] = self.scores.values
        for p in map(preferences.block, range(preferences.n_blocks)):
            with self.engine.work.lend() as work:
                here = self.loss.at(rows[p.row], p, work).gradient
            scatter_add(p.row, here, 1.0, 0, here.size, g)
        return g

    def turn(self, x: FloatArray) -> FloatArray:
        """A x for a vector over the rows, from 0 to 1, A the slopes of single pairs: in the calling thread."""
        out = np.zeros(x.size)
        for k, block in enumerate(self.engine.blocks):
            curvature, row = self.points[k].curvature, block.rankings.row
            assert isinstance(curvature, PairCurvature)
            with self.engine.work.lend() as work:
                scatter_add(row, curvature.turn(x[row], work), 1.0, 0, row.size, out)
        return out

    def _curvature(self, block: int) -> Curvature:
        curvature = self.points[block].curvature
        if curvature is None:
            raise ParameterError(f"The loss {self.loss.name!r} is not smooth and has no Hessian: use solver='bundle'.")
        return curvature


def _move(here: FloatArray, s: LocalScores, d: LocalScores, t: float, block: Block) -> None:
    """Scores of a block on the line s + t d."""
    np.multiply(d.values[block.members], t, out=here)
    here += s.values[block.members]
