"""Target: what a system to export to is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .._typing import FloatArray
from ._function import LinearFunction
from ._options import Options

SINGLE, DOUBLE = 2.0**-24, 2.0**-53


@dataclass(frozen=True)
class Target:
    """A system to export to.

    Attributes
    ----------
    write : function of (LinearFunction, Options) to bytes
        Pure: the same function and options give the same bytes.
    score : function of (bytes, names, X) to scores
        An independent reading of what was written, as the target itself would compute; NaN in X is a missing value.
    rounding : float
        Half an ulp, relative, of the numbers that the target computes with.
    refuses_negative : bool
        Whether its scores must not be negative: Lucene's must not.
    fills : bool
        Whether what takes the place of missing values is part of the export.
    """

    write: Callable[[LinearFunction, Options], bytes]
    score: Callable[[bytes, Sequence[str], FloatArray], FloatArray]
    rounding: float = DOUBLE
    refuses_negative: bool = False
    fills: bool = False

    @property
    def smallest(self) -> float:
        """The smallest normal number that the target computes with: what an underflow may lose."""
        return 2.0**-126 if self.rounding == SINGLE else 2.0**-1022
