"""QueryScaler: features brought to a common scale within each query, as in LETOR."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._errors import DataError, ParameterError
from ..data.checks import check_choice, check_features
from ..data.collections import refuse_collection
from ..data.frames import check_frame, header_of
from ..data.labels import split_labels
from ..data.queries import encode_queries
from ..data.scaling import METHODS, QueryScale


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale each feature within each query.

    The output for a query depends on its own rows only, and nothing is learned from the training data. Queries that do
    not arrive are asked for: in a pipeline, scikit-learn hands qid on only with metadata routing, and linrank's
    `cross_validate` always does.

    Parameters
    ----------
    method : {"minmax", "standard"}, default="minmax"
        Divide by the range and subtract the minimum: values from 0 to 1, LETOR's "QueryLevelNorm". Or divide by the
        standard deviation and subtract the mean. A feature that is constant within a query is divided by 1.
    shift : bool, default=True
        Whether to subtract. Within a query a shift changes no difference of linear scores, so that shift=False gives a
        linear ranker the same information and keeps sparse data sparse. With shift, sparse data is taken where zeros
        stay zeros: "minmax" without negative values.
    one_query : bool, default=False
        Take rows without qid for one query: `fit` learns the scale of all rows and `transform` applies it, as
        scikit-learn's scalers do.

    Attributes
    ----------
    shift_, scale_ : (d,)
        What is subtracted and divided by, if all rows were one query in `fit`; else not set.
    fitted_with_qid_ : bool
        Whether there were queries in `fit`; `transform` then needs them too.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from linrank import QueryScaler
    >>> X, qid = np.array([[1.0], [3.0], [10.0], [30.0]]), [1, 1, 2, 2]
    >>> QueryScaler().fit_transform(X, qid=qid).ravel()
    array([0., 1., 0., 1.])
    """

    # In a Pipeline with metadata routing, qid arrives without set_fit_request and set_transform_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__transform = {"qid": True}  # noqa: RUF012
    __metadata_request__fit_transform = {"qid": True}  # noqa: RUF012

    def __init__(self, method: str = "minmax", *, shift: bool = True, one_query: bool = False) -> None:
        self.method = method
        self.shift = shift
        self.one_query = one_query

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not (self.method == "standard" and self.shift)
        return tags

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Self:
        """With queries only check; with `one_query` and without them learn the scale. y is read for its qid, if any."""
        refuse_collection(X, "QueryScaler", "give it X.compute(), or LinearRanker's scale=True instead")
        check_choice("method", self.method, METHODS)
        for name in ("shift", "one_query"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name}={getattr(self, name)!r} must be True or False.")
        _, qid = split_labels(y, qid)
        if qid is None and not self.one_query:
            raise DataError(
                "QueryScaler scales within queries, but no qid arrived: pass it to the pipeline under "
                "sklearn.set_config(enable_metadata_routing=True), use linrank's cross_validate, or say "
                "QueryScaler(one_query=True) if all rows are one query."
            )
        X = self._check(X, reset=True)
        self.fitted_with_qid_ = qid is not None
        if qid is None:
            found = self._measure(X, np.zeros(X.shape[0], dtype=np.int64), 1)
            self.shift_, self.scale_ = found.shift[0], found.scale[0]
        else:
            encode_queries(qid, X.shape[0])
        return self

    def transform(self, X: Any, qid: ArrayLike | None = None) -> Any:
        """Scale X; a query that is cut into several calls would be several queries."""
        check_is_fitted(self)
        if self.fitted_with_qid_ != (qid is not None):
            given = "with" if self.fitted_with_qid_ else "without"
            raise DataError(f"This scaler was fitted {given} qid: transform {given} qid too, or fit anew.")
        X = self._check(X, reset=False)
        if qid is None:
            return QueryScale(self.shift_[None], self.scale_[None]).applied(X, np.zeros(X.shape[0], dtype=np.int64))
        query, names = encode_queries(qid, X.shape[0])
        return self._measure(X, query, names.size).applied(X, query)

    def fit_transform(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> Any:
        """Fit, then transform the same rows."""
        _, qid = split_labels(y, qid)
        return self.fit(X, None, qid).transform(X, qid)

    def _check(self, X: Any, *, reset: bool) -> Any:
        given = check_frame(X)
        features = check_features(given)
        validate_data(self, header_of(given), reset=reset, skip_check_array=True)
        return features

    def _measure(self, X: Any, query: NDArray[np.int64], n_queries: int) -> QueryScale:
        """Shift and scale of every feature in every query."""
        found = QueryScale.of(X, query, n_queries, self.method)
        if not self.shift:
            return QueryScale(np.zeros_like(found.shift), found.scale)
        if sp.issparse(X) and (self.method == "standard" or np.any(found.shift < 0)):
            raise ParameterError("Subtracting would fill sparse data with numbers: use QueryScaler(shift=False).")
        return found
