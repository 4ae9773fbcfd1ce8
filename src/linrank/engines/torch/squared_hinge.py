"""The squared hinge on a device: P-SWX, equations (4) to (8), by windows over sorted scores.

With h = max(0, m - z), a member's sums of v h over its active winners and losers are

    h+ = c (m + s) - S+,      h- = d (m - s) + S-,

c and d the weights of its partners, S+ and S- the sums of their v s. The gradient is 2 u v (h+ - h-), the sum of h over
pairs H = sum of v h+, and that of h^2 is m H + sum of v s (h+ - h-).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from ...losses import HingeSums, SquaredHinge, Sums
from .layout import Layout
from .ops import Tensor
from .point import SmoothDeviceLoss, SmoothPoint
from .sums import ActiveSums, Partners
from .windows import Sorted, Whole

#: About how far rounding moves sums of h, relative to the size of their terms.
ROUNDING = 8.0 * 2.0**-52


class Hinges:
    """Sums of h over the partners of each place."""

    def __init__(
        self, places: Sorted, m: float, weights: Whole, counts: Partners, moments: Whole, sums: Partners
    ) -> None:
        s, c, d = places.centred, weights.value(counts.winners), weights.value(counts.losers)
        self.winners = c * (m + s) - moments.value(sums.winners)
        self.losers = d * (m - s) + moments.value(sums.losers)
        self.pull = self.winners - self.losers
        self.square = m * self.winners + s * self.pull  # its sum, weighted, is that of h^2
        self.size = c * (m + s.abs())  # of the terms that may cancel in the first


class SquaredPoint(SmoothPoint):
    """Sum of c h^2."""

    def __init__(self, layout: Layout, scores: Tensor) -> None:
        self.active = active = ActiveSums(layout, scores, (1.0,))
        places, self.layout = active.sorted, layout
        weights, moments = places.weights(), places.moments()
        (self.counts,), (sums,) = active.partners(weights.numbers), active.partners(moments.numbers)
        h = Hinges(places, 1.0, weights, self.counts, moments, sums)
        uv = places.weighted(layout.u)
        self._columns = [uv * h.square, uv * h.winners]
        self.gradient = places.to_members(2.0 * uv * h.pull)

    def columns(self) -> list[Tensor]:
        """Sums of h^2 and of h."""
        return self._columns

    def sums(self, numbers: list[float], weight: float) -> Sums:
        """Value, and what is known of the hinge."""
        value, hinge = numbers
        return Sums(value, weight, hinge=HingeSums(2.0 * hinge, hinge, ROUNDING * (weight + hinge)))

    def product(self, x: Tensor) -> Tensor:
        """2 u v (n x - S), S the sum of v x over active partners."""
        return laplacian(self.active.sorted, self.counts, x, 2.0, lambda numbers: self.active.partners(numbers)[0])


def laplacian(
    places: Sorted, counts: Partners, x: Tensor, height: float, partners: Callable[[Tensor], Partners]
) -> Tensor:
    """Height times u v (n x - S) for a vector over members; constants are annihilated, so one is taken away first."""
    layout = places.layout
    x = x[places.order]
    x = x - x[layout.start]
    values = places.whole(x)
    sums = partners(values.numbers)
    n = places.weights().value(counts.winners + counts.losers)
    flow = n * x - values.value(sums.winners + sums.losers)
    return places.to_members(height * places.weighted(layout.u) * flow)


class DeviceSquaredHinge(SmoothDeviceLoss[SquaredHinge]):
    """The squared hinge."""

    def at(self, layout: Layout, scores: Tensor, width: float = math.inf) -> SquaredPoint:
        """Value, gradient and curvature."""
        return SquaredPoint(layout, scores)

    def second(self, z: Tensor) -> Tensor:
        """2 below 1."""
        return 2.0 * (z < 1.0).to(torch.float64)

    def moved(self, value: float, first: float, second: float) -> float:
        """The root of the sum of c h^2 is a norm of the h, which move by r_i + r_j at most: Minkowski."""
        return (2.0 * math.sqrt(max(value, 0.0)) + math.sqrt(second)) * math.sqrt(second)
