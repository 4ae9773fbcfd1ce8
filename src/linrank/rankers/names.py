"""Number and names of features: taken from what a ranker is fitted to, compared with what it is given later."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .._errors import DataError
from ..data.dataset import Dataset
from ..data.device import with_shape
from ..data.frames import header_of


class _Named(BaseEstimator):
    """Takes names of features."""


def feature_names(X: Any) -> dict[str, Any]:
    """Number and, where X has them, names of the features, as scikit-learn's attributes."""
    if isinstance(X, Dataset):
        names = {} if X.feature_names is None else {"feature_names_in_": np.array(X.feature_names, dtype=object)}
        return {"n_features_in_": X.n_features, **names}
    if _has_no_names(X):
        return {"n_features_in_": int(X.shape[1])}
    taker = _Named()
    validate_data(taker, with_shape(header_of(X)), skip_check_array=True)
    return dict(vars(taker))


def _has_no_names(X: Any) -> bool:
    """Whether X is an array or a sparse matrix: scikit-learn takes longer to find that out than to predict a row."""
    return (type(X) is np.ndarray or sp.issparse(X)) and X.ndim == 2


def named(given: Any, X: Any) -> Any:
    """What tells the names of features: a Dataset that was given, or else the features themselves."""
    return given if isinstance(given, Dataset) else X


def take_names(ranker: Any, X: Any) -> None:
    """Give a ranker the number and names of the features it was fitted to."""
    if not isinstance(X, Dataset):
        validate_data(ranker, with_shape(header_of(X)), skip_check_array=True)
        return
    ranker.__dict__.pop("feature_names_in_", None)
    ranker.__dict__.update(feature_names(X))


def check_names(ranker: Any, X: Any) -> None:
    """Refuse features other than those fitted to, as scikit-learn does; those of a Dataset by their names."""
    if (
        _has_no_names(X)
        and vars(ranker).get("n_features_in_") == X.shape[1]
        and not hasattr(ranker, "feature_names_in_")
    ):
        return
    if not isinstance(X, Dataset):
        validate_data(ranker, with_shape(header_of(X)), reset=False, skip_check_array=True)
        return
    known, names = getattr(ranker, "feature_names_in_", None), X.feature_names
    if known is None or names is None or list(known) == names:
        return
    for name in (*known, *names):
        if (name in names) != (name in known):
            where = "the data lacks" if name in known else "the ranker was not fitted to"
            raise DataError(f"There is a column {name!r} that {where}: give the features that were fitted to.")
    raise DataError("The features are in another order than when fitted: scan or read with features=[...].")
