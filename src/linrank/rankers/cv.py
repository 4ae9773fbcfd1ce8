"""LinearRankerCV: the regularisation chosen by cross-validation along a warm-started path."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ConvergenceWarning, DataError, NoPairsError, ParameterError
from .._progress import PathProgress
from .._threads import map_in_threads
from .._typing import FloatArray
from ..data.labels import are_labels, split_labels
from ..data.missing import learn_missing
from ..data.ranking_data import RankingData
from ..engines import open_engine
from ..engines.local import overflow_ignored
from ..engines.matrix import score_rows
from ..losses import AnyLoss
from ..metrics import Metric, parse
from ..metrics._names import OVER_PREFERENCES
from ..metrics._pairs import TIE_VALUE, accuracy_of
from ..model_selection.folds import make_folds, with_pairs
from ..solvers import Solver
from .linear import LinearRanker
from .predictor import LinearPredictor

logger = logging.getLogger("linrank")

#: How far a path that is given as a number reaches from alpha="auto", to either side.
REACH = 1e3
#: How often, and by which factor, such a path is made longer where the best alpha is at its end.
GROWTH, FURTHER = 4, 30.0
FITTED = (
    *("coef_", "scale_", "objective_", "gap_", "n_iter_", "history_", "status_", "n_features_in_"),
    *("n_rows_", "n_queries_", "n_pairs_", "fill_", "feature_names_in_", "fitted_with_qid_"),
)


class _Path(NamedTuple):
    """One fold: the test score, iterations and success at each alpha."""

    scores: list[float]
    n_iter: list[int]
    converged: bool

    def then(self, other: _Path) -> _Path:
        """Both paths, this one first."""
        return _Path(self.scores + other.scores, self.n_iter + other.n_iter, self.converged and other.converged)


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
    loss : {"squared_hinge", "hinge", "logistic", "logistic_erfc"} or Loss, default="squared_hinge"
        As in LinearRanker; one instance serves all folds, several at once with `n_jobs`.
    solver : {"auto", "newton", "bundle", "cg", "tron"} or Solver, default="auto"
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
        given: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight, "pairs": pairs}
        plain_qid = qid is not None and not are_labels(y)
        y, qid = split_labels(y, qid)
        self._check_alphas()
        metric = self._check_metric()
        self._ranker("auto")._check_parameters()
        weighting: dict[str, Any] = {"preferences": self.preferences, "query_weighting": self.query_weighting}
        data = RankingData(learn_missing(X, self.missing)[0], y, qid, **given, **weighting)
        folds = with_pairs(make_folds(self.cv, data), data)
        if data.y is None and not (metric is None or _over_the_data(metric)):
            raise DataError(f"metric={self.metric!r} needs y: give y, or choose by 'pairwise_accuracy'.")
        results, converged = self._search(self._default_alpha(data), metric, folds)
        if not converged:
            text = "Some fits within the folds did not converge: raise max_iter or tol, or drop the weakest alphas."
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        alpha = float(results["alpha"][self._choose(results, metric)])
        final = self._ranker(alpha).set_params(n_jobs=self.n_jobs, verbose=self.verbose)
        final._advises = False
        final.fit(X, y, qid, **given)
        found = {name: getattr(final, name) for name in FITTED if hasattr(final, name)}
        found |= {"alpha_": alpha, "cv_results_": results}
        self.__dict__.update(found)  # all in one step: Ctrl-C comes before or after
        if "feature_names_in_" not in found:
            self.__dict__.pop("feature_names_in_", None)  # of a fit before
        self._remember(data.query, data.query_ids, plain_qid=plain_qid)
        return self

    def _search(
        self, default: float, metric: Metric | None, folds: list[tuple[RankingData, RankingData]]
    ) -> tuple[dict[str, Any], bool]:
        """What the folds say of each alpha, and whether all fits converged.

        A path that was given as a number goes on where its best alpha is at an end, as long as that gains something.
        """
        alphas = self._make_alphas(default)
        with PathProgress(self.verbose, len(folds), alphas.size) as progress:

            def follow(some: FloatArray) -> list[_Path]:
                return map_in_threads(lambda fold: self._follow(some, metric, *fold, progress), folds, self.n_jobs)

            paths = follow(alphas)
            place, score = self._best(results := _summary(alphas, paths, default), metric)
            for _ in range(GROWTH if self._is_number() and alphas.size > 1 else 0):
                if place not in (0, alphas.size - 1):
                    break
                more = _beyond(alphas, place)
                progress.expect(more.size)
                new, first = follow(more), place == 0
                longer = np.r_[more, alphas] if first else np.r_[alphas, more]
                joined = [b.then(a) if first else a.then(b) for a, b in zip(paths, new, strict=True)]
                place, reached = self._best(further := _summary(longer, joined, default), metric)
                if not reached > score:
                    return results, all(path.converged for path in paths)
                alphas, paths, results, score = longer, joined, further, reached
        if alphas.size > 2 and place in (0, alphas.size - 1):
            end = "largest" if place == 0 else "smallest"
            logger.warning("the best alpha is the %s one tried, %.3g: there may be better ones", end, alphas[place])
        return results, all(path.converged for path in paths)

    def _default_alpha(self, data: RankingData) -> float:
        """What alpha="auto" stands for; NaN where it overflows and is not asked for."""
        try:
            with open_engine(data, self.n_jobs) as engine, overflow_ignored():
                return self._ranker("auto")._from_data(engine)[1]
        except DataError:
            if self._is_number():
                raise
            return np.nan

    def _ranker(self, alpha: float | str) -> LinearRanker:
        names = ("loss", "solver", "preferences", "query_weighting", "scale", "tol", "max_iter", "missing")
        return LinearRanker(alpha=alpha, **{name: getattr(self, name) for name in names})

    def _check_alphas(self) -> None:
        if isinstance(self.alphas, (int, np.integer)):
            if self.alphas < 1:
                raise ParameterError(f"alphas={self.alphas!r}: at least one alpha is needed.")
            return
        try:
            alphas = np.asarray(self.alphas, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            alphas = np.empty(0)
        if alphas.size == 0 or not np.all(np.isfinite(alphas)) or np.any(alphas <= 0):
            raise ParameterError("alphas must be how many to try, or a list of finite numbers above 0.")

    def _make_alphas(self, default: float) -> FloatArray:
        """The path, from strong to weak."""
        if not isinstance(self.alphas, (int, np.integer)):
            return np.unique(np.asarray(self.alphas, dtype=np.float64))[::-1]
        if self.alphas == 1:
            return np.array([default])
        return np.geomspace(default * REACH, default / REACH, int(self.alphas))

    def _check_metric(self) -> Metric | None:
        """The metric by name; None if it is the caller's function."""
        return None if callable(self.metric) and not isinstance(self.metric, Metric) else parse(self.metric)

    def _follow(
        self, alphas: FloatArray, metric: Metric | None, train: RankingData, test: RankingData, progress: PathProgress
    ) -> _Path:
        """Solve one fold's path and score each of its solutions on the test rows."""
        solutions, scale = self._ranker(alphas[0])._solve_path(train, alphas, progress.step)
        weights = [s.w if scale is None else s.w / scale for s in solutions]
        scores = [self._evaluate(metric, test, score_rows(test, w)) for w in weights]
        return _Path(scores, [s.n_iter for s in solutions], all(s.status == "converged" for s in solutions))

    def _evaluate(self, metric: Metric | None, test: RankingData, scores: FloatArray) -> float:
        if metric is None:
            own: Any = self.metric
            return float(own(test.y, scores, test.query))
        if _over_the_data(metric):
            accuracy = accuracy_of(scores, test.preferences, TIE_VALUE[metric.options.get("ties", "half")])
            return accuracy if metric.greater_is_better else 1.0 - accuracy
        assert test.y is not None
        if metric.family in OVER_PREFERENCES:  # pooled over the pairs of all queries, as everywhere
            try:
                return float(metric(test.y, scores, test.query))
            except NoPairsError:
                return np.nan
        values = metric(test.y, scores, test.query, per_query=True)
        known = values[~np.isnan(values)]
        return float(known.mean()) if known.size else np.nan

    def _best(self, results: dict[str, Any], metric: Metric | None) -> tuple[int, float]:
        """Number of the best alpha, and its mean score, negated for errors.

        Of equal ones the strongest, or, on a path that lies around the default, the nearest to that.
        """
        mean = _sign(metric) * results["mean_score"]
        if np.all(np.isnan(mean)):
            raise DataError(f"metric={self.metric!r} is not defined in any fold: choose another, or use fewer folds.")
        ties = np.flatnonzero(mean == np.nanmax(mean))
        away = np.abs(np.log(results["alpha"][ties] / results["default_alpha"])) if self._is_number() else ties
        best = int(ties[np.argmin(away)])
        return best, float(mean[best])

    def _is_number(self) -> bool:
        """Whether alphas is how many of them, not which."""
        return isinstance(self.alphas, (int, np.integer))

    def _choose(self, results: dict[str, Any], metric: Metric | None) -> int:
        best, score = self._best(results, metric)
        if not self.one_standard_error:
            return best
        return int(np.argmax(_sign(metric) * results["mean_score"] >= score - results["standard_error"][best]))


def _sign(metric: Metric | None) -> float:
    return 1.0 if metric is None or metric.greater_is_better else -1.0


def _over_the_data(metric: Metric) -> bool:
    """Whether the metric is taken over the preferences of the data as they are: graphs, explicit pairs, weights."""
    return metric.takes_preferences and set(metric.options) <= {"ties"}


def _beyond(alphas: FloatArray, place: int) -> FloatArray:
    """Alphas beyond the first or the last of a path, from strong to weak: as dense as it is, and as far as FURTHER."""
    ratio = min(float(alphas[0] / alphas[1]), FURTHER)
    steps = ratio ** np.arange(1, round(np.log(FURTHER) / np.log(ratio)) + 1)
    return alphas[0] * steps[::-1] if place == 0 else alphas[-1] / steps


def _summary(alphas: FloatArray, paths: list[_Path], default: float) -> dict[str, Any]:
    scores = np.array([path.scores for path in paths]).T
    known = scores[:, ~np.isnan(scores).any(axis=0)]  # folds in which the metric is defined
    n = known.shape[1]
    return {
        "alpha": alphas,
        "mean_score": known.mean(axis=1) if n else np.full(alphas.size, np.nan),
        "standard_error": known.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(alphas.size),
        "scores": scores,
        "n_iter": np.array([path.n_iter for path in paths]).T,
        "default_alpha": default,
    }
