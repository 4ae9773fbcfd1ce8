"""The weight of pairs in the wrong order, ties one half, on a device."""

from __future__ import annotations

import math

import torch

from ...data.active import TINY
from ...losses import Sums
from ...losses.wrong_pairs import WrongPairs
from .layout import Layout
from .ops import Tensor
from .point import DeviceLoss, DevicePoint
from .sums import ActiveSums


class WrongPoint(DevicePoint):
    """Half of the pairs with s_i < s_j, and half of those with s_i <= s_j; the gradient is 0."""

    def __init__(self, layout: Layout, scores: Tensor) -> None:
        active = ActiveSums(layout, scores, (0.0, TINY))
        weights = active.sorted.weights()
        below, up_to = active.partners(weights.numbers)
        wrong = weights.value(below.winners) + weights.value(up_to.winners)
        self._value = 0.5 * layout.u * active.sorted.weighted(wrong)
        self.gradient = torch.zeros_like(layout.u)

    def columns(self) -> list[Tensor]:
        """The weight."""
        return [self._value]

    def sums(self, numbers: list[float], weight: float) -> Sums:
        """Value and weight."""
        return Sums(numbers[0], weight)


class DeviceWrongPairs(DeviceLoss[WrongPairs]):
    """The share of pairs in the wrong order."""

    def at(self, layout: Layout, scores: Tensor, width: float = math.inf) -> WrongPoint:
        """Their weight."""
        return WrongPoint(layout, scores)

    def moved(self, value: float, first: float, second: float) -> float:
        """A count jumps."""
        return math.inf
