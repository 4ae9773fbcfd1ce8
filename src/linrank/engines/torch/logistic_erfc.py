"""RankNCG's stand-in for the logistic loss on a device: to rounding, whatever the loss's own eps is."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import erf

from ...losses.logistic_erfc import ROOT_PI, A
from .even import EvenDeviceLoss, Kernel
from .ops import Tensor

#: erfc(6) is below half a unit of 1.
KERNEL = Kernel(
    lambda z: 0.5 * z * erf(A * z) + np.exp(-((A * z) ** 2)) / (2.0 * A * ROOT_PI),
    lambda z: 0.5 * erf(A * z),
    lambda z: A / ROOT_PI * np.exp(-((A * z) ** 2)),
    reach=6.0 / A,
)


class DeviceLogisticErfc(EvenDeviceLoss):
    """The stand-in."""

    @property
    def kernel(self) -> Kernel:
        """The integral of erf(a z)/2."""
        return KERNEL

    def second(self, z: Tensor) -> Tensor:
        """A e^-(a z)^2 / sqrt(pi)."""
        return A / ROOT_PI * torch.exp(-((A * z) ** 2))
