"""The squared hinge, phi(z) = max(0, 1 - z)^2: P-SWX, section 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..data import active
from ._base import Steps
from ._quadratic import PiecewiseQuadratic


@dataclass(frozen=True)
class SquaredHinge(PiecewiseQuadratic):
    """Sum of c max(0, 1 - (s_i - s_j))^2, in O(m log m).

    counting : {"auto", "pairs", "levels", "tree"}
        How active partners are found: pair by pair, by counts taken anew for each level, by a tree of counts, or by
        whichever is fastest for a ranking.
    """

    counting: str = "auto"

    name: ClassVar[str] = "squared_hinge"
    strength: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        active.check_counting(self.counting)

    @property
    def steps(self) -> Steps:  # type: ignore[override]
        """One step, of height 2 below 1."""
        return (1.0,), (1.0,)

    @property
    def tuning(self) -> active.Tuning:
        """The kernels that were asked for."""
        return active.tuning(self.counting)
