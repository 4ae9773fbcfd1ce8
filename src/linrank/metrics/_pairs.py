"""Metrics of pairs: accuracy, error, the WMW statistic, AUC, Kendall's tau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError, NoPairsError
from .._typing import FloatArray
from .._work import Work
from ..data.active import TINY, active_counts
from ..data.checks import check_choice, check_weights
from ..data.collections import any_collection
from ..data.queries import check_query_weight
from ..data.ranking_data import QUERY_WEIGHTINGS, make_preferences
from ..data.rankings import Preferences
from ..kernels.hinge import ranking_sums, weighted_sum
from ..kernels.metrics import areas, pair_outcomes, tied_pairs
from ..kernels.pairs import pair_weights
from ._collections import extremes, mean_over_queries, over_collection, refuse_pairs
from ._families import pairwise
from ._rows import QueryWeight, Rows, Value, check_rows, over_queries, share, weights_beside

__all__ = ["auc", "c_index", "kendall_tau", "pairwise_accuracy", "pairwise_error", "wmw"]

#: What a pair of equal scores counts.
TIE_VALUE = {"half": 0.5, "correct": 1.0, "wrong": 0.0}
#: Up to so many levels pairs are counted by a sweep over sorted scores with one counter per level.
FEW_LEVELS = 32
VARIANTS = ("b", "a", "somers")
TWO_LEVELS = "AUC needs two levels: give a threshold, or use pairwise_accuracy for graded y."


class PairOptions(TypedDict, total=False):
    """Keywords of `pairwise_accuracy` and `pairwise_error`: those of `wmw`."""

    preferences: Any
    ties: str
    sample_weight: ArrayLike | None
    query_weight: QueryWeight
    query_weighting: str
    pairs: ArrayLike | None
    per_query: bool


@pairwise(aliases=("accuracy",), over_preferences=True, ties=True)
def pairwise_accuracy(
    y: ArrayLike | None, scores: ArrayLike, qid: ArrayLike | None = None, **options: Unpack[PairOptions]
) -> Value:
    """Weighted share of the preferences that the scores order rightly; equal scores count one half.

    With two levels in one query this is the area under the ROC curve. The papers count equal scores as right:
    TreeRSVM's equation (1) is ``pairwise_error(ties="correct")`` and RankNCG's statistic (2) is
    ``wmw(ties="correct")``. The keywords are those of `wmw`, of which this is another name. O(m log m).
    """
    return wmw(y, scores, qid, **options)


@pairwise(aliases=("error",), greater_is_better=False, over_preferences=True, ties=True)
def pairwise_error(
    y: ArrayLike | None, scores: ArrayLike, qid: ArrayLike | None = None, **options: Unpack[PairOptions]
) -> Value:
    """1 minus the pairwise accuracy: the share of preferences in the wrong order. Smaller is better.

    Equal scores count one half, as in `pairwise_accuracy`. ties="correct" counts only the preferences that are strictly
    reversed, as the papers do (TreeRSVM's equation (1)); ties="wrong" counts equal scores as errors.
    """
    return 1.0 - wmw(y, scores, qid, **options)


@pairwise(over_preferences=True, ties=True)
def wmw(
    y: ArrayLike | None,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    preferences: Any = "full",
    ties: str = "half",
    sample_weight: ArrayLike | None = None,
    query_weight: QueryWeight = None,
    query_weighting: str = "pairs",
    pairs: ArrayLike | None = None,
    per_query: bool = False,
) -> Value:
    """Wilcoxon-Mann-Whitney statistic over the preferences: the weighted share of pairs in the right order.

    A pair of equal scores counts one half (ties="half"), as right ("correct": the >= of RankNCG's equation (2)) or as
    wrong ("wrong"). `preferences`, `query_weighting` and `pairs`, (winner row, loser row[, weight]), are those of
    LinearRanker: explicit pairs add to those of y, which may be None, and pairs of all queries are pooled, or every
    query counts the same. Without any pair: NoPairsError, with per_query=True NaN. O(m log m).
    """
    check_choice("ties", ties, tuple(TIE_VALUE))
    if any_collection(y, scores, qid):
        refuse_pairs(pairs)
        check_choice("query_weighting", query_weighting, QUERY_WEIGHTINGS)
        options = {"preferences": preferences, "sample_weight": sample_weight, "query_weight": query_weight}
        return over_collection("wmw", _Pooled(ties, query_weighting), y, scores, qid, per_query, options)
    rows = check_rows(or_none(y, scores, pairs), scores, qid)
    sample_weight = weights_beside(y, sample_weight)
    found = count_pairs(rows, y, qid, sample_weight, preferences, pairs)
    given = Compared(y, qid, sample_weight, query_weight, pairs, preferences, query_weighting)
    return given.mean("wmw", found.right(TIE_VALUE[ties]), found.total, rows, per_query)


class Compared(NamedTuple):
    """What a metric over preferences was asked for."""

    y: ArrayLike | None
    qid: ArrayLike | None
    sample_weight: ArrayLike | None
    query_weight: QueryWeight
    pairs: ArrayLike | None
    preferences: Any
    query_weighting: str

    def mean(self, name: str, sums: FloatArray, total: FloatArray, rows: Rows, per_query: bool) -> Value:
        """Mean over preferences from sums of each query and the weight of its preferences; NoPairsError without any."""
        check_choice("query_weighting", self.query_weighting, QUERY_WEIGHTINGS)
        u = 1.0 if self.query_weight is None else check_query_weight(self.query_weight, rows.query, rows.ids)
        values = share(sums, total)
        if per_query or rows.cut is not None:
            return over_queries(name, values, rows, None, per_query)
        weight = u * (total if self.query_weighting == "pairs" else (total > 0))
        if not 0 < weight.sum() < np.inf:  # this names what is missing
            make_preferences(rows.scores.size, *self)
        used = weight > 0
        return float(np.average(values[used], weights=weight[used]))


def or_none(y: ArrayLike | None, scores: ArrayLike, pairs: ArrayLike | None) -> ArrayLike:
    """Utilities as they are; where pairs are all there is, equal ones."""
    if y is None and pairs is None:
        raise DataError("There is nothing to judge by: give y, or pairs.")
    return np.zeros(np.shape(scores)[:1]) if y is None else y


@pairwise(threshold=True)
def auc(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    query_weight: QueryWeight = None,
    per_query: bool = False,
) -> Value:
    """Area under the ROC curve within each query, equal scores counting one half; mean over queries.

    Rows with y >= threshold are positive; without a threshold y holds two values, and the larger is positive. Queries
    with one kind of rows only are not defined and left out. O(m log m), one sort.
    """
    if any_collection(y, scores, qid):
        if threshold is None:
            low, high, others = extremes(y)
            if others:
                raise DataError(TWO_LEVELS)
            threshold = high if high > low else float(np.inf)
        told = {"threshold": threshold, "sample_weight": sample_weight, "query_weight": query_weight}
        return over_collection("auc", mean_over_queries(auc), y, scores, qid, per_query, told)
    rows = check_rows(y, scores, qid)
    if threshold is None:
        low, high = rows.y.min(initial=np.inf), rows.y.max(initial=-np.inf)
        if np.any((rows.y != low) & (rows.y != high)):
            raise DataError(TWO_LEVELS)
        threshold = float(high) if high > low else float(np.inf)
    row, score, ptr = rows.ranked
    sample_weight = weights_beside(y, sample_weight)
    v = None if sample_weight is None else check_weights("sample_weight", sample_weight, rows.y.size)[row]
    out = np.empty(rows.n_queries)
    areas((rows.y >= threshold).view(np.uint8)[row], v, score, ptr, out)
    return over_queries("auc", out, rows, query_weight, per_query)


@pairwise(aliases=("tau",))
def kendall_tau(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    variant: str = "b",
    query_weight: QueryWeight = None,
    per_query: bool = False,
) -> Value:
    """Kendall's rank correlation within each query: (C - D) / (a number of pairs); mean over queries.

    C and D count the pairs in the same and in opposite order. variant="b" divides by sqrt(pairs not tied in y * pairs
    not tied in the scores), "a" by all pairs, "somers" by the pairs not tied in y: that is 2 * `c_index` - 1. Where the
    divisor is 0 tau is not defined. O(m log m).
    """
    check_choice("variant", variant, VARIANTS)
    if any_collection(y, scores, qid):
        told = {"variant": variant, "query_weight": query_weight}
        return over_collection("kendall_tau", mean_over_queries(kendall_tau), y, scores, qid, per_query, told)
    rows = check_rows(y, scores, qid)
    found = count_pairs(rows, y, qid)
    over = found.total
    if variant != "somers":
        n, tied = np.bincount(rows.query, minlength=rows.n_queries).astype(np.float64), np.zeros(rows.n_queries)
        if variant == "b":
            tied_pairs(rows.ranked.value, rows.ranked.ptr, tied)
        others = n * (n - 1) / 2 - tied
        over = np.sqrt(over) * np.sqrt(others) if variant == "b" else others
    values = share(found.total - 2 * found.wrong - found.equal, over)
    return over_queries("kendall_tau", values, rows, query_weight, per_query)


@pairwise()
def c_index(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    query_weight: QueryWeight = None,
    per_query: bool = False,
) -> Value:
    """Concordance index within each query: the share of pairs that differ in y in the right order, ties one half.

    (1 + Somers' D) / 2. `pairwise_accuracy` pools the pairs of all queries; this is the mean over queries. O(m log m).
    """
    tau = kendall_tau(y, scores, qid, variant="somers", query_weight=query_weight, per_query=per_query)
    return (1.0 + tau) / 2.0


def accuracy_of(scores: FloatArray, preferences: Preferences, tie: float = 0.5) -> float:
    """Pairwise accuracy over preferences that have been made already; a pair of equal scores counts `tie`."""
    wrong, wrong_or_equal = (_weight_below(scores, preferences, margin) for margin in (0.0, TINY))
    return 1.0 - (tie * wrong + (1.0 - tie) * wrong_or_equal) / preferences.total


@dataclass(frozen=True)
class _Pooled:
    """Judges whole queries of a collection for `wmw`: their pairs are pooled, or every query counts the same."""

    ties: str
    query_weighting: str

    def __call__(self, y: Any, scores: Any, qid: Any, options: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
        rows = check_rows(y, scores, qid)
        weight = options["query_weight"]
        u = 1.0 if weight is None else check_query_weight(weight, rows.query, rows.ids)
        found = count_pairs(rows, y, qid, options["sample_weight"], options["preferences"])
        values = share(found.right(TIE_VALUE[self.ties]), found.total)
        return values, u * (found.total if self.query_weighting == "pairs" else (found.total > 0).astype(np.float64))


class PairCounts(NamedTuple):
    """Weights of preferences per query: all, those in the wrong order, those with equal scores."""

    total: FloatArray
    wrong: FloatArray
    equal: FloatArray

    def right(self, tie: float = 0.5) -> FloatArray:
        """Those in the right order, a pair of equal scores counting `tie`."""
        return self.total - self.wrong - (1.0 - tie) * self.equal


def count_pairs(
    rows: Rows,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    preferences: Any = "full",
    pairs: ArrayLike | None = None,
) -> PairCounts:
    """Weigh the preferences of each query by their outcome; all 0 where there are none. O(m log m)."""
    in_full = pairs is None and isinstance(preferences, str) and preferences == "full"
    grades = rows.small_grades(FEW_LEVELS) if in_full else None
    if grades is not None:
        return _count_by_sweep(rows, grades[0], grades[1].size, sample_weight)
    try:
        found, _, p = make_preferences(rows.scores.size, y, qid, sample_weight, None, pairs, preferences)
    except NoPairsError:
        return PairCounts(*np.zeros((3, rows.n_queries)))
    query = found.query[p.row[p.ranking_ptr[:-1]]]
    size = np.diff(p.level_ptr) if p.v is None else np.add.reduceat(p.v, p.level_ptr[:-1])
    total, wrong, wrong_or_equal = np.empty((3, p.n_rankings))
    pair_weights(size.astype(np.float64), p.ranking_levels, total)
    for margin, out in ((0.0, wrong), (TINY, wrong_or_equal)):
        ranking_sums(p.v, p.u, p.ranking_ptr, partners_below(rows.scores, p, margin)[0], out)
    per_query = np.zeros((3, rows.n_queries))
    for out, sums in zip(per_query, (p.u * total, wrong, wrong_or_equal), strict=True):
        np.add.at(out, query, sums)
    return PairCounts(per_query[0], per_query[1], per_query[2] - per_query[1])


def _count_by_sweep(rows: Rows, level: NDArray[np.uint8], n_levels: int, sample_weight: ArrayLike | None) -> PairCounts:
    """As `count_pairs`, for all pairs between few levels: one sort, one sweep."""
    row, score, ptr = rows.ranked
    v = None if sample_weight is None else check_weights("sample_weight", sample_weight, rows.y.size)[row]
    out = PairCounts(*(np.empty(rows.n_queries) for _ in range(3)))
    pair_outcomes(level[row], v, score, ptr, np.empty(n_levels), np.empty(n_levels), *out)
    return out


def partners_below(scores: FloatArray, p: Preferences, margin: float) -> tuple[FloatArray, FloatArray]:
    """Each member's winners i with s_i - s_j < margin, and its losers likewise: their weights."""
    s = scores[p.row]
    c, d = np.empty(s.size), np.empty(s.size)
    active_counts(s, p, margin, c, d, Work())
    return c, d


def _weight_below(scores: FloatArray, p: Preferences, margin: float) -> float:
    """Weight of the preferences (i over j) with s_i - s_j < margin."""
    c, _ = partners_below(scores, p, margin)
    return float(weighted_sum(p.v, p.u, p.ranking_ptr, 0, p.n_rankings, c))
