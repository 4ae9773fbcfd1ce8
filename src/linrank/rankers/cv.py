"""LinearRankerCV: the regularisation chosen by cross-validation along a warm-started path."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike

from .._errors import ConvergenceWarning
from ..data.collections import refuse_collection
from ..losses import AnyLoss
from ..metrics import Metric
from ..model_selection.folds import make_folds, with_pairs
from ..model_selection.path import Judge, Search
from ..solvers import Solver
from .names import feature_names
from .predictor import LinearPredictor
from .training import Training

CURE = "choose alpha on a part of it, as X.partitions[:9].compute(), and fit LinearRanker(alpha=...) to all of it"


class LinearRankerCV(LinearPredictor):
    """LinearRanker with alpha chosen by cross-validation.

    Each fold follows the alphas from the strongest to the weakest, starting each from the solution before (and, with
    the bundle method, from its planes). Queries are never split between folds; a single query is split by rows.

    Parameters
    ----------
    alphas : int or array, default=20
        The alphas to try, or how many: from a thousand times what alpha="auto" would be to a thousandth of it, and more
        where the best is the first or the last of them.
    cv : int, splitter or iterable of (train rows, test rows), default=5
        Folds by query; a splitter gets the queries as groups.
    metric : str or callable, default="pairwise_accuracy"
        What to choose alpha by: a name as in `linrank.metrics.parse` ("ndcg@10", "map"; errors are minimised), or a
        callable, to be maximised, that gets (y, scores, query numbers) of the test rows.
    one_standard_error : bool, default=False
        Take the strongest alpha whose mean score is within one standard error of the best.
    loss : str or Loss, default="squared_hinge"
        As in LinearRanker; one instance serves all folds, several at once with `n_jobs`.
    solver : str or Solver, default="auto"
        The same.
    preferences, query_weighting, scale, tol, max_iter, n_jobs, verbose, missing
        As in LinearRanker. `n_jobs` folds run at once; `verbose` shows their progress as well. Means that replace NaN
        are those of all rows, in every fold.

    Attributes
    ----------
    alpha_ : float
        The alpha chosen.
    cv_results_ : dict
        "alpha", "mean_score", "standard_error", "scores" (alphas by folds), "n_iter" (alphas by folds), and
        "default_alpha", what alpha="auto" would have been.
    coef_, scale_, objective_, gap_, n_iter_, n_pairs_, history_, status_
        Of the ranker fitted to all data with that alpha.
    """

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        cv: Any = 5,
        metric: str | Metric | Callable[..., float] = "pairwise_accuracy",
        one_standard_error: bool = False,
        loss: str | AnyLoss = "squared_hinge",
        solver: str | Solver = "auto",
        preferences: str | ArrayLike = "full",
        query_weighting: str = "pairs",
        scale: bool | str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
        missing: str = "error",
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.metric = metric
        self.one_standard_error = one_standard_error
        self.loss = loss
        self.solver = solver
        self.preferences = preferences
        self.query_weighting = query_weighting
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.missing = missing

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha, then train on all data; the arguments are those of LinearRanker.fit."""
        refuse_collection(X, "LinearRankerCV", CURE)
        judge = Judge.of(self.metric)
        training = Training.of(self, alpha="auto")
        search = Search(replace(training, n_jobs=None, verbose=0), judge, self.alphas, self.n_jobs, self.verbose)
        data, fill = self._data(X, y, qid, sample_weight=sample_weight, query_weight=query_weight, pairs=pairs)
        judge.check(data)
        path = search.over(data, with_pairs(make_folds(self.cv, data), data))
        if not path.converged:
            text = "Some fits within the folds did not converge: raise max_iter or tol, or drop the weakest alphas."
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        trained = replace(training, alpha=search.chosen(path, self.one_standard_error)).fit(data)
        more = {**feature_names(X), "fill_": fill, "cv_results_": path.results}
        self._adopt(data, {**trained.attributes(), **more})
        trained.warn(stacklevel=2)
        return self
