"""Losses, one file per phi."""

from __future__ import annotations

from .._preferences import Rankings
from .._work import Work
from ._base import AnyLoss, Curvature, HingeSums, Loss, LossPoint, OwnLoss, Sums
from .hinge import Hinge
from .logistic import Logistic
from .logistic_erfc import LogisticErfc
from .squared_hinge import HuberHinge, SquaredHinge

__all__ = [
    "LOSSES",
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

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Logistic(), LogisticErfc())}


def as_loss(given: object) -> Loss | None:
    """A loss by its name, or anybody's own; None for anything else."""
    if isinstance(given, Loss):
        return given
    if isinstance(given, str):
        return LOSSES.get(given)
    return OwnLoss(given) if isinstance(given, AnyLoss) and not isinstance(given, type) else None
