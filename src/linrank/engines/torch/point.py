"""A loss on a device: what each file of a loss has, and what is known of it at given scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from ...losses import Loss, Sums
from .layout import Layout
from .ops import Tensor

L = TypeVar("L", bound=Loss)


class DevicePoint(ABC):
    """A loss at given scores. `gradient` is over members, as are the arguments and answers of `product`."""

    gradient: Tensor

    @abstractmethod
    def columns(self) -> list[Tensor]:
        """Vectors over members, in any order, whose sums `sums` is told."""

    @abstractmethod
    def sums(self, numbers: list[float], weight: float) -> Sums:
        """The loss's sums, but for slope and size."""

    def product(self, x: Tensor) -> Tensor:
        """The Hessian, a Laplacian over members, times x."""
        raise NotImplementedError


class DeviceLoss(ABC, Generic[L]):
    """How a loss is evaluated on a device; no transfer but where it says so."""

    #: Numbers that an evaluation reads back before it ends: transfers.
    reads: int = 0

    def __init__(self, loss: L) -> None:
        self.loss = loss

    @abstractmethod
    def at(self, layout: Layout, scores: Tensor) -> DevicePoint:
        """Evaluate at the members' scores."""

    def second(self, z: Tensor) -> Any:
        """phi''(z), for exact Hessians."""
        raise NotImplementedError
