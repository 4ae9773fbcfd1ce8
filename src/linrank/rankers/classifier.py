"""AUCClassifier: binary classification by ranking the positive rows above the others."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from .._errors import DataError
from .._threads import map_in_threads
from .._typing import FloatArray
from ..data.checks import check_features, check_weights
from ..data.frames import check_frame, header_of
from ..engines.matrix import predict
from ..losses import AnyLoss
from ..model_selection.calibration import Sigmoid, fit_sigmoid
from ..model_selection.folds import Fold, content_folds, folds_by
from ..solvers import Solver
from .linear import LinearRanker
from .names import feature_names

logger = logging.getLogger("linrank")


class AUCClassifier(ClassifierMixin, BaseEstimator):
    """Linear classifier of two classes that maximises the area under the ROC curve, with calibrated probabilities.

    A LinearRanker of one query and two levels: every positive row should score above every negative one. However rare a
    class is, each pair holds one row of either, so `class_weight` would multiply all pairs by the same number and
    change nothing (but the columns' scale, which goes by weighted rows, and the alpha that goes by it). Probabilities
    come from a sigmoid fitted to the scores of held-out folds; 0.5 is the threshold of `predict`.

    Parameters
    ----------
    loss : str or Loss, default="squared_hinge"
        As in LinearRanker; one instance serves all folds, several at once with `n_jobs`.
    solver : str or Solver, default="auto"
        The same.
    alpha, scale, tol, max_iter, n_jobs, verbose, l1_ratio, monotonic_cst, bounds
        As in LinearRanker. `n_jobs` folds run at once.
    cv : int, splitter, iterable of (train rows, test rows) or None, default=5
        Folds whose held-out scores the sigmoid is fitted to. A number: that many, or fewer where a class has fewer
        distinct rows, and equal rows share a fold. None: the training scores themselves, which is faster, but claims
        more than it should.

    Attributes
    ----------
    classes_ : (2,)
        The classes; the second is the positive one.
    coef_ : (1, d), intercept_ : (1,)
        decision_function(X) is X @ coef_[0] + intercept_[0].
    slope_ : float
        predict_proba is 1 / (1 + exp(-slope_ * decision_function)).
    ranker_ : LinearRanker
        The ranker fitted to all rows: gap_, objective_, status_, n_pairs_ and the rest.
    alpha_ : float
        Its strength of the regulariser.
    n_iter_ : int
        Its iterations.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from linrank import AUCClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AUCClassifier().fit(X[::2], y[::2])
    >>> bool(roc_auc_score(y[1::2], model.decision_function(X[1::2])) > 0.97)
    True
    """

    def __init__(
        self,
        loss: str | AnyLoss = "squared_hinge",
        alpha: float | str = "auto",
        *,
        solver: str | Solver = "auto",
        scale: bool | str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        l1_ratio: float = 0.0,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        bounds: Any = None,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.solver = solver
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.l1_ratio = l1_ratio
        self.monotonic_cst = monotonic_cst
        self.bounds = bounds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows X of two classes y; a pair weighs the product of its rows' weights."""
        names = check_frame(X)
        X = check_features(names)
        classes, positive = _check_classes(y, X.shape[0])
        weight = np.ones(X.shape[0]) if sample_weight is None else _check_weight(sample_weight, positive)
        ranker = self._ranker().set_params(n_jobs=self.n_jobs, verbose=self.verbose)
        ranker._advises = False  # on queries, of which there are none
        ranker._names = feature_names(names).get("feature_names_in_")
        folds = self._folds(X, positive, weight)
        ranker.fit(X, positive, sample_weight=weight)
        centre, rows, scores = self._held_out(X, positive, weight, folds, ranker)
        sigmoid = fit_sigmoid(scores, positive[rows], weight[rows])
        validate_data(self, header_of(names), skip_check_array=True)
        self.__dict__.update(_fitted(ranker, centre, sigmoid), classes_=classes)  # in one step: before Ctrl-C or after
        return self

    @property
    def alpha_(self) -> float:
        """The strength of the regulariser that was used."""
        return self.ranker_.alpha_

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: above 0 is more probably positive than not. Their order is what was trained."""
        check_is_fitted(self)
        given = check_frame(X)
        features = check_features(given)
        validate_data(self, header_of(given), reset=False, skip_check_array=True)
        return predict(features, self.ranker_.coef_, intercept=self.intercept_[0])

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the two classes, in the order of classes_."""
        decision = self.decision_function(X)
        logit = self.slope_ * decision
        return np.column_stack([expit(-logit), expit(logit)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the larger probability."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def _folds(self, X: Any, positive: NDArray[np.bool_], weight: FloatArray) -> list[Fold]:
        """Training and held-out rows; none: calibrate on the training rows."""
        if self.cv is None:
            return []
        if isinstance(self.cv, (int, np.integer)) and not isinstance(self.cv, bool) and self.cv >= 2:
            folds = content_folds(X, positive, weight > 0, int(self.cv))
        else:
            folds = folds_by(
                self.cv, np.zeros(positive.size, dtype=np.int64), np.zeros(1), np.ones(1, dtype=bool), positive
            )
        both = [np.unique(positive[train][weight[train] > 0]).size == 2 for train, _ in folds]
        if not any(both):
            logger.info("No fold has both classes to train on: probabilities are calibrated on the training rows")
        return [fold for fold, fits in zip(folds, both, strict=True) if fits]

    def _ranker(self) -> LinearRanker:
        names = ("loss", "alpha", "solver", "scale", "tol", "max_iter", "l1_ratio", "monotonic_cst", "bounds")
        return LinearRanker(**{name: getattr(self, name) for name in names})

    def _held_out(
        self, X: Any, positive: NDArray[np.bool_], weight: FloatArray, folds: list[Fold], ranker: LinearRanker
    ) -> tuple[float, NDArray[np.int64], FloatArray]:
        """The centre of the ranker's scores; rows, and their scores by rankers that have not seen them.

        Scores of different rankers are compared after each has been centred between the classes it was trained on.
        """
        own = ranker.predict(X)
        centre = _between(own, positive, weight)
        if not folds:
            return centre, np.arange(positive.size), own - centre

        def run(fold: Fold) -> FloatArray:
            train, test = fold
            inside = X[train]
            one = self._ranker()
            one._names, one._on_fold = ranker._names, True
            one.fit(inside, positive[train], sample_weight=weight[train])
            return one.predict(X[test]) - _between(one.predict(inside), positive[train], weight[train])

        scores = np.concatenate(map_in_threads(run, folds, self.n_jobs))
        return centre, np.concatenate([test for _, test in folds]), scores


def _fitted(ranker: LinearRanker, centre: float, sigmoid: Sigmoid) -> dict[str, Any]:
    """The attributes of a fitted classifier."""
    return {
        "ranker_": ranker,
        "coef_": ranker.coef_[None],
        "slope_": sigmoid.slope,
        "intercept_": np.array([sigmoid.offset / sigmoid.slope - centre]),
        "n_iter_": ranker.n_iter_,
    }


def _between(scores: FloatArray, positive: NDArray[np.bool_], weight: FloatArray) -> float:
    """The middle between the mean scores of the two classes."""
    means = [np.average(scores[here], weights=weight[here]) for here in (positive, ~positive)]
    return float(means[0] + means[1]) / 2


def _check_weight(sample_weight: ArrayLike, positive: NDArray[np.bool_]) -> FloatArray:
    weight = check_weights("sample_weight", sample_weight, positive.size)
    if not np.any(weight):
        raise DataError("All of sample_weight is zero: give rows of both classes a positive weight.")
    if np.unique(positive[weight > 0]).size < 2:
        raise DataError("All rows with weight are of one class: two classes are needed to tell them apart.")
    return weight


def _check_classes(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The two classes, and which rows are of the second."""
    if y is None:
        raise DataError("This requires y to be passed, but the target y is None: give the class of each row.")
    try:
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
    except (ValueError, TypeError) as error:
        raise DataError(str(error)) from None
    if labels.size != n_rows:
        raise DataError(f"y has {labels.size} values, but X has {n_rows} rows: give the class of each row.")
    if kind != "binary":
        raise DataError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, number = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise DataError("y holds one class only: two classes are needed to tell them apart.")
    return classes, number == 1
