"""The logistic loss on a device: log(1 + e^-z) = -z/2 + log(2 cosh(z/2))."""

from __future__ import annotations

import numpy as np
import torch

from .even import EvenDeviceLoss, Kernel
from .ops import Tensor

#: e^-38 is below half a unit of 1.
KERNEL = Kernel(
    lambda z: 0.5 * np.abs(z) + np.log1p(np.exp(-np.abs(z))),
    lambda z: 0.5 * np.tanh(0.5 * z),
    lambda z: 0.25 / np.cosh(0.5 * z) ** 2,
    reach=38.0,
)


class DeviceLogistic(EvenDeviceLoss):
    """The logistic loss."""

    @property
    def kernel(self) -> Kernel:
        """log(2 cosh(z/2))."""
        return KERNEL

    def second(self, z: Tensor) -> Tensor:
        """sigma(z) sigma(-z)."""
        return torch.sigmoid(z) * torch.sigmoid(-z)
