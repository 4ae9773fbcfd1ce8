"""Losses, one file per phi."""

from __future__ import annotations

from ._base import Curvature, Loss, LossPoint
from .hinge import Hinge
from .logistic import Logistic
from .logistic_erfc import LogisticErfc
from .squared_hinge import HuberHinge, SquaredHinge

__all__ = [
    "LOSSES",
    "Curvature",
    "Hinge",
    "HuberHinge",
    "Logistic",
    "LogisticErfc",
    "Loss",
    "LossPoint",
    "SquaredHinge",
]

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Logistic(), LogisticErfc())}
