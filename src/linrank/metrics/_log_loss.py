"""The log loss of pairs: what judges probabilities of one row over another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import NoPairsError
from .._typing import FloatArray
from .._work import Work
from ..data.ordering import run_starts
from ..data.ranking_data import make_preferences
from ..data.rankings import Preferences, Rankings
from ._families import pairwise
from ._pairs import TIE_VALUE, Compared, accuracy_of, or_none
from ._rows import QueryWeight, Value, check_rows

if TYPE_CHECKING:
    from ._names import Metric

__all__ = ["log_loss"]


@pairwise(greater_is_better=False, over_preferences=True)
def log_loss(
    y: ArrayLike | None,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    preferences: Any = "full",
    sample_weight: ArrayLike | None = None,
    query_weight: QueryWeight = None,
    query_weighting: str = "pairs",
    pairs: ArrayLike | None = None,
    per_query: bool = False,
) -> Value:
    """Mean of -log p(i over j) over the preferences, p = 1 / (1 + exp(-(s_i - s_j))). Smaller is better.

    What `loss="logistic"` minimises beside its regulariser, and what judges `predict_pair`: log 2 = 0.693 where all
    scores are equal. The keywords are those of `wmw`. To 3e-12, in O(m log m).
    """
    rows = check_rows(or_none(y, scores, pairs), scores, qid)
    total, loss = np.zeros((2, rows.n_queries))
    try:
        p = make_preferences(rows.scores.size, y, qid, sample_weight, None, pairs, preferences)[2]
    except NoPairsError:
        p = None
    pooled = not per_query and query_weight is None and query_weighting == "pairs" and rows.cut is None
    if p is not None and pooled:
        return _mean_log_loss(rows.scores, p)
    if p is not None:
        query = rows.query[p.row[p.ranking_ptr[:-1]]]
        starts = np.flatnonzero(run_starts(query))
        by_query = replace(p, blocks=np.r_[starts, query.size])
        for number, k in enumerate(query[starts]):
            block = by_query.block(number)
            total[k] = block.weight
            loss[k] = total[k] * _mean_log_loss(rows.scores, block)
    given = Compared(y, qid, sample_weight, query_weight, pairs, preferences, query_weighting)
    return given.mean("log_loss", loss, total, rows, per_query)


def value_over(metric: Metric, scores: FloatArray, preferences: Preferences) -> float:
    """A metric over preferences that have been made already: accuracy, error or log loss."""
    if metric.family == "log_loss":
        return _mean_log_loss(scores, preferences)
    accuracy = accuracy_of(scores, preferences, TIE_VALUE[metric.options.get("ties", "half")])
    return accuracy if metric.greater_is_better else 1.0 - accuracy


def _mean_log_loss(scores: FloatArray, rankings: Rankings) -> float:
    """Mean of log(1 + exp(-(s_i - s_j))) over the pairs of rankings."""
    from ..losses.logistic import Logistic  # not at the top: other metrics need no loss

    return float(Logistic().at(scores[rankings.row], rankings, Work()).sums.value) / rankings.weight
