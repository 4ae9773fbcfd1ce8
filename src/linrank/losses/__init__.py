"""Losses, one file per phi."""

from __future__ import annotations

from typing import cast

import numpy as np

from .._errors import ParameterError
from .._work import Work
from ..data.checks import check_own
from ..data.rankings import Rankings
from ._base import AnyLoss, Curvature, HingeSums, Loss, LossPoint, OwnLoss, Sums
from .hinge import Hinge
from .huber_hinge import HuberHinge
from .logistic import Logistic
from .logistic_erfc import LogisticErfc
from .squared_hinge import SquaredHinge

__all__ = [
    "KINDS",
    "LOSSES",
    "AnyLoss",
    "Curvature",
    "Hinge",
    "HingeSums",
    "HuberHinge",
    "Logistic",
    "LogisticErfc",
    "Loss",
    "LossPoint",
    "Rankings",
    "SquaredHinge",
    "Sums",
    "Work",
    "as_loss",
]

#: Losses that come with linrank: values, which a model file holds by their fields.
KINDS = (Hinge, SquaredHinge, HuberHinge, Logistic, LogisticErfc)
#: By the names rankers take.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Logistic(), LogisticErfc())}


def as_loss(given: object) -> Loss:
    """A loss by its name, or anybody's own; a ParameterError says what is wrong with anything else."""
    if isinstance(given, str) and given in LOSSES:
        return LOSSES[given]
    if type(given) in (*KINDS, OwnLoss):
        return cast(Loss, given)
    check_own("loss", given, tuple(LOSSES), ("name", "smooth", "at"))
    own = OwnLoss(cast(AnyLoss, given))
    if not isinstance(own.name, str) or not isinstance(own.smooth, (bool, np.bool_)):
        raise ParameterError(f"loss={given!r}: its name must be a text, and its smooth True or False.")
    return own


def known_name(loss: Loss) -> str | None:
    """The name of a loss of the library's; None for somebody's own, whatever it is called."""
    return None if isinstance(loss, OwnLoss) else loss.name
