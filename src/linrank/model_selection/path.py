"""A path of alphas, judged on folds: each fold follows the alphas from the strongest to the weakest."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._errors import DataError, NoPairsError, ParameterError
from .._progress import PathProgress
from .._threads import map_in_threads
from .._typing import FloatArray, IntArray
from ..data.ranking_data import RankingData
from ..defaults import PARTS
from ..engines.matrix import score_rows
from ..metrics import Metric, parse
from ..metrics._log_loss import value_over
from ..metrics._names import OVER_PREFERENCES
from ..rankers.training import Trained, Training
from .folds import Halves
from .results import Results

logger = logging.getLogger("linrank")

#: How far a path that is given as a number reaches from alpha="auto", to either side; with an l1 part, from the alpha
#: at which all weights are 0 downwards.
REACH = 1e3
#: How often, and by which factor, such a path is made longer where the best alpha is at its end.
GROWTH, FURTHER = 4, 30.0


@dataclass(frozen=True)
class Judge:
    """What an alpha is chosen by: a metric, or somebody's own function (y, scores, query numbers), to be maximised."""

    metric: Metric | Callable[..., float]

    @classmethod
    def of(cls, metric: Any) -> Judge:
        """A metric by its name, or a function as it is."""
        return cls(metric if callable(metric) and not isinstance(metric, Metric) else parse(metric))

    @property
    def sign(self) -> float:
        """Minus 1 for errors, which are minimised."""
        return -1.0 if isinstance(self.metric, Metric) and not self.metric.greater_is_better else 1.0

    @property
    def over_the_data(self) -> bool:
        """Whether it is taken over the preferences of the data as they are: graphs, explicit pairs, weights."""
        metric = self.metric
        return isinstance(metric, Metric) and metric.takes_preferences and set(metric.options) <= {"ties"}

    def check(self, data: RankingData) -> None:
        """Refuse data that it cannot judge."""
        if data.y is None and not self.over_the_data:
            name = getattr(self.metric, "name", None) or getattr(self.metric, "__name__", "a function")
            raise DataError(f"metric={name!r} needs y: give y, or choose by 'pairwise_accuracy' or 'log_loss'.")

    def __call__(self, test: RankingData, scores: FloatArray) -> float:
        """What the scores are worth; NaN where that is not defined."""
        metric = self.metric
        if not isinstance(metric, Metric):
            return float(metric(test.y, scores, test.query))
        if self.over_the_data:
            return value_over(metric, scores, test.preferences)
        assert test.y is not None
        if metric.family in OVER_PREFERENCES:  # pooled over the pairs of all queries, as everywhere
            try:
                return float(metric(test.y, scores, test.query))
            except NoPairsError:
                return np.nan
        values = metric(test.y, scores, test.query, per_query=True)
        known = values[~np.isnan(values)]
        return float(known.mean()) if known.size else np.nan


class FoldPath(NamedTuple):
    """One fold: the test score, iterations and success at each alpha."""

    scores: list[float]
    n_iter: list[int]
    converged: bool

    def then(self, other: FoldPath) -> FoldPath:
        """Both paths, this one first."""
        return FoldPath(self.scores + other.scores, self.n_iter + other.n_iter, self.converged and other.converged)


@dataclass(frozen=True)
class Path:
    """Alphas from strong to weak, what each fold found along them, and what alpha="auto" would have been."""

    alphas: FloatArray
    folds: list[FoldPath]
    default: float

    @property
    def converged(self) -> bool:
        """Whether all fits did."""
        return all(fold.converged for fold in self.folds)

    @property
    def results(self) -> Results:
        """`cv_results_`."""
        scores = np.array([fold.scores for fold in self.folds]).T
        known = scores[:, ~np.isnan(scores).any(axis=0)]  # folds in which the metric is defined
        n = known.shape[1]
        return Results(
            alpha=self.alphas,
            mean_score=known.mean(axis=1) if n else np.full(self.alphas.size, np.nan),
            standard_error=known.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.full(self.alphas.size, np.nan),
            default_alpha=self.default,
            **{f"split{k}_score": scores[:, k] for k in range(len(self.folds))},
            **{f"split{k}_n_iter": np.array(fold.n_iter) for k, fold in enumerate(self.folds)},
        )

    def longer(self, alphas: FloatArray, folds: list[FoldPath], first: bool) -> Path:
        """With more alphas, before the first or after the last one."""
        both = zip(self.folds, folds, strict=True)
        joined = [new.then(old) if first else old.then(new) for old, new in both]
        return Path(np.r_[alphas, self.alphas] if first else np.r_[self.alphas, alphas], joined, self.default)


@dataclass(frozen=True)
class CoefPath:
    """The weights at each alpha of a path on all data, which nobody has asked for yet."""

    training: Training
    data: RankingData
    alphas: FloatArray

    def evaluated(self) -> dict[str, Any]:
        """Weights (alphas, d) in the units of the data; each fit starts from the one before."""
        trained = self.training.path(self.data, self.alphas, lambda solution: None)
        return {"coef_path": np.array([fit.attributes()["coef_"] for fit in trained])}


@dataclass(frozen=True)
class Search:
    """The best of some alphas: of those given, or of a number of them around alpha="auto"."""

    training: Training
    judge: Judge
    alphas: Any  # how many, or which
    n_jobs: int | None = None
    verbose: int = 0

    def __post_init__(self) -> None:
        if self.is_number:
            if self.alphas < 1:
                raise ParameterError(f"alphas={self.alphas!r}: at least one alpha is needed.")
            return
        try:
            alphas = np.asarray(self.alphas, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            alphas = np.empty(0)
        if alphas.size == 0 or not np.all(np.isfinite(alphas)) or np.any(alphas <= 0):
            raise ParameterError("alphas must be how many to try, or a list of finite numbers above 0.")

    @property
    def sparse(self) -> bool:
        """Whether there is an alpha at which all weights are 0."""
        return self.training.limits.l1_ratio > 0.0

    @property
    def is_number(self) -> bool:
        """Whether alphas is how many of them, not which."""
        return isinstance(self.alphas, (int, np.integer))

    def over(self, data: RankingData, folds: list[Halves]) -> Path:
        """What the folds of the data say of each alpha.

        A path that was given as a number goes on where its best alpha is at an end, as long as that gains something.
        """
        default = self._default(data)
        alphas = self._first(default)
        with PathProgress(self.verbose, len(folds), alphas.size) as progress:
            path = Path(alphas, self._follow(alphas, folds, progress), default)
            place, score = self.best(path)
            for _ in range(GROWTH if self.is_number and alphas.size > 1 else 0):
                if place not in (0, path.alphas.size - 1) or (place == 0 and self.sparse):
                    return path
                more = _beyond(path.alphas, place)
                progress.expect(more.size)
                further = path.longer(more, self._follow(more, folds, progress), first=place == 0)
                place_further, reached = self.best(further)
                if not reached > score:
                    return path
                path, place, score = further, place_further, reached
        if path.alphas.size > 2 and place in (0, path.alphas.size - 1) and not (place == 0 and self.sparse):
            end = "largest" if place == 0 else "smallest"
            logger.warning(
                "the best alpha is the %s one tried, %.3g: there may be better ones", end, path.alphas[place]
            )
        return path

    def best(self, path: Path) -> tuple[int, float]:
        """Number of the best alpha, and its mean score, negated for errors.

        Of equal ones the strongest, or, on a path that lies to both sides of the default, the nearest to that.
        """
        mean = self.judge.sign * path.results["mean_score"]
        if np.all(np.isnan(mean)):
            name = getattr(self.judge.metric, "name", self.judge.metric)
            raise DataError(f"metric={name!r} is not defined in any fold: choose another, or use fewer folds.")
        ties = np.flatnonzero(mean == np.nanmax(mean))
        away = np.abs(np.log(path.alphas[ties] / path.default)) if self.is_number and not self.sparse else ties
        best = int(ties[np.argmin(away)])
        return best, float(mean[best])

    def chosen(self, path: Path, one_standard_error: bool) -> float:
        """The best alpha, or the strongest within one standard error of it."""
        return float(path.alphas[self.place(path, one_standard_error)])

    def place(self, path: Path, one_standard_error: bool, n_features: IntArray | None = None) -> int:
        """Its number; where it is told how many features each leaves, that of the fewest within the error."""
        place, score = self.best(path)
        if one_standard_error:
            results = path.results
            error = results["standard_error"][place]
            if np.isnan(error):
                raise ParameterError(
                    "one_standard_error is that of several folds, and only one has a score: give cv more of them, or "
                    "leave it out."
                )
            near = self.judge.sign * results["mean_score"] >= score - error
            sizes = np.zeros(path.alphas.size) if n_features is None else n_features
            place = int(np.argmin(np.where(near, sizes, np.inf)))
        return place

    def whole(self, data: RankingData, alphas: FloatArray) -> list[Trained]:
        """The fits to all data."""
        with PathProgress(self.verbose, 1, alphas.size) as progress:
            return self.training.path(data, alphas, progress.step)

    def _default(self, data: RankingData) -> float:
        """What alpha="auto" stands for; NaN where it overflows and is not asked for."""
        try:
            return self.training.default_alpha(data)
        except DataError:
            if self.is_number:
                raise
            return np.nan

    def _first(self, default: float) -> FloatArray:
        if not self.is_number:
            return np.unique(np.asarray(self.alphas, dtype=np.float64))[::-1]
        if self.alphas == 1:
            return np.r_[default]
        highest, lowest = default * REACH, default / REACH
        if self.sparse:
            highest, lowest = default * PARTS, default * PARTS / REACH
        return np.geomspace(highest, lowest, int(self.alphas))

    def _follow(self, alphas: FloatArray, folds: list[Halves], progress: PathProgress) -> list[FoldPath]:
        """Solve each fold's path, and score its solutions on the test rows."""

        def one(fold: Halves) -> FoldPath:
            train, test = fold
            trained = self.training.path(train, alphas, progress.step)
            scores = [self.judge(test, score_rows(test, fit.attributes()["coef_"])) for fit in trained]
            solutions = [fit.solution for fit in trained]
            return FoldPath(scores, [s.n_iter for s in solutions], all(s.status == "converged" for s in solutions))

        return map_in_threads(one, folds, self.n_jobs)


def _beyond(alphas: FloatArray, place: int) -> FloatArray:
    """Alphas beyond the first or the last of a path, from strong to weak: as dense as it is, and as far as FURTHER."""
    ratio = min(float(alphas[0] / alphas[1]), FURTHER)
    steps = ratio ** np.arange(1, round(np.log(FURTHER) / np.log(ratio)) + 1)
    return alphas[0] * steps[::-1] if place == 0 else alphas[-1] / steps
