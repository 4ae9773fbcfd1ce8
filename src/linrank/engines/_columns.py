"""What an engine tells of the columns of X: as much as scaling and the choice of alpha need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._preferences import FloatArray


@dataclass(frozen=True)
class Columns:
    """The columns of X, rows counting by their weight.

    Attributes
    ----------
    mean, deviation : (d,)
        Mean and standard deviation; the deviation is 0 for columns that are constant to rounding.
    share : (d,)
        Share of the rows whose value is not 0.
    """

    mean: FloatArray
    deviation: FloatArray
    share: FloatArray

    @property
    def size(self) -> FloatArray:
        """Root mean square of a column's values other than 0; 0 where there are none."""
        square = np.hypot(self.deviation, self.mean)
        size = np.divide(square, np.sqrt(self.share), out=np.zeros_like(square), where=self.share > 0)
        return np.minimum(size, np.finfo(np.float64).max)  # no mean is larger than the largest value
