"""What every linear ranker does once it is fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_is_fitted

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..data.checks import check_features
from ..data.collections import column_beside, is_collection, stand_in, without_columns
from ..data.dataset import Dataset
from ..data.device import on_host
from ..data.frames import check_frame, drop_columns
from ..data.given import Given, gather
from ..data.joining import joined, wide_enough
from ..data.labelled import LabelledRows
from ..data.labels import are_labels, split_labels
from ..data.missing import fill_missing, learn_missing
from ..data.ordering import positions_within
from ..data.queries import encode_queries
from ..data.ranking_data import RankingData
from ..data.row_counts import RowCounts
from ..data.scan import Scan
from ..engines.matrix import predict
from ..losses import as_loss
from ..metrics import pairwise_accuracy
from .collections import rank_collection, score_collection
from .explanation import Explanation, as_row, explain_difference
from .exports import Exports
from .names import check_names

if TYPE_CHECKING:
    from ..inference import Inference

#: A ranker of queries is asked for a score without them.
NO_QID = (
    "This ranker was fitted with qid, and none arrived: pass qid to score as well, or pairs would cross queries. (A "
    "Pipeline or a search drops it, unless sklearn.set_config(enable_metadata_routing=True); y=labels(y, qid) always "
    "arrives.)"
)


class ScoredRows(NamedTuple):
    """The scores of a Dataset's rows, and what is known of them."""

    scores: FloatArray
    y: FloatArray | None
    qid: NDArray[Any] | None
    sample_weight: FloatArray | None

    @property
    def stand_in(self) -> FloatArray:
        """As many rows, for whoever counts them."""
        return self.scores[:, None]

    def beside(self, y: Any, qid: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Labels, queries and weights, where none are given."""
        own = self.y, self.qid, self.sample_weight
        y, qid, weight = (b if a is None else a for a, b in zip((y, qid, sample_weight), own, strict=True))
        return y, qid, weight


class LinearPredictor(Exports, BaseEstimator, ABC):
    """Scores, positions, accuracy, explanations and exports from `coef_`; subclasses fit it."""

    # qid is requested by default, so that GridSearchCV(...).fit(X, y, qid=...) needs no set_fit_request.
    __metadata_request__fit = {  # noqa: RUF012
        "qid": True,
        **dict.fromkeys(("pairs", "ids", "group"), metadata_routing.UNUSED),
    }
    __metadata_request__score = {  # noqa: RUF012
        "qid": True,
        **dict.fromkeys(("pairs", "ids"), metadata_routing.UNUSED),
    }

    coef_: FloatArray
    fitted_with_qid_: bool
    loss: Any  # a name, or somebody's own
    preferences: str | ArrayLike
    query_weighting: str
    missing: str = "error"
    fill_: FloatArray | None = None
    _trains_on_devices = False  # else X is brought here first
    _aside: tuple[str, ...] = ()  # columns of the frame fitted to that were named as something else than features
    _queries_without_pairs: int | None = None  # in training, where that was counted
    _rows_seen: RowCounts | None = None  # of the training's queries, if y did not carry them; neither saved nor pickled

    _deviation: FloatArray | None = None  # of the columns fitted to, where it was measured

    @property
    def intercept_(self) -> float:
        """0: it would cancel in every comparison. Tools that explain linear models ask for it."""
        check_is_fitted(self)
        return 0.0

    @property
    def feature_importances_(self) -> FloatArray:
        """|weight| times the standard deviation of each column of the rows fitted to: its share in the scores' spread.

        Known where `fit` measures the columns, as it does unless scale=False and alpha is a number.
        """
        check_is_fitted(self)
        if self._deviation is None:
            raise AttributeError(
                "feature_importances_ needs the deviations of the columns, which this ranker does not know: fit it in "
                "this process, with scale='auto' or True; or multiply abs(coef_) by X.std(axis=0)."
            )
        return np.abs(self.coef_) * self._deviation

    @abstractmethod
    def fit(self, X: Any, y: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Train."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_rows_seen"}

    def _given(self, X: Any, qid: Any, **named: Any) -> Given:
        """What a fit is given in one form: X without the columns that are none, queries by row, pairs by row."""
        given = gather(X, qid, **named)
        return given._replace(X=check_frame(given.X))

    def _features(self, X: Any) -> Any:
        """Rows to be scored, without the columns that were set aside in `fit`."""
        return check_frame(drop_columns(X, self._aside))

    def _data(self, X: Any, y: Any, qid: Any, **given: Any) -> tuple[RankingData, FloatArray | None]:
        """Rows and preferences by this ranker's parameters, and what NaN was replaced by in each column."""
        rows, fill = self._labelled(X, y, qid, **given)
        rows.ranked.tell_of_skipped()
        return rows.ranked, fill

    def _labelled(self, X: Any, y: Any, qid: Any, **given: Any) -> tuple[LabelledRows, FloatArray | None]:
        """The same before the rows are ranked."""
        complete, fill = learn_missing(X if self._trains_on_devices else on_host(X), self.missing)
        given |= {"preferences": self.preferences, "query_weighting": self.query_weighting}
        return LabelledRows.of(complete, y, qid, **given), fill

    def _adopt(self, data: RankingData, found: dict[str, Any]) -> None:
        """Become a ranker fitted to data, in one step: Ctrl-C comes before or after.

        It remembers how many rows each query has, where nothing else can tell later that a query was cut.
        """
        seen = _rows_of_queries(data.qid_from, data.query, data.query_ids)
        self._become(found, data.qid_from is not None, data.n_queries_without_pairs, seen)

    def _become(self, found: dict[str, Any], with_qid: bool, without_pairs: int, seen: RowCounts | None) -> None:
        """The same, of what is known of the data."""
        fitted = {**found, "fitted_with_qid_": with_qid, "_rows_seen": seen, "_queries_without_pairs": without_pairs}
        self.__dict__ = {name: value for name, value in vars(self).items() if name != "feature_names_in_"} | fitted

    def _remember(self, rows: LabelledRows) -> None:
        """The same where rows were not ranked."""
        self._rows_seen = _rows_of_queries(rows.qid_from, rows.grades.query, rows.grades.ids)

    def predict(self, X: Any) -> FloatArray:
        """Scores X @ coef_: larger is better. Only differences within a query mean anything.

        A score depends on its row alone, to the last bit: not on the rows around it, nor on how X is stored. Of a dask
        array it is a dask array, of a dask frame a series: rows are scored where they lie.
        """
        if "coef_" not in vars(self):  # else it is, and scikit-learn takes its time to say so
            check_is_fitted(self)
        if is_collection(X):
            X = without_columns(X, self._aside)
            check_names(self, stand_in(X))
            return score_collection(X, self.coef_, self.fill_)
        if isinstance(X, Dataset):
            return self._scored(X).scores
        X = self._features(X)
        features = check_features(X, allow_nan=self.fill_ is not None)
        check_names(self, X)
        return predict(features, self.coef_, self.fill_)

    def _scored(self, data: Dataset) -> ScoredRows:
        """The scores of a Dataset's rows beside their labels, chunk by chunk: its features need not fit into memory."""
        check_is_fitted(self)
        parts, scores = [], []
        for chunk in data.chunks():
            check_names(self, chunk)
            X = wide_enough(chunk.X, self.coef_.size) if isinstance(data, Scan) else chunk.X
            scores.append(predict(check_features(X, allow_nan=self.fill_ is not None), self.coef_, self.fill_))
            parts.append(replace(chunk, X=np.empty((chunk.n_rows, 0)), comments=None))
        rows = joined(parts)
        return ScoredRows(np.concatenate(scores), rows.y, rows.qid, rows.sample_weight)

    def predict_pair(self, A: Any, B: Any) -> FloatArray:
        """Probability that each row of A is preferred to the same row of B, for rankers with a logistic loss.

        Or with a loss of one's own that has `probability`. A single row, (d,) or (1, d), is compared with every row of
        the other.
        """
        check_is_fitted(self)
        loss = as_loss(self.loss)
        if loss.probability(np.empty(0)) is None:
            raise ParameterError(f"loss={loss.name!r} gives no probabilities: train with loss='logistic'.")
        a, b = self.predict(as_row(A)), self.predict(as_row(B))
        if a.size != b.size and 1 not in (a.size, b.size):
            raise DataError(f"A has {a.size} rows and B has {b.size}: give as many rows of either, or one.")
        return np.asarray(loss.probability(a - b))

    def rank(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.int64]:
        """1-based position of each row within its query, best first; equal scores keep their input order.

        Of a dask collection it is one: scores are brought together by query, rows are not.
        """
        if is_collection(X):
            X, qid, _ = column_beside(X, qid)
            return rank_collection(self.predict(X), qid)
        scored = self._scored(X) if isinstance(X, Dataset) else None
        if scored is not None:
            X, qid = scored.stand_in, scored.qid if qid is None else qid
        given = gather(X, qid)
        scores = self.predict(given.X) if scored is None else scored.scores
        return positions_within(*encode_queries(given.qid, scores.size), scores)

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> float:
        """Pairwise accuracy, equal scores counting one half, with preferences and weighting as fitted.

        `y` may be `labels(y, qid)`, and the score is NaN where these were cut. A ranker that was fitted with queries
        refuses to score without them; one that was fitted without takes all rows for one query. With a plain `qid` it
        warns where a query has another number of rows than in training. `pairs` and `ids` are those of `fit`: alone,
        or beside the preferences of `y`.
        """
        check_is_fitted(self)
        scored = self._scored(X) if isinstance(X, Dataset) else None
        if scored is not None:
            X, (y, qid, sample_weight) = scored.stand_in, scored.beside(y, qid, sample_weight)
        if is_collection(X):
            return self._score_collection(X, y, qid, sample_weight)
        given = gather(X, qid, pairs=pairs, ids=ids)
        needs_queries = y is not None or self.query_weighting == "queries"
        if self.fitted_with_qid_ and needs_queries and split_labels(y, given.qid)[1] is None:
            raise DataError(NO_QID)
        scores = self.predict(given.X) if scored is None else scored.scores
        if self._rows_seen is not None and given.qid is not None and y is not None and not are_labels(y):
            self._rows_seen.warn_of_others(given.qid, scores.size)
        accuracy: float = pairwise_accuracy(
            y,
            scores,
            given.qid,
            sample_weight=sample_weight,
            preferences=self.preferences if y is not None else "full",
            query_weighting=self.query_weighting,
            pairs=given.pairs,
        )
        return accuracy

    def inference(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: Any = None,
        pairs: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
        method: str = "sandwich",
        **options: Any,
    ) -> Inference:
        """How sure the weights are: standard errors, intervals and tests, from the data that was fitted.

        `linrank.inference.infer` says what the arguments are, and which `options` there are.
        """
        from ..inference import infer  # scipy's distributions take long to import

        weights = {"sample_weight": sample_weight, "query_weight": query_weight, "pairs": pairs}
        return infer(self, X, y, qid, **weights, cluster=cluster, method=method, **options)

    def _score_collection(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> float:
        """Pairwise accuracy of a dask collection."""
        X, qid, _ = column_beside(X, qid)
        if y is None:
            raise DataError("score judges a dask collection by labels: give y.")
        if self.fitted_with_qid_ and qid is None:
            raise DataError(NO_QID)
        accuracy: float = pairwise_accuracy(
            y,
            self.predict(X),
            qid,
            sample_weight=sample_weight,
            preferences=self.preferences,
            query_weighting=self.query_weighting,
        )
        return accuracy

    def explain(self, a: Any, b: Any) -> Explanation:
        """Why row `a` scores above (or below) row `b`: the exact contribution w_j (a_j - b_j) of each feature.

        Parameters
        ----------
        a, b : (d,) or (1, d)
            Rows: arrays, lists, sparse rows, or rows of a dataframe. Missing values are replaced as in `predict`.

        Returns
        -------
        Explanation
            Features by the size of their contribution; `print` it.
        """
        check_is_fitted(self)
        rows = []
        for row in (a, b):
            one = self._features(as_row(row))
            checked = fill_missing(one, self.fill_)
            check_names(self, one)
            if checked.shape[0] != 1:
                raise DataError(f"explain compares two rows, but was given {checked.shape[0]} at once: give one each.")
            rows.append(np.asarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.float64)[0])
        names = getattr(self, "feature_names_in_", None)
        return explain_difference(self.coef_, rows[0], rows[1], names)


def _rows_of_queries(qid_from: str | None, query: NDArray[np.int64], ids: NDArray[Any]) -> RowCounts | None:
    """Rows of each query, by plain ids; a single query can only be split by rows: that is no mistake."""
    return RowCounts.of(query, ids) if qid_from == "qid" and ids.size > 1 else None
