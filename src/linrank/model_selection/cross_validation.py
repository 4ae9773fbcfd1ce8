"""Cross-validation that is right for rankings: folds by query, scores by query, no metadata routing to switch on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import clone

from .._errors import DataError
from .._threads import map_in_threads
from .._typing import FloatArray
from ..data.checks import check_utilities
from ..data.collections import refuse_collection
from ..data.dataset import unpacked
from ..data.given import Given, count_rows, gather
from ..data.labels import split_labels
from ..data.queries import encode_queries
from ..metrics import Metric, parse
from ..metrics._names import OVER_PREFERENCES
from ..metrics._scorer import as_trained, predict_scores
from ..rankers.limits import on_fold
from .fit_words import FitWords
from .folds import Fold, folds_by
from .pair_folds import split_pairs

Judges: TypeAlias = dict[str, Callable[..., float]]


def cross_validate(
    ranker: Any,
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    *,
    metric: str | Metric | Callable[..., float] | Sequence[str | Metric] = "pairwise_accuracy",
    cv: Any = 5,
    preset: str | None = None,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | Mapping[Any, float] | None = None,
    pairs: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    group: ArrayLike | None = None,
    n_jobs: int | None = None,
    return_estimator: bool = False,
) -> dict[str, Any]:
    """Fit and score a ranker on folds by query; the queries reach everything that wants them, pipelines included.

    Parameters
    ----------
    ranker : estimator
        Anything with fit and predict: a LinearRanker, a Pipeline with a QueryScaler, and baselines. Queries are given
        to `fit` as it takes them: XGBRanker as qid, LGBMRanker as group (both get the rows sorted by query), Ridge not
        at all.
    X, y, qid, group
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
    pairs, ids
        As in LinearRanker.fit, without y: folds are of pairs, as in LinearRankerCV.
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
    refuse_collection(X, "cross_validate", "give a part of it, X.partitions[:9].compute(), with its y and qid")
    X, y, qid, sample_weight = unpacked(X, y, qid, sample_weight)
    given = gather(X, qid, group=group, pairs=pairs, ids=ids)
    judges = _judges(metric, preset)
    if given.pairs is not None:
        if y is not None:
            raise DataError("cross_validate takes y or pairs: leave one out, or use LinearRankerCV, which takes both.")
        trial: Trial = _Pairs(ranker, judges, given, sample_weight, query_weight)
    else:
        trial = _Rows(ranker, judges, given, y, sample_weight, query_weight)
    found, fit_time, score_time, fitted = zip(*map_in_threads(trial.run, trial.folds(cv), n_jobs), strict=True)
    result = {f"test_{name}": column for name, column in zip(judges, np.array(found).T, strict=True)}
    result |= {"fit_time": np.array(fit_time), "score_time": np.array(score_time)}
    return result | ({"estimator": list(fitted)} if return_estimator else {})


class Trial(Protocol):
    """Data to be cut into folds, and what is done with one."""

    def folds(self, cv: Any) -> list[Fold]:
        """Training and test rows, or pairs."""

    def run(self, fold: Fold) -> tuple[Any, ...]:
        """Values of the metrics, seconds to fit and to score, and the fitted ranker."""


class _Rows:
    """Rows with labels."""

    def __init__(self, ranker: Any, judges: Judges, given: Given, y: Any, v: Any, u: Any) -> None:
        self.ranker, self.judges, self.X = ranker, judges, given.X
        y, self.qid = split_labels(y, given.qid)
        n_rows = count_rows(given.X)
        self.y = check_utilities(y, n_rows)
        self.query, self.ids = encode_queries(self.qid, n_rows)
        self.weights: dict[str, Any] = {"sample_weight": v}
        self.whole: dict[str, Any] = {}
        if u is not None:
            (self.whole if isinstance(u, Mapping) else self.weights)["query_weight"] = u

    def folds(self, cv: Any) -> list[Fold]:
        """By query."""
        return folds_by(cv, self.query, self.ids, np.ones(self.ids.size, dtype=bool), self.y)

    def run(self, fold: Fold) -> tuple[Any, ...]:
        """Fit to the training rows, judge the test rows."""
        begin = time.perf_counter()
        test = fold[1]
        ids = None if self.qid is None else take(self.qid, test)
        # Routing, so that pipelines hand qid on; both are this thread's alone.
        with config_context(enable_metadata_routing=True), on_fold():
            ranker = clone(self.ranker)
            words = FitWords.of(ranker)
            train = words.order(self.query, fold[0])
            given = {name: take(value, train) for name, value in self.weights.items() if value is not None}
            given |= words.given(self.query[train], None if self.qid is None else take(self.qid, train))
            fitted = ranker.fit(take(self.X, train), self.y[train], **given, **self.whole)
            middle = time.perf_counter()
            scores = predict_scores(fitted, take(self.X, test), ids)
        own = [as_trained(judge, fitted) if isinstance(judge, Metric) else judge for judge in self.judges.values()]
        found = [float(judge(self.y[test], scores, ids)) for judge in own]
        return found, middle - begin, time.perf_counter() - middle, fitted


class _Pairs:
    """Pairs of rows, which are all there is to learn from."""

    def __init__(self, ranker: Any, judges: Judges, given: Given, v: Any, u: Any) -> None:
        self.ranker, self.judges, self.given = ranker, judges, given
        for name, judge in judges.items():
            if not isinstance(judge, Metric) or judge.family not in OVER_PREFERENCES:
                known = ", ".join(sorted(OVER_PREFERENCES))
                raise DataError(f"metric={getattr(judge, 'name', name)!r} needs y: judge pairs by one of {known}.")
        self.query, self.ids = encode_queries(given.qid, count_rows(given.X))
        weights = {"sample_weight": v, "query_weight": u, "qid": given.qid}
        self.whole = {name: value for name, value in weights.items() if value is not None}

    def folds(self, cv: Any) -> list[Fold]:
        """Of pairs."""
        return split_pairs(cv, cast(FloatArray, self.given.pairs), self.query, self.ids)

    def run(self, fold: Fold) -> tuple[Any, ...]:
        """Fit to the training pairs, judge the test pairs."""
        begin = time.perf_counter()
        X, pairs = self.given.X, cast(FloatArray, self.given.pairs)
        fitted = clone(self.ranker).fit(X, pairs=pairs[fold[0]], **self.whole)
        middle = time.perf_counter()
        scores = predict_scores(fitted, X)
        found = [float(judge(None, scores, self.given.qid, pairs=pairs[fold[1]])) for judge in self.judges.values()]
        return found, middle - begin, time.perf_counter() - middle, fitted


def take(values: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of an array, a dataframe, a sparse matrix or a list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    return values[rows] if hasattr(values, "shape") else np.asarray(values)[rows]


def _judges(metric: Any, preset: str | None) -> Judges:
    if callable(metric) and not isinstance(metric, Metric):
        return {"score": metric}
    if isinstance(metric, (str, Metric)):
        return {"score": parse(metric, preset)}
    metrics = [parse(name, preset) for name in metric]
    return {metric.name: metric for metric in metrics}
