"""A loss at given scores on a device: one transfer, and the products with X that follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..._errors import ParameterError
from ..._typing import FloatArray
from ...losses import Loss, Sums
from ..outer import Ask, Outer
from . import hessian, pairs
from .layout import Layout
from .losses import on_device
from .ops import Tensor, totals
from .outer import outer
from .pairs import PairPoint
from .point import DevicePoint, SmoothDeviceLoss, SmoothPoint

if TYPE_CHECKING:
    from .engine import TorchEngine

#: Half a unit of a float32 number: how far rounding moves it, relative to its size.
SINGLE = 2.0**-24


@dataclass(frozen=True)
class TorchScores:
    """A score for each member, on the device of the engine that made it, and the w for which it is X w."""

    values: Tensor
    w: FloatArray
    layout: Layout

    def along(self, d: TorchScores, t: float) -> TorchScores:
        """Those of w + t d."""
        return TorchScores(self.values + t * d.values, self.w + t * d.w, self.layout)


class TorchEvaluation:
    """A loss at given scores on a device."""

    def __init__(
        self, engine: TorchEngine, loss: Loss, s: TorchScores, d: TorchScores | None, t: float, gradient: bool
    ) -> None:
        self.engine, self.loss, self.how = engine, loss, on_device(loss)
        self.scores = s if d is None else s.along(d, t)
        self._gradient: FloatArray | None = None
        self.point: DevicePoint | None = None
        if engine.layout.n_members == 0:
            self.sums, self._gradient = Sums(), np.zeros(engine.facts.features)
            return
        self.here = engine.rounded(self.scores)
        self.point = point = self.at(engine.layout)
        columns = [*point.columns(), *self._moves()]
        step = torch.zeros_like(point.gradient) if d is None else d.values
        columns += [point.gradient * step, point.gradient.abs() * self.scores.values.abs()]
        found = torch.cat([totals(columns), 0.0 * self.here.abs().max()[None]])  # NaN where a score is not finite
        if gradient:
            found = torch.cat([found, engine.transpose_dot(point.gradient)])
        numbers = found.cpu().numpy()
        if gradient:
            numbers, self._gradient = numbers[: -engine.facts.features], numbers[-engine.facts.features :]
        self.sums = self._told(numbers.tolist())

    def at(self, layout: Layout) -> DevicePoint:
        """The loss of the engine's rankings, or of the same with other weights: by pairs or by sorting."""
        how = self.how
        if pairs.fits(self.loss, layout):
            return PairPoint(self.loss, layout, self.here.to(torch.float64))
        return how.at(layout, self.here, self.engine.width(self.scores) if how.asks_width else math.inf)

    def _moves(self) -> list[Tensor]:
        """Vectors whose sums are those over pairs of c (r_i + r_j), and of at least half its square: r by rounding."""
        if not self.engine.single:
            return []
        r = SINGLE * self.here.abs().to(torch.float64)
        first = self.engine.layout.pair_weight * r
        return [first, first * r]

    def _told(self, numbers: list[float]) -> Sums:
        """Sums from what came down."""
        *own, along, large, nothing = numbers
        moves, own = (own[-2:], own[:-2]) if self.engine.single else ([], own)
        assert self.point is not None
        sums = self.point.sums(own, self.engine.data.preferences.total)
        error = 2.0 * self.how.moved(sums.value, moves[0], 2.0 * moves[1]) if moves else 0.0
        return sums._replace(value=sums.value + nothing, slope=along, size=large, error=sums.error + error)

    def gradient(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T g; a transfer where it did not come along."""
        if self._gradient is None:
            assert self.point is not None
            self._gradient = self.engine.transpose_dot(self.point.gradient).cpu().numpy()
        return self.engine.down(self._gradient, scale)

    def hessian_product(self, v: FloatArray, exact: bool = True, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X v: one transfer."""
        engine = self.engine
        x = engine.matrix.dot(engine.up(v if scale is None else v / engine.checked(scale)))
        if (point := self._smooth()) is None:
            return np.zeros(engine.facts.features)
        return engine.down(engine.transpose_dot(point.product(engine.layout.members(x))).cpu().numpy(), scale)

    def hessian(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X with the columns of X divided by `scale`: one transfer."""
        engine, point = self.engine, self._smooth()
        unit = engine.up(np.ones(engine.facts.features) if scale is None else scale)
        if point is None:
            return np.zeros((engine.facts.features, engine.facts.features))
        if engine.layout.longest > hessian.LONGEST:
            H = hessian.by_columns(engine.matrix, engine.layout, point.product, unit)
        else:
            place = engine.matrix, engine.layout, engine.data.preferences
            H = hessian.by_batches(*place, self.here.to(torch.float64), self._curved().second, unit)
        answer: FloatArray = H.cpu().numpy()
        return answer

    def outer(
        self,
        units: str = "queries",
        scale: FloatArray | None = None,
        shift: FloatArray | None = None,
        along: FloatArray | None = None,
    ) -> Outer:
        """Sum over units of psi psi^T."""
        return outer(self, Ask.of(self.engine.data, self.loss, units, scale, shift, along))

    def _curved(self) -> SmoothDeviceLoss[Any]:
        if not isinstance(self.how, SmoothDeviceLoss):
            raise ParameterError(f"The loss {self.loss.name!r} is not smooth and has no Hessian: use solver='bundle'.")
        return self.how

    def _smooth(self) -> SmoothPoint | None:
        """The point, which then has products; None where there are no pairs."""
        self._curved()
        assert self.point is None or isinstance(self.point, SmoothPoint)
        return self.point
