"""A loss on a device: what each file of a loss has, and what is known of it at given scores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from ...losses import Loss, Sums
from .layout import Layout
from .ops import Tensor

L = TypeVar("L", bound=Loss)


class DevicePoint(ABC):
    """A loss at given scores; `gradient` is over members."""

    gradient: Tensor

    @abstractmethod
    def columns(self) -> list[Tensor]:
        """Vectors over members, in any order, whose sums `sums` is told."""

    @abstractmethod
    def sums(self, numbers: list[float], weight: float) -> Sums:
        """The loss's sums, but for slope and size."""


class SmoothPoint(DevicePoint):
    """One that has a Hessian."""

    @abstractmethod
    def product(self, x: Tensor) -> Tensor:
        """The Hessian, a Laplacian over members, times a vector over members."""


class DeviceLoss(ABC, Generic[L]):
    """How a loss is evaluated on a device, without a transfer."""

    #: Whether `at` wants to know how far apart the scores of a ranking may be.
    asks_width: bool = False
    #: Bytes of a member in a fit; 0: what windows over sorted scores take.
    member_bytes: int = 0

    def __init__(self, loss: L) -> None:
        self.loss = loss

    @abstractmethod
    def at(self, layout: Layout, scores: Tensor, width: float = math.inf) -> DevicePoint:
        """Evaluate at the members' scores, those of a ranking no farther apart than `width`."""

    def moved(self, value: float, first: float, second: float) -> float:
        """How far the value moves at most where each score s_i does by r_i.

        `first` is the sum of c (r_i + r_j) over pairs, `second` that of c (r_i + r_j)^2. No slope of phi exceeds 1, but
        where a loss says otherwise.
        """
        return first


class SmoothDeviceLoss(DeviceLoss[L]):
    """One that has exact Hessians."""

    @abstractmethod
    def at(self, layout: Layout, scores: Tensor, width: float = math.inf) -> SmoothPoint:
        """Evaluate at the members' scores."""

    @abstractmethod
    def second(self, z: Tensor) -> Tensor:
        """phi''(z)."""
