"""Cross-validation that is right for rankings: folds by query, scores by query, no metadata routing to switch on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import clone

from .._threads import map_in_threads
from ..data.checks import check_utilities
from ..data.labels import split_labels
from ..data.queries import encode_queries
from ..metrics import Metric, parse
from ..metrics._scorer import as_trained, predict_scores
from .folds import Fold, folds_by


def cross_validate(
    ranker: Any,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    metric: str | Metric | Callable[..., float] | Sequence[str | Metric] = "pairwise_accuracy",
    cv: Any = 5,
    preset: str | None = None,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | Mapping[Any, float] | None = None,
    n_jobs: int | None = None,
    return_estimator: bool = False,
) -> dict[str, Any]:
    """Fit and score a ranker on folds by query; the queries reach everything that wants them, pipelines included.

    Parameters
    ----------
    ranker : estimator
        Anything with fit(X, y, qid=...) and predict(X): a LinearRanker, a Pipeline with a QueryScaler, XGBRanker.
    X, y, qid
        As in LinearRanker.fit; y may be `labels(y, qid)`. Without queries all rows are one, and its rows are split.
    metric : str, callable (y, scores, qid) or a list of names, default="pairwise_accuracy"
        What to report for the test rows, as it is: errors are not negated. Accuracies are taken over the preferences
        that the ranker was trained on, unless the metric names others, as ``parse("wmw", preferences="full")`` does.
    cv : int, splitter or iterable of (train rows, test rows), default=5
        Folds by query; a splitter gets the queries as groups. One that cuts queries is refused.
    preset : str, optional
        Conventions of the metrics, as in `linrank.metrics`.
    sample_weight, query_weight
        For fit alone.
    n_jobs : int or None, default=None
        Folds at once, in threads.
    return_estimator : bool, default=False
        Whether to keep the fitted rankers.

    Returns
    -------
    dict
        One entry per fold: "test_score" (for a list of metrics "test_" + name), "fit_time", "score_time", and
        "estimator" if wanted.
    """
    y, qid = split_labels(y, qid)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    values = check_utilities(y, n_rows)
    query, names = encode_queries(qid, n_rows)
    folds = folds_by(cv, query, names, np.ones(names.size, dtype=bool), values)
    judges = _judges(metric, preset)
    rows = {"sample_weight": sample_weight, "qid": qid}
    whole: dict[str, Any] = {}
    if query_weight is not None:
        (whole if isinstance(query_weight, Mapping) else rows)["query_weight"] = query_weight

    def run(fold: Fold) -> tuple[Any, ...]:
        train, test = fold
        begin = time.perf_counter()
        given = {name: take(value, train) for name, value in rows.items() if value is not None}
        ids = None if qid is None else take(qid, test)
        with config_context(enable_metadata_routing=True):  # so that pipelines hand qid on; it is this thread's alone
            fitted = clone(ranker).fit(take(X, train), values[train], **given, **whole)
            middle = time.perf_counter()
            scores = predict_scores(fitted, take(X, test), ids)
        own = [as_trained(judge, fitted) if isinstance(judge, Metric) else judge for judge in judges.values()]
        found = [float(judge(values[test], scores, ids)) for judge in own]
        return found, middle - begin, time.perf_counter() - middle, fitted

    found, fit_time, score_time, fitted = zip(*map_in_threads(run, folds, n_jobs), strict=True)
    result = {f"test_{name}": column for name, column in zip(judges, np.array(found).T, strict=True)}
    result |= {"fit_time": np.array(fit_time), "score_time": np.array(score_time)}
    return result | ({"estimator": list(fitted)} if return_estimator else {})


def take(values: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of an array, a dataframe, a sparse matrix or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    return values[rows] if hasattr(values, "shape") else np.asarray(values)[rows]


def _judges(metric: Any, preset: str | None) -> dict[str, Callable[..., float]]:
    if callable(metric) and not isinstance(metric, Metric):
        return {"score": metric}
    if isinstance(metric, (str, Metric)):
        return {"score": parse(metric, preset)}
    metrics = [parse(name, preset) for name in metric]
    return {metric.name: metric for metric in metrics}
