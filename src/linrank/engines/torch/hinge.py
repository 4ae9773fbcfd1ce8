"""The hinge on a device: counts of active partners, TreeRSVM's lemmas 1 and 2."""

from __future__ import annotations

import math

from ...losses import Hinge, Sums
from .layout import Layout
from .ops import Tensor
from .point import DeviceLoss, DevicePoint
from .sums import ActiveSums


class HingePoint(DevicePoint):
    """Sum of c max(0, m - z) = m sum(v c) + sum(s e), with e = c - d its gradient over v."""

    def __init__(self, layout: Layout, scores: Tensor, margin: float) -> None:
        active = ActiveSums(layout, scores, (margin,))
        places, weights = active.sorted, active.sorted.weights()
        (sums,) = active.partners(weights.numbers)
        above, e = weights.value(sums.winners), weights.value(sums.winners - sums.losers)
        self._value = layout.u * places.weighted(margin * above + places.centred * e)
        self.gradient = places.to_members(layout.u * places.weighted(e))

    def columns(self) -> list[Tensor]:
        """The value."""
        return [self._value]

    def sums(self, numbers: list[float], weight: float) -> Sums:
        """Value and weight."""
        return Sums(numbers[0], weight)


class DeviceHinge(DeviceLoss[Hinge]):
    """The hinge."""

    def at(self, layout: Layout, scores: Tensor, width: float = math.inf) -> HingePoint:
        """Value and a subgradient; a pair at the margin is inactive."""
        return HingePoint(layout, scores, self.loss.margin)
