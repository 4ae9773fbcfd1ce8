"""Which file evaluates which loss on a device; somebody's own is refused, as it computes by numpy."""

from __future__ import annotations

from typing import Any

from ..._errors import ParameterError
from ...losses import Hinge, HuberHinge, Logistic, LogisticErfc, Loss, SquaredHinge
from ...losses.wrong_pairs import WrongPairs
from .hinge import DeviceHinge
from .huber_hinge import DeviceHuberHinge
from .logistic import DeviceLogistic
from .logistic_erfc import DeviceLogisticErfc
from .point import DeviceLoss
from .squared_hinge import DeviceSquaredHinge
from .wrong_pairs import DeviceWrongPairs

#: By the very class: one derived from it may do something else.
LOSSES: dict[type[Loss], type[DeviceLoss[Any]]] = {
    Hinge: DeviceHinge,
    HuberHinge: DeviceHuberHinge,
    Logistic: DeviceLogistic,
    LogisticErfc: DeviceLogisticErfc,
    SquaredHinge: DeviceSquaredHinge,
    WrongPairs: DeviceWrongPairs,
}


def on_device(loss: Loss) -> DeviceLoss[Any]:
    """How a loss is evaluated on a device."""
    kind = LOSSES.get(type(loss))
    if kind is None:
        raise ParameterError(
            f"The loss {loss.name!r} is not one of linrank's and cannot run on a torch device: leave `device` out to "
            "run it on the CPU."
        )
    return kind(loss)
