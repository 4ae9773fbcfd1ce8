"""A fitted ranker and the data that it is asked about: the objective that it minimised, and the independent units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._errors import DataError, ParameterError
from .._typing import FloatArray, IntArray
from ..data.missing import fill_missing
from ..data.queries import encode_queries
from ..data.ranking_data import RankingData
from ..engines import Engine, Facts, open_engine
from ..engines.outer import query_weights, row_weights
from ..losses import Loss, as_loss
from ..objective import Objective, Point
from ..penalties import Penalty
from ..rankers.limits import Asked

#: Relative to f(0), how far the objective at `coef_` may be from the one that was reached in training.
SAME = 1e-6


@dataclass(frozen=True)
class Fitted:
    """What is known of a fitted ranker."""

    ranker: Any
    loss: Loss
    penalty: Penalty
    scale: FloatArray
    names: tuple[str, ...]
    classes: NDArray[Any] | None = None

    @classmethod
    def of(cls, given: Any) -> Fitted:
        """Refuse rankers of which too little is known."""
        check_is_fitted(given)
        ranker = getattr(given, "ranker_", given)  # a classifier's
        if not np.isfinite(getattr(ranker, "gap_", np.nan)) or not hasattr(ranker, "scale_"):
            raise ParameterError(
                f"This {type(given).__name__} has no certificate of its weights: fit a LinearRanker, start= at its own."
            )
        d = ranker.coef_.size
        names = getattr(given, "feature_names_in_", [f"feature {j}" for j in range(1, d + 1)])
        classes = getattr(given, "classes_", None)
        named = tuple(str(name) for name in names)
        limits = Asked.of(ranker).over(d, getattr(given, "feature_names_in_", None))
        scale = None if np.all(ranker.scale_ == 1) else ranker.scale_
        penalty = limits.penalty(float(ranker.alpha_), scale)
        return cls(ranker, as_loss(ranker.loss), penalty, ranker.scale_, named, classes)

    def data(self, X: Any, y: ArrayLike | None, qid: ArrayLike | None, cluster: ArrayLike | None, **given: Any) -> Any:
        """The rows as they were fitted, with their clusters."""
        ranker = self.ranker
        if self.classes is not None:
            y = np.asarray(y) == self.classes[1]
        if ranker.fill_ is not None:
            X = fill_missing(X, ranker.fill_)
        given |= {"preferences": ranker.preferences, "query_weighting": ranker.query_weighting}
        data = RankingData(X, y, qid, **given)
        return data if cluster is None else data.clustered(number_clusters(cluster, data.n_rows))

    def engine(self, data: RankingData) -> Engine:
        """Where it was trained."""
        return open_engine(data, self.ranker.n_jobs, getattr(self.ranker, "device", None))

    def objective(self, engine: Engine) -> Objective:
        """The objective that was minimised."""
        scale = None if np.all(self.scale == 1) else self.scale
        return Objective(engine, self.loss, self.penalty, scale)

    @property
    def start(self) -> FloatArray:
        """The weights, in scaled units."""
        start: FloatArray = self.ranker.coef_ * self.scale
        return start

    def check(self, facts: Facts, point: Point) -> None:
        """Refuse data that the ranker was not fitted to: other counts, or another objective at its weights."""
        for name in ("rows", "queries", "pairs"):
            then, now = getattr(self.ranker, f"n_{name}_", None), getattr(facts, name)
            if then is not None and then != now:
                raise DataError(
                    f"The ranker was fitted to {then:,} {name}, and this data has {now:,}: give the data that it was "
                    "fitted to, with the same queries, weights and pairs."
                )
        off = abs(point.value - self.ranker.objective_)
        if not off <= SAME * point.objective.value_at_zero + point.rounding:
            raise self.other_data(f"its objective is {self.ranker.objective_:.6g}, here it is {point.value:.6g}")

    def check_gain(self, before: float, after: float, f0: float) -> None:
        """Refuse data on which the weights are farther from the optimum than the certificate says."""
        if before - after > 1.01 * self.ranker.gap_ + SAME * f0:
            raise self.other_data(f"its gap is {self.ranker.gap_:.2g}, here it is {before - after:.2g}")

    def other_data(self, why: str) -> DataError:
        """The refusal."""
        return DataError(
            f"This is not the data that the ranker was fitted to ({why}): give that, with the same weights and pairs."
        )


def number_clusters(cluster: ArrayLike, n_rows: int) -> IntArray:
    """The number of each row's cluster."""
    try:
        return encode_queries(cluster, n_rows)[0]
    except DataError as error:
        raise DataError(str(error).replace("qid", "cluster").replace("query id", "cluster")) from None


@dataclass(frozen=True)
class Units:
    """What is independent: queries, the rows of a single one, or clusters."""

    kind: str
    weight: FloatArray  # of each one's pairs
    of_query: IntArray | None  # each query's unit; None where units are rows, or cut queries
    of_row: IntArray

    @classmethod
    def of(cls, data: RankingData) -> Units:
        """Clusters where they are given, else queries where several have pairs, else rows."""
        c = query_weights(data)
        if data.cluster is None and np.count_nonzero(c) > 1:
            return cls("queries", c, np.arange(data.n_queries), data.query)
        if data.cluster is None:
            return cls("rows", row_weights(data), None, np.arange(data.n_rows))
        weight = np.bincount(data.cluster, row_weights(data)).astype(np.float64)
        of_query = np.zeros(data.n_queries, dtype=np.int64)
        of_query[data.query] = data.cluster
        return cls("clusters", weight, of_query if data.clusters_are_whole else None, data.cluster)

    @property
    def n(self) -> int:
        """Those that have a pair."""
        return int(np.count_nonzero(self.weight))

    def check(self) -> None:
        """Refuse a single unit."""
        if self.n < 2:
            raise DataError(
                f"Only one of the {self.kind} has pairs: standard errors need two independent units or more."
            )

    def resampled(self, data: RankingData, rng: np.random.Generator) -> RankingData:
        """The data with units drawn as many times as there are, with replacement."""
        there = np.flatnonzero(self.weight)
        times = np.zeros(self.weight.size)
        times[there] = rng.multinomial(there.size, np.full(there.size, 1.0 / there.size))
        if self.of_query is not None:
            drawn = data.reweighted(by_query=times[self.of_query])
        else:
            drawn = data.reweighted(by_row=times[self.of_row])
        return drawn if drawn.preferences.total > 0 else self.resampled(data, rng)
