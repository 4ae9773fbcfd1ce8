"""Cross-validation that is right for rankings: folds by query, scores by query, no metadata routing to switch on."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator

from ._checks import check_choice, check_utilities, encode_queries
from ._errors import DataError, ParameterError
from ._folds import Fold, balanced, folds_by, rows_of
from ._labels import split_labels
from ._preferences import FloatArray
from ._threads import map_in_threads
from .metrics import Metric, parse
from .metrics._scorer import as_trained, predict_scores

__all__ = ["QueryKFold", "QueryShuffleSplit", "cross_validate"]

BALANCES = ("rows", "pairs")


class _QuerySplitter(BaseCrossValidator):
    """What splitters by query share: they read the queries from qid, from y=labels(y, qid), or from groups."""

    # Queries are asked for by default, under both names, so that search.fit(X, y, qid=...) needs no set_split_request.
    __metadata_request__split = {"groups": True, "qid": True}  # noqa: RUF012

    n_splits: int
    balance: str

    def split(
        self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Iterator[Fold]:
        """Training and test rows of each split; `groups`, scikit-learn's word, and `qid` mean the same."""
        if isinstance(self.n_splits, bool) or not isinstance(self.n_splits, (int, np.integer)) or self.n_splits < 1:
            raise ParameterError(f"n_splits={self.n_splits!r} must be a whole number above 0.")
        check_choice("balance", self.balance, BALANCES)
        y, qid = split_labels(y, qid)
        ids = qid if qid is not None else groups
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if ids is None:
            raise DataError("There are no queries to split by: pass qid (or groups), or let y be labels(y, qid).")
        query, names = encode_queries(ids, n_rows)
        if names.size < 2:
            raise DataError("All rows are one query, which is never split: use scikit-learn's KFold to split its rows.")
        yield from self._folds(query, _loads(self.balance, query, names.size, y))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Number of splits."""
        return int(self.n_splits)

    @abstractmethod
    def _folds(self, query: NDArray[np.int64], load: FloatArray) -> list[Fold]:
        """Rows of each split, by the rows' queries and the queries' loads."""


class QueryKFold(_QuerySplitter):
    """K folds that never split a query.

    In scikit-learn's tools: ``cross_val_score(ranker, X, labels(y, qid), cv=QueryKFold(5))``. `groups=qid` alone would
    reach only the splitter, and the ranker would be fitted to all rows as one query, and judged so.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at most the number of queries.
    balance : {"rows", "pairs"}, default="rows"
        What the folds have about equally much of: rows, or pairs of rows that differ in y.
    shuffle : bool, default=False
        Deal queries of about equal size out at random. Otherwise the same data always gives the same folds.
    random_state : int, Generator or None, default=None
        Seed of the shuffle.
    """

    def __init__(
        self, n_splits: int = 5, *, balance: str = "rows", shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.balance = balance
        self.shuffle = shuffle
        self.random_state = random_state

    def _folds(self, query: NDArray[np.int64], load: FloatArray) -> list[Fold]:
        if not 2 <= self.n_splits <= load.size:
            raise DataError(f"n_splits={self.n_splits} folds of {load.size} queries: use 2 to {load.size} folds.")
        rng = np.random.default_rng(self.random_state) if self.shuffle else None
        return rows_of(balanced(load, int(self.n_splits), rng)[query])


class QueryShuffleSplit(_QuerySplitter):
    """Random splits that never split a query.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, each drawn anew.
    test_size : float, default=0.2
        The share of rows (or pairs) to test on, as nearly as whole queries allow; each side has at least one query.
    balance : {"rows", "pairs"}, default="rows"
        What `test_size` is a share of.
    random_state : int, Generator or None, default=None
        Seed.
    """

    def __init__(
        self, n_splits: int = 5, test_size: float = 0.2, *, balance: str = "rows", random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.balance = balance
        self.random_state = random_state

    def _folds(self, query: NDArray[np.int64], load: FloatArray) -> list[Fold]:
        if not 0 < self.test_size < 1:
            raise ParameterError(f"test_size={self.test_size!r} must be a share between 0 and 1.")
        rng = np.random.default_rng(self.random_state)
        folds = []
        for _ in range(int(self.n_splits)):
            order = rng.permutation(load.size)
            filled = np.cumsum(load[order])[:-1]
            n_test = int(np.argmin(np.abs(filled - self.test_size * load.sum()))) + 1
            test = np.zeros(load.size, dtype=bool)
            test[order[:n_test]] = True
            folds.append((np.flatnonzero(~test[query]), np.flatnonzero(test[query])))
        return folds


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


def _loads(balance: str, query: NDArray[np.int64], n_queries: int, y: Any) -> FloatArray:
    """What to balance: rows of each query, or its pairs (and, where these are equal, rows)."""
    rows = np.bincount(query, minlength=n_queries).astype(np.float64)
    if balance == "rows":
        return rows
    if y is None:
        raise DataError("balance='pairs' needs y, to know which rows differ: pass y, or use balance='rows'.")
    values = check_utilities(y, query.size)
    order = np.lexsort((values, query))
    level = np.cumsum(np.r_[True, (np.diff(values[order]) != 0) | (np.diff(query[order]) != 0)]) - 1
    size = np.bincount(level).astype(np.float64)
    tied = np.bincount(query[order][np.r_[True, np.diff(level) > 0]], size**2, minlength=n_queries)
    return (rows**2 - tied) / 2 + rows / (1.0 + query.size)
