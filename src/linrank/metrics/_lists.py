"""What metrics of ranked lists share: conventions, the cut, rows in ranked order, the face that they all have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError
from .._typing import FloatArray
from ..data.collections import any_collection
from ..data.ordering import group_rows, order_within
from ..kernels import metrics as kernels
from ._collections import extremes, mean_over_queries, over_collection
from ._conventions import EMPTY, Options, conventions
from ._families import Family, enter
from ._rows import QueryWeight, Rows, Value, check_cut, check_rows, over_queries

TIES = {
    "average": kernels.AVERAGE,
    "input": kernels.IN_ORDER,
    "docid": kernels.IN_ORDER,
    "threshold": kernels.THRESHOLD,
}

#: Grades that are whole numbers of no wider a range than this are counted, not sorted, to find the ideal order.
FEW_GRADES = 256


class RankedLists:
    """Rows in ranked order, as one metric sees them."""

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
        self.how = how = conventions(metric, preset, options)
        rows = check_rows(y, scores, qid)
        if how.single_precision:
            rows = _in_single_precision(rows)
        self.given = rows  # in the order in which weights are given
        if how.ties == "docid":
            rows = _by_docid(rows, docid)
        self.rows = rows
        self.cut = k is not None
        self.k = check_cut(k, rows.y.size)
        self.row, self.score, self.ptr = rows.ranked
        self.ties = TIES[how.ties]
        self.length = np.diff(self.ptr)
        self.depth = min(self.k, int(self.length.max(initial=0)))  # positions that can matter
        self.grades = rows.small_grades(FEW_GRADES)
        self.out = np.empty(rows.n_queries)

    def discount(self) -> FloatArray:
        """Discounts of the positions that can matter."""
        return self.how.discounts(self.depth)

    def relevant(self) -> NDArray[np.uint8]:
        """Relevance in ranked order."""
        return self.how.relevant(self.rows.y).view(np.uint8)[self.row]

    def where_any(self, ranked: FloatArray, values: FloatArray) -> FloatArray:
        """Values of the queries in which any row has something (not 0), NaN for the others."""
        return np.where(np.logical_or.reduceat(ranked != 0, self.ptr[:-1]), values, np.nan)

    def top(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Relevant rows among the first k, the chance of any, and all relevant rows, per query."""
        found, some, total = (np.empty(self.rows.n_queries) for _ in range(3))
        kernels.count_top(self.relevant(), self.score, self.ptr, self.k, self.ties, found, some, total)
        return found, some, total

    def of_grades(self, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """A function of the grades, in ranked order; each grade's value is looked up where grades are few."""
        if self.grades is None:
            return function(self.rows.y)[self.row]
        return _table(self.grades, function)[self.grades[0][self.row]]

    def gains(self) -> tuple[FloatArray, FloatArray]:
        """Gains in ranked order and, per query, in the ideal order, which is counted out where grades are few."""
        rows = self.rows
        if self.grades is None:
            gain = _not_negative(self.how.gains(rows.y))
            return gain[self.row], order_within(rows.query, rows.n_queries, gain).value
        code, _ = self.grades
        table = _not_negative(_table(self.grades, self.how.gains))
        falling = np.argsort(-table, kind="stable")
        row, ptr = group_rows(rows.query, rows.n_queries)
        ideal, count = np.empty(code.size), np.empty(table.size, np.int64)
        kernels.fall_by_count(code, row, ptr, np.argsort(falling), table[falling], count, ideal)
        return table[code[self.row]], ideal


class ListMetric(Protocol):
    """The face of every metric of ranked lists."""

    def __call__(
        self,
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
        """The mean over queries, or with per_query=True one value per query."""


def listwise(
    *, name: str | None = None, aliases: Sequence[str] = ()
) -> Callable[[Callable[[RankedLists], FloatArray]], ListMetric]:
    """Make a metric of a function from ranked lists to one value per query (NaN: nothing relevant), and enter it.

    `name` is that by which it is asked for, the function's own if not given.
    """

    def decorate(judge: Callable[[RankedLists], FloatArray]) -> ListMetric:
        metric = _with_face(judge)
        enter(Family(name or judge.__name__, metric, tuple(aliases), pairwise=False, threshold=True))
        return metric

    return decorate


def _with_face(judge: Callable[[RankedLists], FloatArray]) -> ListMetric:
    name = judge.__name__

    @functools.wraps(judge)
    def metric(
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
        if any_collection(y, scores, qid):
            told = {"k": k, "preset": preset, "query_weight": query_weight, **options}
            if name == "err" and conventions(name, preset, _without_docid(options)).max_grade is None:
                told["max_grade"] = max(extremes(y)[1], 0.0)
            return over_collection(name, mean_over_queries(metric), y, scores, qid, per_query, told)
        lists = RankedLists(name, y, scores, qid, k, preset, options)
        values = judge(lists)
        if lists.how.empty != "skip":
            values = np.where(np.isnan(values), EMPTY[str(lists.how.empty)], values)
        return over_queries(name, values, lists.given, query_weight, per_query)

    face: Any = metric
    del face.__wrapped__  # or help() would show the judge's signature
    face.__annotations__ = ListMetric.__call__.__annotations__
    return metric


def _without_docid(options: Options) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "docid"}


def _table(few: tuple[NDArray[np.uint8], FloatArray], function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """A function of each grade that occurs; 0 for those that do not."""
    code, grades = few
    present = np.bincount(code, minlength=grades.size) > 0
    table = np.zeros(grades.size)
    table[present] = function(grades[present])
    return table


def _not_negative(gain: FloatArray) -> FloatArray:
    if np.any(gain < 0):
        raise DataError("NDCG is not defined for negative gains: use gain='linear', where negative grades gain 0.")
    return gain


def _in_single_precision(rows: Rows) -> Rows:
    with np.errstate(over="ignore"):
        scores = rows.scores.astype(np.float32).astype(np.float64)
    if not np.all(np.isfinite(scores)):
        raise DataError("This preset compares scores as 32-bit numbers, and some are too large: scale the scores.")
    return replace(rows, scores=scores)


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
    return replace(rows, y=rows.y[order], scores=rows.scores[order], query=rows.query[order])
