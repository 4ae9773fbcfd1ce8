"""A loss at given scores on the workers: what is asked of it later is asked by its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._errors import LinrankError
from ..._typing import FloatArray
from ...losses import Sums
from ..outer import Outer
from .recipes import Handle, Product

if TYPE_CHECKING:
    from .engine import DaskEngine


class DaskEvaluation:
    """A loss at given scores, on the workers."""

    def __init__(self, engine: DaskEngine, handle: Handle, sums: Sums, gradient: FloatArray | None) -> None:
        self.engine, self.scores, self.sums, self._gradient = engine, handle, sums, gradient

    def gradient(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T g; no trip where it came along, and did not overflow before it is divided."""
        known = self._gradient
        if known is not None and (scale is None or np.isfinite(known).all()):
            return known.copy() if scale is None else known / self.engine.checked(scale)
        unit = None if scale is None else self.engine.checked(scale)
        found: FloatArray = self.engine.about(
            self.scores.step, lambda recipe: self.engine.ask_product(recipe, "gradient", (), unit, unit)
        )
        if scale is None:
            self._gradient = found.copy()
        return found

    def hessian_product(self, v: FloatArray, exact: bool = True, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X v: one trip; where a ranking spans workers, there and back twice."""
        v = self.engine.checked(v)
        unit = None if scale is None else self.engine.checked(scale)
        wanted = Product(0, v if unit is None else v / unit)
        found: FloatArray = self.engine.about(
            self.scores.step,
            lambda recipe: self.engine.ask_product(recipe, "hessian_product", [wanted], unit, v, exact, unit),
        )
        return found

    def hessian(self, scale: FloatArray | None = None) -> FloatArray:
        """X^T L X."""
        if self.engine.spans:
            raise LinrankError("The Hessian of a ranking that spans workers cannot be had: ask for its products.")
        unit = None if scale is None else self.engine.checked(scale)
        found: FloatArray = self.engine.about(
            self.scores.step, lambda recipe: self.engine.ask_matrix(recipe, "hessian", unit)
        )
        return found

    def outer(
        self,
        units: str = "queries",
        scale: FloatArray | None = None,
        shift: FloatArray | None = None,
        along: FloatArray | None = None,
    ) -> Outer:
        """Sum over units of psi psi^T; a cluster on two shards is refused, and rows of a ranking that spans workers."""
        found: Outer = self.engine.about(
            self.scores.step, lambda recipe: self.engine.ask_outer(recipe, units, scale, shift, along)
        )
        return found
