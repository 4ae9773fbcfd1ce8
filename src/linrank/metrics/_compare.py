"""Is one ranking better than another? Tests that respect what is a sample: queries, or the rows of one query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..data.active import TINY
from ..data.collections import refuse_collection
from ..data.labels import split_labels
from ..data.ranking_data import make_preferences
from ..data.rankings import Preferences
from ..kernels.hinge import scatter_add
from ._names import Metric, parse
from ._pairs import TIE_VALUE, accuracy_of, partners_below
from ._rows import Rows, check_rows

#: Metrics that one query alone can be tested by: means over pairs of its rows.
WITHIN_ONE_QUERY = ("pairwise_accuracy", "pairwise_error", "wmw", "auc", "c_index")

#: Numbers drawn at once.
AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; `print` it.

    Attributes
    ----------
    metric : str
        The metric's name.
    mean_a, mean_b, difference : float
        Means over the queries in which both are defined, and mean_a - mean_b.
    interval : (float, float)
        Of the difference, at the level `confidence`.
    p_value : float
        Two-sided; of the hypothesis that neither ranking is better.
    wins, ties, losses : int
        Queries in which a is better, neither is, b is better.
    n_queries : int
        Queries in which both are defined.
    method : str
        What the interval and the p-value rest on.
    """

    metric: str
    mean_a: float
    mean_b: float
    difference: float
    interval: tuple[float, float]
    confidence: float
    p_value: float
    wins: int
    ties: int
    losses: int
    n_queries: int
    method: str

    def __str__(self) -> str:
        low, high = self.interval
        queries = "1 query" if self.n_queries == 1 else f"{self.n_queries:,} queries"
        return (
            f"{self.metric} over {queries}: {self.mean_a:.4f} against {self.mean_b:.4f}, "
            f"difference {self.difference:+.4f}\n"
            f"{100 * self.confidence:g} % interval {low:+.4f} to {high:+.4f}, p = {self.p_value:.2g} ({self.method})\n"
            f"better in {self.wins:,}, equal in {self.ties:,}, worse in {self.losses:,}"
        )


def compare(
    y: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    qid: ArrayLike | None = None,
    metric: str | Metric | Callable[..., float] = "ndcg@10",
    *,
    preset: str | None = None,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    random_state: Any = 0,
    **options: Any,
) -> Comparison:
    """Compare two rankings of the same rows.

    Over several queries: a paired randomisation test (each query's difference is equally likely to have the other sign;
    exact where all signs can be tried within n_resamples) and a percentile bootstrap interval of the mean difference,
    queries being drawn with replacement. Within one query, for means over pairs ("auc", "pairwise_accuracy", "wmw"):
    normal approximation with the variance of the U-statistic, which respects that pairs share rows; for two levels it
    is DeLong's. O(m log m) plus O(n_resamples * queries).

    Parameters
    ----------
    y, scores_a, scores_b, qid
        Utilities, the scores of both rankings, queries; y may be `labels(y, qid)`.
    metric : str or callable, default="ndcg@10"
        As in `metrics.parse`; pairwise metrics are averaged over queries too. Or a function (y, scores, qid) of your
        own, which gets the rows of one query at a time.
    preset, options
        Conventions, as the metric's function takes them; of a function of your own ``greater_is_better``.
    n_resamples : int, default=10_000
        Draws of the test and of the bootstrap.
    confidence : float, default=0.95
        Level of the interval.
    random_state : int or Generator, default=0
        Seed of the draws: the same data gives the same answer.
    """
    for given in (y, scores_a, scores_b, qid):
        refuse_collection(given, "compare", "give y, scores and qid in memory, as scores.compute() does")
    judge = parse(metric, preset, **options)
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, (int, np.integer)) or n_resamples < 1:
        raise ParameterError(f"n_resamples={n_resamples!r} must be a whole number above 0.")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence!r} must lie between 0 and 1.")
    rows_a, rows_b = (check_rows(y, scores, qid) for scores in (scores_a, scores_b))
    if rows_a.cut is not None:
        raise DataError(f"Rankings of parts of queries cannot be compared: {rows_a.cut.sentence}")
    y, qid = split_labels(y, qid)
    if rows_a.n_queries == 1:
        return _within_one_query(judge, rows_a, rows_b, confidence)
    a, b = (judge(y, rows.scores, qid, per_query=True) for rows in (rows_a, rows_b))
    return compare_queries(judge, a, b, n_resamples, confidence, random_state)


def compare_queries(
    judge: Metric, a: FloatArray, b: FloatArray, n_resamples: int, confidence: float, random_state: Any
) -> Comparison:
    """Compare the values of a metric for the same queries."""
    defined = ~(np.isnan(a) | np.isnan(b))
    if defined.sum() < 2:
        raise DataError(f"{judge.name} is defined for {defined.sum()} queries only: two or more are needed to compare.")
    rng = np.random.default_rng(random_state)
    d = a[defined] - b[defined]
    p_value, exact = randomisation_p_value(d, int(n_resamples), rng)
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    low, high = np.quantile(bootstrap_means(d, int(n_resamples), rng), tails)
    draws = "all signs" if exact else f"{n_resamples:,} draws"
    method = f"paired randomisation and bootstrap over queries, {draws}"
    return _result(judge, a[defined], b[defined], (low, high), confidence, p_value, method)


def _result(
    judge: Metric, a: FloatArray, b: FloatArray, interval: Any, confidence: float, p_value: float, method: str
) -> Comparison:
    gain = judge.score(1.0) * (a - b)
    slack = 1e-12 * max(1.0, float(np.abs(a).max()))  # what rounding may leave of equal values
    return Comparison(
        metric=judge.name,
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        difference=float(a.mean() - b.mean()),
        interval=(float(interval[0]), float(interval[1])),
        confidence=float(confidence),
        p_value=float(p_value),
        wins=int(np.sum(gain > slack)),
        ties=int(np.sum(np.abs(gain) <= slack)),
        losses=int(np.sum(gain < -slack)),
        n_queries=a.size,
        method=method,
    )


def randomisation_p_value(d: FloatArray, n_resamples: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Two-sided p-value of mean(d) under random signs, and whether all of them were tried.

    With draws it is (1 + those at least as far from 0) / (1 + draws), which is never too small.
    """
    d = d[d != 0]
    total, size = d.sum(), np.abs(d).sum()
    least = abs(total) - 1e-12 * size
    if d.size < 63 and 2**d.size <= n_resamples:
        signs = np.arange(2**d.size)[:, None] >> np.arange(d.size) & 1
        return float(np.mean(np.abs(2 * (signs @ d) - total) >= least)), True
    found, step = 0, max(1, AT_ONCE // d.size)
    for start in range(0, n_resamples, step):
        n = min(step, n_resamples - start)
        bits = np.unpackbits(rng.integers(0, 256, (n, -(-d.size // 8)), dtype=np.uint8), axis=1, count=d.size)
        found += int(np.sum(np.abs(2 * (bits @ d) - total) >= least))
    return (1 + found) / (1 + n_resamples), False


def bootstrap_means(d: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Means of d drawn with replacement."""
    means, step = np.empty(n_resamples), max(1, AT_ONCE // d.size)
    for start in range(0, n_resamples, step):
        n = min(step, n_resamples - start)
        means[start : start + n] = d[rng.integers(0, d.size, (n, d.size))].mean(axis=1)
    return means


def _within_one_query(judge: Metric, rows_a: Rows, rows_b: Rows, confidence: float) -> Comparison:
    if judge.family not in WITHIN_ONE_QUERY:
        known = ", ".join(WITHIN_ONE_QUERY)
        raise DataError(f"One query is a sample of one for {judge.name}: give qid, or compare by one of {known}.")
    given = dict(judge.options)
    tie = TIE_VALUE[given.pop("ties", "half")]
    threshold, preferences = given.pop("threshold", None), given.pop("preferences", "full")
    if given:
        raise ParameterError(f"Within one query compare does not take {next(iter(given))!r}: leave it out.")
    levels = rows_a.y if threshold is None else (rows_a.y >= threshold).astype(np.float64)
    if judge.family == "auc" and np.unique(levels).size > 2:
        raise DataError("AUC needs two levels: give a threshold, or compare by pairwise_accuracy.")
    p = make_preferences(levels.size, levels, preferences=preferences)[2]
    (a, influence_a), (b, influence_b) = (influences(rows.scores, p, tie) for rows in (rows_a, rows_b))
    error = np.sqrt(_variance(influence_a - influence_b, levels, p))
    z = float(-ndtri((1 - confidence) / 2))
    difference = a - b
    p_value = 2 * float(ndtr(-abs(difference) / error)) if error > 0 else float(difference == 0)
    if not judge.greater_is_better:
        a, b, difference = 1 - a, 1 - b, -difference
    interval = difference - z * error, difference + z * error
    method = "variance of the U-statistic within the query"
    return _result(judge, np.array([a]), np.array([b]), interval, confidence, p_value, method)


def influences(scores: FloatArray, p: Preferences, tie: float) -> tuple[float, FloatArray]:
    """The share of pairs in the right order, theta, and each row's sum of (right - theta) over its pairs.

    For unit row weights. O(m log m).
    """
    theta = accuracy_of(scores, p, tie)
    (c0, d0), (c1, d1) = (partners_below(scores, p, margin) for margin in (0.0, TINY))
    wrong = tie * (c0 + d0) + (1 - tie) * (c1 + d1)
    ranking = np.repeat(np.arange(p.n_rankings), np.diff(p.ranking_levels))
    partners = np.diff(p.ranking_ptr)[ranking] - np.diff(p.level_ptr)  # all members but those of one's own level
    right = np.repeat(partners, np.diff(p.level_ptr)) - wrong
    u = np.repeat(p.u, np.diff(p.ranking_ptr))
    influence = u * (right - theta * (right + wrong))
    sums = np.zeros(scores.size)
    scatter_add(p.row, influence, 1.0, 0, influence.size, sums)
    return theta, sums


def _variance(influence: FloatArray, levels: FloatArray, p: Preferences) -> float:
    """Of a mean over N pairs, from the rows' influences: sum of n / (n - 1) * influence^2 / N^2.

    n counts the rows, a sample as a whole; with two levels those of the row's own level, as in DeLong et al. (1988).
    """
    _, level, size = np.unique(levels, return_inverse=True, return_counts=True)
    n = size[level] if size.size == 2 else np.full(levels.size, levels.size)
    if np.any(n < 2):
        raise DataError("One level has a single row, which says nothing of its variance: give more rows.")
    return float(np.sum(n / (n - 1) * influence**2)) / p.total**2
