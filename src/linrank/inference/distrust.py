"""What to distrust in standard errors, in sentences; the thresholds are rules of thumb."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from .summary import listed

#: Fewer units than this, and intervals are too short; below the second there is a warning.
FEW_UNITS, VERY_FEW_UNITS = 100, 30
#: Share of sum |psi|^2 that is one unit's.
DOMINATES = 0.2
#: A weight's variance is inflated by so much beside other columns.
COLLINEAR = 100.0
#: Less of a weight's information than this is the data's: nothing is known of it,
NOTHING = 1e-9
#: or the penalty has the larger part.
HALF = 0.5


def reasons(free: NDArray[np.bool_], information: FloatArray, variance: FloatArray) -> tuple[str, ...]:
    """Why each weight has no standard error; "" where it has one."""
    found = []
    for is_free, part, own in zip(free, information, variance, strict=True):
        if not is_free:
            found.append("the weight is at a bound, or held at 0 by the penalty, and does not vary with the data")
        elif part < NOTHING:
            found.append("the data say nothing of it, as of a column that is constant within every query")
        elif not np.isfinite(own):
            found.append("conjugate gradients did not converge, raise alpha or drop collinear columns")
        else:
            found.append("")
    return tuple(found)


def notes(
    units: str, n_units: int, largest: float, information: FloatArray, hessian: FloatArray | None, names: list[str]
) -> tuple[str, ...]:
    """What to distrust."""
    one = {"queries": "query", "rows": "row", "clusters": "cluster"}[units]
    found = []
    if n_units < FEW_UNITS:
        found.append(f"Only {n_units} {units} are independent: intervals tend to be too short (docs/inference.md).")
    if largest > DOMINATES:
        found.append(f"One {one} has {largest:.0%} of the squared gradients: the standard errors hang on it.")
    if hessian is not None and (close := collinear(hessian)).size:
        found.append(f"Nearly collinear: {listed([names[j] for j in close])}. Read their weights together, by test().")
    weak = np.flatnonzero((information < HALF) & (information >= NOTHING))
    if weak.size:
        text = listed([names[j] for j in weak])
        found.append(f"More than half of the information is the penalty's: {text}. These weights are shrunken.")
    return tuple(found)


def collinear(H: FloatArray) -> IntArray:
    """Columns whose variance others inflate by COLLINEAR or more: (C^-1)_jj, C the Hessian with a unit diagonal."""
    size = np.sqrt(np.diag(H))
    used = np.flatnonzero(size > 0)
    C = H[np.ix_(used, used)] / np.outer(size[used], size[used])
    value, vector = np.linalg.eigh(C)
    value = np.maximum(value, np.finfo(float).eps * max(1, used.size))
    return used[(vector**2 / value).sum(axis=1) > COLLINEAR]
