"""Defaults that come from the data: what ``scale="auto"`` and ``alpha="auto"`` stand for; the one place that says so.

The constants were chosen on the tuning half of the sets of ``benchmarks/run.py defaults``, which reports on the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._checks import check_choice, check_number
from ._data import RankingData
from ._errors import DataError, ParameterError
from ._preferences import FloatArray
from .engines import Columns
from .metrics._pairs import accuracy_of

#: A column is dense where more than this share of its values are other than 0.
DENSE = 0.5
#: Sparse columns within this factor of their median size are in the same units. Units differ by powers of ten: it lies
#: between two of them.
SPREAD = 30.0
#: Sums of the same numbers in another order differ by less: they fall on the same side of a limit.
ROUNDING = 1e-9
#: Sums of squares beyond these have over- or underflown, or are about to.
SMALLEST, LARGEST = 1e-250, 1e250
#: Share of the pairs that are in the right order where a fit may follow the noise.
ALMOST_ALL = 0.9999
#: alpha in units of a0, the prior at which signal and noise are equal: the losses are of different steepness.
STRENGTH = {"squared_hinge": 2.0, "hinge": 0.5, "logistic": 0.2, "logistic_erfc": 0.2}

#: What to say of a fit that looks under-regularised.
ALL_IN_ORDER = (
    "(nearly) all training pairs are in the right order: how other queries are ranked is not known; judge it by "
    "held-out data, or choose alpha by LinearRankerCV (linrank tune)"
)


def all_in_order(scores: FloatArray, data: RankingData) -> bool:
    """Whether (nearly) all pairs are in the order of the scores."""
    return accuracy_of(scores, data.preferences) > ALMOST_ALL


def check_alpha(alpha: Any) -> None:
    """Refuse an alpha that is neither "auto" nor a number above 0."""
    if isinstance(alpha, str):
        check_choice("alpha", alpha, ("auto",))
    else:
        check_number("alpha", alpha, above=0.0)


def check_scale(scale: Any) -> None:
    """Refuse a scale that is neither "auto", True nor False."""
    if not isinstance(scale, (bool, np.bool_)) and not (isinstance(scale, str) and scale == "auto"):
        raise ParameterError(f"scale={scale!r} must be True, False or 'auto'.")


def choose_scale(scale: Any, columns: Columns) -> FloatArray | None:
    """What columns are divided by; None: by nothing.

    True: by their standard deviation. "auto": so are columns that are mostly other than 0. The others are divided by
    one number, the median over them of the root mean square of their non-zeros, so that a rare word does not weigh as
    much as a common one; but a column more than thirty times as large or small as that is in other units, and is
    divided by its own. The rule reads the numbers alone: CSR and a dense array of the same numbers are divided alike.
    """
    if scale is False or (isinstance(scale, np.bool_) and not scale):
        return None
    by_deviation = np.where(columns.deviation > 0, columns.deviation, 1.0)
    if not isinstance(scale, str):
        return by_deviation
    size = columns.size
    sparse = (columns.share <= DENSE * (1 + ROUNDING)) & (size > 0)
    if not np.any(sparse):
        return by_deviation
    typical = float(np.quantile(size[sparse], 0.5, method="lower"))  # a mean of two could overflow
    alike = (size / SPREAD <= typical * (1 + ROUNDING)) & (size >= typical / SPREAD * (1 - ROUNDING))
    return np.where(sparse, np.where(alike, typical, size), by_deviation)


def choose_alpha(alpha: Any, loss: str, columns: Columns | None, scale: FloatArray | None, data: RankingData) -> float:
    """The number that alpha stands for: itself, or c_loss * a0.

    a0 = (sum of the scaled columns' variances) / rows: for a ridge regression, the penalty at which the prior variance
    of the scores equals that of the noise. Without any variance there is nothing to weigh: 1.
    """
    if not isinstance(alpha, str):
        return float(alpha)
    assert columns is not None
    deviation = columns.deviation if scale is None else columns.deviation / scale
    if not np.any(deviation):
        return 1.0
    total = float(deviation @ deviation)
    if not SMALLEST < total < LARGEST:
        raise DataError("The features' variances over- or underflow: bring them to sizes around 1, or use scale=True.")
    return STRENGTH[loss] * total / effective_rows(data)


def effective_rows(data: RankingData) -> float:
    """How many rows there are to learn from: those with a pair.

    Whole weights of which the smallest is 1 count how often a row is repeated. Other weights say how much a row
    matters: then it is Kish's effective number, (sum v)^2 / (sum v^2), which does not depend on their unit.
    """
    used = np.zeros(data.n_rows, dtype=bool)
    used[data.preferences.row] = True
    if data.sample_weight is None or data.preferences.v is None:  # explicit pairs weigh what they are given
        return float(used.sum())
    v = data.sample_weight[used & (data.sample_weight > 0)]
    if v.min() == 1.0 and np.all(v == np.floor(v)):
        return float(v.sum())
    v = v / v.max()  # neither squares nor sums overflow
    return float(v.sum()) ** 2 / float(v @ v)
