"""Metrics of ranked lists: NDCG and its kin, average precision, reciprocal rank, counts at k.

All of them sort once, O(m log m) for m rows, whether these are one query or very many.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError, ParameterError
from .._preferences import FloatArray
from ..kernels import metrics as kernels
from ..kernels.ordering import group_rows, order_within
from ._conventions import EMPTY, Options, conventions
from ._rows import QueryWeight, Rows, Value, check_cut, check_rows, over_queries, share

TIES = {
    "average": kernels.AVERAGE,
    "input": kernels.IN_ORDER,
    "docid": kernels.IN_ORDER,
    "threshold": kernels.THRESHOLD,
}

#: Grades that are whole numbers of no wider a range than this are counted, not sorted, to find the ideal order.
FEW_GRADES = 256


class _List:
    """One metric's view of the rows: its conventions, the cut, and the rows in ranked order."""

    def __init__(
        self,
        metric: str,
        y: ArrayLike,
        scores: ArrayLike,
        qid: ArrayLike | None,
        k: int | None,
        preset: str | None,
        options: Options,
    ) -> None:
        docid = options.pop("docid", None)
        self.metric = metric
        self.how = how = conventions(metric, preset, options)
        rows = check_rows(y, scores, qid)
        if how.single_precision:
            rows = _in_single_precision(rows)
        if how.ties == "docid":
            rows = _by_docid(rows, docid)
        self.rows = rows
        self.k = check_cut(k, rows.y.size)
        self.row, self.score, self.ptr = rows.ranked
        self.ties = TIES[how.ties]
        self.out = np.empty(rows.n_queries)

    def discount(self) -> FloatArray:
        """Discounts of as many positions as there can be."""
        return self.how.discounts(min(self.k, int(np.diff(self.ptr).max(initial=0))))

    def relevant(self) -> NDArray[np.uint8]:
        """Relevance in ranked order."""
        return self.how.relevant(self.rows.y).view(np.uint8)[self.row]

    def finish(self, values: FloatArray, query_weight: QueryWeight, per_query: bool) -> Value:
        """Values (NaN: nothing relevant) by the convention on empty queries, then over queries."""
        if self.how.empty != "skip":
            values = np.where(np.isnan(values), EMPTY[self.how.empty], values)
        return over_queries(self.metric, values, self.rows, query_weight, per_query)


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """Normalised discounted cumulative gain: DCG@k over that of the ideal order; mean over queries.

    `options` are conventions: gain, discount, ties, empty, docid. Gains must not be negative.
    """
    view = _List("ndcg", y, scores, qid, k, preset, options)
    gain, ideal = _gains(view)
    discount, best = view.discount(), np.empty(view.out.size)
    kernels.dcg_sums(gain, view.score, view.ptr, discount, view.k, view.ties, view.out)
    kernels.dcg_sums(ideal, ideal, view.ptr, discount, view.k, kernels.IN_ORDER, best)
    return view.finish(share(view.out, best), query_weight, per_query)


def dcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """Discounted cumulative gain: sum of gain * discount over the first k positions; mean over queries.

    A query without any gain but 0 is empty. `options` are conventions: gain, discount, ties, empty, docid.
    """
    view = _List("dcg", y, scores, qid, k, preset, options)
    gain = view.how.gains(view.rows.y)
    some = np.bincount(view.rows.query, gain != 0, minlength=view.rows.n_queries) > 0
    kernels.dcg_sums(gain[view.row], view.score, view.ptr, view.discount(), view.k, view.ties, view.out)
    return view.finish(np.where(some, view.out, np.nan), query_weight, per_query)


def mean_ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """LETOR's "mean NDCG": within a query the mean of NDCG@n over n = 1 ... its length (or k), then over queries.

    `options` are conventions: gain, discount, ties, empty, docid.
    """
    view = _List("mean_ndcg", y, scores, qid, k, preset, options)
    gain, ideal = _gains(view)
    kernels.mean_ndcgs(gain, ideal, view.score, view.ptr, view.discount(), view.k, view.ties, view.out)
    return view.finish(view.out, query_weight, per_query)


def average_precision(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """Mean over the relevant rows of the precision at their position (beyond k: 0); mean over queries is MAP.

    `options` are conventions: ties, empty, threshold, map_over, docid.
    """
    view = _List("average_precision", y, scores, qid, k, preset, options)
    if view.how.ties == "threshold" and k is not None:
        raise ParameterError("ties='threshold' retrieves equal scores at once, which k could cut: leave k out.")
    cut = view.how.map_over == "cut"
    kernels.average_precisions(view.relevant(), view.score, view.ptr, view.k, view.ties, cut, view.out)
    return view.finish(view.out, query_weight, per_query)


def reciprocal_rank(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """1 / position of the first relevant row, 0 if that is beyond k; mean over queries is MRR.

    `options` are conventions: ties, empty, threshold, docid.
    """
    view = _List("reciprocal_rank", y, scores, qid, k, preset, options)
    kernels.reciprocal_ranks(view.relevant(), view.score, view.ptr, view.k, view.ties, view.out)
    return view.finish(view.out, query_weight, per_query)


def precision(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """Relevant rows among the first k, over k (without k: over all rows of the query); mean over queries.

    `options` are conventions: ties, empty, threshold, precision_over, docid.
    """
    view = _List("precision", y, scores, qid, k, preset, options)
    found, _, total = _top(view)
    length = np.diff(view.ptr)
    over = np.minimum(view.k, length) if k is None or view.how.precision_over == "cut" else view.k
    return view.finish(np.where(total > 0, found / over, np.nan), query_weight, per_query)


def recall(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """Relevant rows among the first k, over all relevant rows; mean over queries.

    `options` are conventions: ties, empty, threshold, docid.
    """
    view = _List("recall", y, scores, qid, k, preset, options)
    found, _, total = _top(view)
    return view.finish(share(found, total), query_weight, per_query)


def hit(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """1 if any of the first k rows is relevant, else 0 (with ties averaged: the chance of it); mean over queries.

    `options` are conventions: ties, empty, threshold, docid.
    """
    view = _List("hit", y, scores, qid, k, preset, options)
    _, some, total = _top(view)
    return view.finish(np.where(total > 0, some, np.nan), query_weight, per_query)


def err(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    k: int | None = None,
    max_grade: float | None = None,
    query_weight: QueryWeight = None,
    preset: str | None = None,
    per_query: bool = False,
    **options: Unpack[Options],
) -> Value:
    """Expected reciprocal rank of Chapelle et al. (2009); mean over queries.

    A reader stops at a row of grade g with chance (2^g - 1) / 2^max_grade (negative grades: 0), and gains 1 / position.
    `max_grade` is the largest grade of the scale, by default the largest in y. `options` are conventions: ties, empty,
    docid. With ties averaged, a run of n equal scores costs O(n * min(n, k, 40 / mean chance)).
    """
    view = _List("err", y, scores, qid, k, preset, options)
    grade = np.maximum(view.rows.y, 0.0)
    top = float(grade.max(initial=0.0)) if max_grade is None else float(max_grade)
    if grade.max(initial=0.0) > top:
        raise DataError(f"y holds the grade {grade.max():g}, above max_grade={top:g}: raise max_grade.")
    stop = (np.exp2(grade - top) - np.exp2(-top))[view.row]
    scratch = np.empty(min(view.k, int(np.diff(view.ptr).max(initial=0))) + 1)
    kernels.expected_reciprocal_ranks(stop, view.score, view.ptr, view.k, view.ties, scratch, view.out)
    some = np.bincount(view.rows.query, grade > 0, minlength=view.rows.n_queries) > 0
    return view.finish(np.where(some, view.out, np.nan), query_weight, per_query)


def _top(view: _List) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Relevant rows among the first k, the chance of any, and all relevant rows, per query."""
    found, some, total = (np.empty(view.rows.n_queries) for _ in range(3))
    kernels.count_top(view.relevant(), view.score, view.ptr, view.k, view.ties, found, some, total)
    return found, some, total


def _gains(view: _List) -> tuple[FloatArray, FloatArray]:
    """Gains in ranked order and, per query, in the ideal order."""
    rows, how = view.rows, view.how
    low, high = rows.y.min(initial=0.0), rows.y.max(initial=0.0)
    few = high - low < FEW_GRADES and rows.n_queries * (high - low + 1) <= 4 * rows.y.size
    if few and np.all(rows.y == np.floor(rows.y)):
        return _gains_by_count(view, int(low), int(high))
    gain = _not_negative(how.gains(rows.y))
    return gain[view.row], order_within(rows.query, rows.n_queries, gain).value


def _gains_by_count(view: _List, low: int, high: int) -> tuple[FloatArray, FloatArray]:
    """As `_gains`, for few grades: each grade's gain is looked up, and the ideal order is counted out."""
    rows = view.rows
    code = (rows.y - low).astype(np.intp)
    present = np.bincount(code, minlength=high - low + 1) > 0
    table = np.zeros(present.size)
    table[present] = _not_negative(view.how.gains(low + np.flatnonzero(present).astype(np.float64)))
    falling = np.argsort(-table, kind="stable")
    place = np.empty(table.size, dtype=np.int64)
    place[falling] = np.arange(table.size)
    ideal = np.empty(rows.y.size)
    row, ptr = group_rows(rows.query, rows.n_queries)
    kernels.fall_by_count(code, row, ptr, place, table[falling], np.empty(table.size, np.int64), ideal)
    return table[code[view.row]], ideal


def _not_negative(gain: FloatArray) -> FloatArray:
    if np.any(gain < 0):
        raise DataError("NDCG is not defined for negative gains: use gain='linear', where negative grades gain 0.")
    return gain


def _in_single_precision(rows: Rows) -> Rows:
    with np.errstate(over="ignore"):
        scores = rows.scores.astype(np.float32).astype(np.float64)
    if not np.all(np.isfinite(scores)):
        raise DataError("This preset compares scores as 32-bit numbers, and some are too large: scale the scores.")
    return Rows(rows.y, scores, rows.query, rows.ids)


def _by_docid(rows: Rows, docid: ArrayLike | None) -> Rows:
    """The rows in falling order of their document ids, so that input order is that order."""
    if docid is None:
        tied = np.empty(rows.n_queries)
        kernels.tied_pairs(rows.ranked.value, rows.ranked.ptr, tied)
        if np.any(tied):
            raise DataError("Equal scores are to be ordered by document id: pass docid, or ties='average' or 'input'.")
        return rows
    ids = np.asarray(docid)
    if ids.shape != rows.y.shape:
        raise DataError(f"docid has shape {ids.shape}, but there are {rows.y.size} rows: give one per row.")
    order = np.argsort(ids.astype(np.str_), kind="stable")[::-1]
    return Rows(rows.y[order], rows.scores[order], rows.query[order], rows.ids)
