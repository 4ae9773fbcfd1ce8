"""Metrics of rankings: pure functions of labels, scores and queries.

Each is ``NAME(y, scores, qid=None, *, ...)`` and costs one or two sorts, however many queries there are. `y` may be
`linrank.labels(y, qid)`. Metrics of ranked lists take `preset="trec"` (or "sklearn", "xgboost", "lightgbm", "letor") to
reproduce a tool, or single conventions by name: see `Conventions` and the documentation's page on metrics.
"""

from __future__ import annotations

from ._compare import Comparison, compare
from ._conventions import Conventions
from ._listwise import (
    average_precision,
    dcg,
    err,
    hit,
    mean_ndcg,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from ._names import Metric, parse
from ._pairs import auc, c_index, kendall_tau, pairwise_accuracy, pairwise_error, wmw
from ._scorer import scorer

__all__ = [
    "Comparison",
    "Conventions",
    "Metric",
    "auc",
    "average_precision",
    "c_index",
    "compare",
    "dcg",
    "err",
    "hit",
    "kendall_tau",
    "mean_ndcg",
    "ndcg",
    "pairwise_accuracy",
    "pairwise_error",
    "parse",
    "precision",
    "recall",
    "reciprocal_rank",
    "scorer",
    "wmw",
]
