"""LinearRankerCV: the regularisation chosen by cross-validation along a warm-started path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ConvergenceWarning, ParameterError, warn_caller
from .._typing import FloatArray
from ..data.collections import refuse_collection
from ..data.dataset import unpacked
from ..data.ranking_data import RankingData
from ..losses import AnyLoss
from ..metrics import Metric
from ..model_selection.folds import Halves, make_folds, with_pairs
from ..model_selection.pair_folds import pair_folds
from ..model_selection.path import CoefPath, Judge, Search
from ..solvers import Solver
from .lazy import Evaluated
from .names import feature_names, named
from .predictor import LinearPredictor
from .refusals import refuses
from .training import Training

CURE = "choose alpha on a part of it, as X.partitions[:9].compute(), and fit LinearRanker(alpha=...) to all of it"


class LinearRankerCV(LinearPredictor):
    """LinearRanker with alpha chosen by cross-validation.

    Each fold follows the alphas from the strongest to the weakest, starting each from the solution before (and, with
    the bundle method, from its planes). Queries are never split between folds; a single query is split by rows, or,
    where `pairs` are all there is, by pairs.

    Parameters
    ----------
    alphas : int or array, default=20
        The alphas to try, or how many: from a thousand times what alpha="auto" would be to a thousandth of it, and more
        where the best is the first or the last of them. With an l1 part, from the alpha at which all weights are 0 to a
        thousandth of that, and more where the best is the last.
    cv : int, splitter or iterable of (train rows, test rows), default=5
        Folds by query; a splitter gets the queries as groups. With pairs alone (no y) folds are of pairs: an iterable
        holds numbers of pairs, a splitter gets the pairs as X, and `model_selection.PairKFold(by="items")` holds out
        items with all of their pairs.
    metric : str or callable, default="pairwise_accuracy"
        What to choose alpha by: a name as in `linrank.metrics.parse` ("ndcg@10", "map"; errors are minimised), or a
        callable, to be maximised, that gets (y, scores, query numbers) of the test rows. Pairs alone are judged by
        "pairwise_accuracy" or "log_loss".
    one_standard_error : bool, default=False
        Take the strongest alpha whose mean score is within one standard error of the best; with an l1 part, the one
        that leaves the fewest features.
    refit : bool, default=True
        Fit to all data with the alpha chosen. False keeps the ranker of the training rows, for a single split: with
        ``cv=[(train rows, validation rows)]`` this is LETOR's protocol, in which validation rows choose, and no more.
    loss : str or Loss, default="squared_hinge"
        As in LinearRanker; one instance serves all folds, several at once with `n_jobs`.
    solver : str or Solver, default="auto"
        The same.
    preferences, query_weighting, scale, tol, max_iter, n_jobs, verbose, missing, l1_ratio, monotonic_cst, bounds
        As in LinearRanker. `n_jobs` folds run at once; `verbose` shows their progress as well. Means that replace NaN
        are those of all rows, in every fold.

    Attributes
    ----------
    alpha_ : float
        The alpha chosen.
    cv_results_ : dict
        Columns that ``pandas.DataFrame`` takes, one row an alpha: "alpha", "mean_score", "standard_error",
        "split0_score", ..., "split0_n_iter", ..., and "default_alpha", what alpha="auto" would have been. By
        ``cv_results_["scores"]`` and ``["n_iter"]`` the folds' columns come side by side. With an l1 part or bounds
        also "n_features", how many weights are not 0 in the fit to all data.
    coef_path_ : (alphas, d)
        The weights at each alpha of `cv_results_`, fitted to all data (with refit=False: to the training rows). They
        are computed when they are first asked for: until then the ranker holds on to the data.
    coef_, scale_, objective_, gap_, n_iter_, n_pairs_, history_, status_
        Of the ranker fitted to all data (with refit=False: to the training rows) with that alpha.
    """

    _names: Sequence[str] | None = None  # of features, where X does not tell them
    coef_path_ = Evaluated("coef_path")

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        cv: Any = 5,
        metric: str | Metric | Callable[..., float] = "pairwise_accuracy",
        one_standard_error: bool = False,
        refit: bool = True,
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
        l1_ratio: float = 0.0,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        bounds: Any = None,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.metric = metric
        self.one_standard_error = one_standard_error
        self.refit = refit
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
        self.l1_ratio = l1_ratio
        self.monotonic_cst = monotonic_cst
        self.bounds = bounds

    @refuses
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha, then train on all data; the arguments are those of LinearRanker.fit."""
        refuse_collection(X, "LinearRankerCV", CURE)
        judge = Judge.of(self.metric)
        training = Training.of(self, alpha="auto")
        data_of, (X, y, qid, sample_weight) = X, unpacked(X, y, qid, sample_weight)
        given = self._given(X, qid, group=group, pairs=pairs, ids=ids)
        weights: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight}
        rows, fill = self._labelled(given.X, y, given.qid, **weights, pairs=given.pairs)
        data, names = rows.ranked, feature_names(named(data_of, given.X))
        data.tell_of_skipped()
        training = training.over(data.n_features, names.get("feature_names_in_", self._names))
        search = Search(replace(training, n_jobs=None, verbose=0), judge, self.alphas, self.n_jobs, self.verbose)
        judge.check(data)
        folds = pair_folds(self.cv, rows) if y is None else with_pairs(make_folds(self.cv, data), data)
        if self.one_standard_error and len(folds) == 1:
            raise ParameterError(
                "one_standard_error is that of several folds, and cv has one: give more, or leave it out."
            )
        data = data if self._refits(len(folds)) else folds[0][0]
        more = {**names, "fill_": fill, "_aside": given.aside}
        return self._choose(training, search, data, folds, more)

    def _choose(
        self, training: Training, search: Search, data: RankingData, folds: list[Halves], more: dict[str, Any]
    ) -> Self:
        """Take on what is fitted to data with the alpha that is best in the folds."""
        path = search.over(data, folds)
        if not path.converged:
            text = "Some fits within the folds did not converge: raise max_iter or tol, or drop the weakest alphas."
            warn_caller(text, ConvergenceWarning)
        more = {**more, "cv_results_": path.results}
        coef: FloatArray | None = None
        if training.limits.kinks:  # how many features are left at each alpha is part of the answer
            fits = search.whole(data, path.alphas)
            coef = np.array([fit.attributes()["coef_"] for fit in fits])
            more["cv_results_"]["n_features"] = n_features = np.count_nonzero(coef, axis=1)
            trained = fits[search.place(path, self.one_standard_error, n_features)]
        else:
            trained = replace(training, alpha=search.chosen(path, self.one_standard_error)).fit(data)
        self._adopt(data, {**trained.attributes(), **more})
        if coef is not None:
            Evaluated.now(self, coef_path=coef)
        else:
            Evaluated.later(self, CoefPath(replace(training, verbose=0), data, path.alphas))
        trained.warn()
        return self

    def _refits(self, n_folds: int) -> bool:
        """Whether all data is fitted in the end; without, there is one split, whose training rows are."""
        if not isinstance(self.refit, (bool, np.bool_)):
            raise ParameterError(f"refit={self.refit!r} must be True or False.")
        if not self.refit and n_folds != 1:
            raise ParameterError(
                f"refit=False keeps the ranker of one split's training rows, but there are {n_folds} splits: give "
                "cv=[(train rows, validation rows)], or leave refit=True."
            )
        return bool(self.refit)

    def __getstate__(self) -> dict[str, Any]:
        """With a path that had not been asked for: the rows that it depends on stay behind."""
        Evaluated.settle(self)
        return super().__getstate__()
