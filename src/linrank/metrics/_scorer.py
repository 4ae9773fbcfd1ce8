"""Metrics as scikit-learn's scorers, which never judge several queries as if they were one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from .._errors import DataError, NoPairsError, UndefinedMetricWarning, warn_caller
from .._typing import FloatArray
from ..data.labels import are_labels, split_labels
from ._names import Metric, parse
from ._rows import are_grades


@dataclass(frozen=True)
class Scorer:
    """A callable (estimator, X, y, qid=None) for the `scoring` of scikit-learn's tools; greater is better."""

    metric: Metric
    one_query: bool = False

    def __call__(self, estimator: Any, X: Any, y: Any, qid: ArrayLike | None = None) -> float:
        """The metric of the estimator's scores, negated for errors."""
        utilities, queries = split_labels(y, qid)
        if queries is None and not self.one_query:
            _refuse_without_queries(estimator, self.metric, utilities)
        scores = predict_scores(estimator, X, queries)
        seen = getattr(_innermost(estimator), "_rows_seen", None)
        if seen is not None and qid is not None and not are_labels(y):
            seen.warn_of_others(qid, scores.size)
        try:
            value = as_trained(self.metric, estimator)(y, scores, qid)
        except NoPairsError as error:
            warn_caller(f"{self.metric.name} is NaN: {error}", UndefinedMetricWarning)
            value = np.nan
        return self.metric.score(float(value))

    def get_metadata_routing(self) -> Any:
        """Qid is asked for whenever metadata is routed."""
        request = MetadataRequest(owner=f"scorer({self.metric.name!r})")
        request.score.add_request(param="qid", alias=True)
        return request


def scorer(
    name: str | Metric | Callable[..., float], preset: str | None = None, *, one_query: bool = False, **options: Any
) -> Scorer:
    """A metric as scikit-learn's `scoring`.

    With metadata routing on, pass qid to `fit` of GridSearchCV and the like; with routing off let y be
    `linrank.labels(y, qid)`. Without queries an estimator that was fitted with qid, or does not say whether it was, is
    not judged (DataError, which GridSearchCV reports as NaN), unless `one_query` says that all rows are one query. Nor
    is one that was fitted without qid, where grades (whole numbers from 0 to 31) are judged by a metric of lists:
    `groups=qid` reaches only the splitter. Accuracies are taken over the preferences that the ranker was trained on,
    unless `preferences` names others.

    Parameters
    ----------
    name : str or callable
        As in `parse`; errors are negated, since greater is better in scikit-learn. Or a function (y, scores, qid) of
        your own, with ``greater_is_better=False`` for an error.
    preset, options
        Conventions, as the metric's function takes them.
    one_query : bool, default=False
        Rows without qid are one query, whatever the estimator says.
    """
    return Scorer(parse(name, preset, **options), one_query)


def as_trained(metric: Metric, estimator: Any) -> Metric:
    """The metric over the preferences that a ranker of linrank was trained on, unless its options name others."""
    inner = _innermost(estimator)
    return metric.over(inner.preferences) if hasattr(inner, "fitted_with_qid_") else metric


def predict_scores(estimator: Any, X: Any, qid: ArrayLike | None = None) -> FloatArray:
    """Scores of rows by decision_function or else predict; qid goes along where the estimator asks for it."""
    method = "decision_function" if hasattr(estimator, "decision_function") else "predict"
    wanted = False
    if qid is not None and get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing"):
        wanted = bool(get_routing_for_object(estimator).consumes(method, ["qid"]))
    return np.asarray(getattr(estimator, method)(X, **({"qid": qid} if wanted else {})), dtype=np.float64)


def _refuse_without_queries(estimator: Any, metric: Metric, y: Any) -> None:
    fitted_with_qid = getattr(_innermost(estimator), "fitted_with_qid_", None)
    if fitted_with_qid is None:
        raise DataError(
            f"{type(estimator).__name__} does not say whether it was fitted with queries: score with qid, with "
            "y=labels(y, qid), or with scorer(..., one_query=True) if all rows are one query."
        )
    if fitted_with_qid:
        raise DataError("This estimator was fitted with queries: score with qid too, or with y=labels(y, qid).")
    if not metric.pairwise and are_grades(np.asarray(y)):
        raise DataError(
            f"{metric.name} judges lists, but this ranker was fitted without queries to graded rows (groups reach only "
            "the splitter): give y=labels(y, qid), or use scorer(..., one_query=True) if all rows are one query."
        )


def _innermost(estimator: Any) -> Any:
    """The estimator at the end of pipelines and searches."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif getattr(estimator, "steps", None):
            estimator = estimator.steps[-1][1]
        else:
            return estimator
