"""The Huberised hinge on a device: a parabola in the band of width mu below 1, the hinge inside.

As two squared hinges of opposite sign it would lose 1/mu in digits. In the band and inside it does not:

    phi(z) = h^2 / (2 mu)    where 1 - mu <= z < 1,        phi(z) = h - mu / 2    where z < 1 - mu,        h = 1 - z.

Sums over the band are those of the outer window less those of the inner one, in whole numbers: exact.
"""

from __future__ import annotations

import math

import torch

from ...losses import HingeSums, HuberHinge, Sums
from .layout import Layout
from .ops import Tensor
from .point import SmoothDeviceLoss, SmoothPoint
from .squared_hinge import ROUNDING, Hinges, laplacian
from .sums import ActiveSums, Partners


class HuberPoint(SmoothPoint):
    """Sum of c phi."""

    def __init__(self, layout: Layout, scores: Tensor, inside: float) -> None:
        self.active = active = ActiveSums(layout, scores, (1.0, inside))
        places, self.mu = active.sorted, 1.0 - inside
        weights, moments = places.weights(), places.moments()
        outer, inner = active.partners(weights.numbers)
        all_sums, inner_sums = active.partners(moments.numbers)
        self.band = outer.minus(inner)
        h = Hinges(places, 1.0, weights, self.band, moments, all_sums.minus(inner_sums))
        above, e = weights.value(inner.winners), weights.value(inner.winners - inner.losers)
        uv = places.weighted(layout.u)
        hinge = above + places.centred * e
        self._columns = [uv * part for part in (h.square, h.winners, h.size, hinge, above)]
        self.gradient = places.to_members(uv * (e + h.pull / self.mu))

    def columns(self) -> list[Tensor]:
        """Of the band sums of h^2, h and the size of its terms; inside sums of h and 1."""
        return self._columns

    def sums(self, numbers: list[float], weight: float) -> Sums:
        """Value, and what is known of the hinge."""
        square, band, size, inner, count = numbers
        value = inner - 0.5 * self.mu * count + 0.5 * square / self.mu
        slope, error = count + band / self.mu, ROUNDING * (count + size / self.mu)
        return Sums(value, weight, hinge=HingeSums(slope, inner + band, error))

    def product(self, x: Tensor) -> Tensor:
        """Over the pairs of the band."""

        def partners(numbers: Tensor) -> Partners:
            outer, inner = self.active.partners(numbers)
            return outer.minus(inner)

        return laplacian(self.active.sorted, self.band, x, 1.0 / self.mu, partners)


class DeviceHuberHinge(SmoothDeviceLoss[HuberHinge]):
    """The Huberised hinge."""

    def at(self, layout: Layout, scores: Tensor, width: float = math.inf) -> HuberPoint:
        """Value, gradient and curvature."""
        return HuberPoint(layout, scores, self.loss.steps[1][1])

    def second(self, z: Tensor) -> Tensor:
        """1/mu in the band."""
        _, (outer, inside) = self.loss.steps
        return ((z < outer) & ~(z < inside)).to(torch.float64) / (outer - inside)
