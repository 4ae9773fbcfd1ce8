"""Losses, one file per phi."""

from __future__ import annotations

from ._base import Loss, LossPoint
from .hinge import Hinge

__all__ = ["LOSSES", "Hinge", "Loss", "LossPoint"]

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(),)}
