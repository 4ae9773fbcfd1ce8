"""Defaults that come from the data: what ``scale="auto"`` and ``alpha="auto"`` stand for; the one place that says so.

The constants were chosen on the tuning half of the sets of ``benchmarks/run.py defaults``, which reports on the other.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ._errors import DataError, ParameterError
from ._typing import FloatArray
from .data.checks import check_choice, check_number
from .engines import Columns, Engine, Scores
from .losses import LOSSES
from .losses.wrong_pairs import WrongPairs
from .objective import Objective, zeros
from .penalties import ElasticNet

logger = logging.getLogger("linrank")

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
STRENGTH = {name: loss.strength for name, loss in LOSSES.items()}
#: The same for somebody's own loss, of which nothing is known.
OWN = 1.0

#: With an l1 part alpha="auto" is one in so many of the alpha at which all weights are 0.
PARTS = 20.0

#: What to say of a fit that looks under-regularised.
ALL_IN_ORDER = (
    "(nearly) all training pairs are in the right order: how other queries are ranked is not known; judge it by "
    "held-out data, or choose alpha by LinearRankerCV (linrank tune)"
)


def all_in_order(engine: Engine, scores: Scores) -> bool:
    """Whether (nearly) all pairs are in the order of the scores."""
    wrong = engine.evaluate(WrongPairs(), scores).sums
    return 1.0 - wrong.value / wrong.weight > ALMOST_ALL


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


def choose_alpha(
    alpha: Any, loss: str | None, columns: Columns | None, scale: FloatArray | None, n_rows: float
) -> float:
    """The number that alpha stands for: itself, or c_loss * a0.

    a0 = (sum of the scaled columns' variances) / rows: for a ridge regression, the penalty at which the prior variance
    of the scores equals that of the noise. Without any variance there is nothing to weigh: 1. `loss` is None for
    somebody's own, `n_rows` how many rows there are to learn from.
    """
    if not isinstance(alpha, str):
        return float(alpha)
    assert columns is not None
    if loss not in STRENGTH:
        logger.info("alpha='auto' is not tuned for this loss: it is %g times a0; LinearRankerCV tunes it", OWN)
    deviation = columns.deviation if scale is None else columns.deviation / scale
    if not np.any(deviation):
        return 1.0
    total = float(deviation @ deviation)
    if not SMALLEST < total < LARGEST:
        raise DataError("The features' variances over- or underflow: bring them to sizes around 1, or use scale=True.")
    return (OWN if loss is None else STRENGTH.get(loss, OWN)) * total / n_rows


def strongest_alpha(objective: Objective) -> float:
    """The least alpha at which all weights that may be 0 are: it takes the gradient there.

    0 where that holds for every alpha, or no weight may be 0.
    """
    assert isinstance(objective.penalty, ElasticNet)
    return objective.penalty.strongest(objective.at(zeros(objective)).risk_gradient)
