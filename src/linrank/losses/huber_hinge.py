"""The Huberised hinge: the hinge with its kink rounded off, so that Newton's method can be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._errors import ParameterError
from ..data import active
from ._base import Steps
from ._quadratic import PiecewiseQuadratic


@dataclass(frozen=True)
class HuberHinge(PiecewiseQuadratic):
    """0 above 1, 1 - z - mu/2 below 1 - mu, a parabola between: smooth, and within mu/2 of the hinge."""

    mu: float
    counting: str = "auto"  # as in `SquaredHinge`

    name: ClassVar[str] = "huber_hinge"

    def __post_init__(self) -> None:
        active.check_counting(self.counting)
        if not 0 < self.mu < np.inf:
            raise ParameterError(f"mu={self.mu!r} must be a finite number above 0.")

    @property
    def tuning(self) -> active.Tuning:
        """The kernels that were asked for."""
        return active.tuning(self.counting)

    @property
    def steps(self) -> Steps:  # type: ignore[override]
        """For the nearest width by which 1 and 1 - mu differ exactly: slopes must not exceed 1."""
        inside = 1.0 - max(self.mu, float(np.finfo(np.float64).eps))
        width = 1.0 - inside
        return (0.5 / width, -0.5 / width), (1.0, inside)
