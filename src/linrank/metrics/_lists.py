"""What metrics of ranked lists share: conventions, the cut, rows in ranked order, the face that they all have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError
from .._preferences import FloatArray
from ..kernels import metrics as kernels
from ..kernels.ordering import group_rows, order_within
from ._conventions import EMPTY, Options, conventions
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
        if how.ties == "docid":
            rows = _by_docid(rows, docid)
        self.rows = rows
        self.cut = k is not None
        self.k = check_cut(k, rows.y.size)
        self.row, self.score, self.ptr = rows.ranked
        self.ties = TIES[how.ties]
        self.length = np.diff(self.ptr)
        self.depth = min(self.k, int(self.length.max(initial=0)))  # positions that can matter
        self.out = np.empty(rows.n_queries)

    def discount(self) -> FloatArray:
        """Discounts of the positions that can matter."""
        return self.how.discounts(self.depth)

    def relevant(self) -> NDArray[np.uint8]:
        """Relevance in ranked order."""
        return self.how.relevant(self.rows.y).view(np.uint8)[self.row]

    def where_any(self, of_row: NDArray[np.bool_], values: FloatArray) -> FloatArray:
        """Values of the queries with any such row, NaN for the others."""
        some = np.bincount(self.rows.query, of_row, minlength=self.rows.n_queries) > 0
        return np.where(some, values, np.nan)

    def top(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Relevant rows among the first k, the chance of any, and all relevant rows, per query."""
        found, some, total = (np.empty(self.rows.n_queries) for _ in range(3))
        kernels.count_top(self.relevant(), self.score, self.ptr, self.k, self.ties, found, some, total)
        return found, some, total

    def gains(self) -> tuple[FloatArray, FloatArray]:
        """Gains in ranked order and, per query, in the ideal order."""
        rows = self.rows
        low, high = rows.y.min(initial=0.0), rows.y.max(initial=0.0)
        few = high - low < FEW_GRADES and rows.n_queries * (high - low + 1) <= 4 * rows.y.size
        if few and np.all(rows.y == np.floor(rows.y)):
            return self._gains_by_count(int(low), int(high))
        gain = _not_negative(self.how.gains(rows.y))
        return gain[self.row], order_within(rows.query, rows.n_queries, gain).value

    def _gains_by_count(self, low: int, high: int) -> tuple[FloatArray, FloatArray]:
        """As `gains`, for few grades: each grade's gain is looked up, and the ideal order is counted out."""
        rows = self.rows
        code = (rows.y - low).astype(np.intp)
        present = np.bincount(code, minlength=high - low + 1) > 0
        table = np.zeros(present.size)
        table[present] = _not_negative(self.how.gains(low + np.flatnonzero(present).astype(np.float64)))
        falling = np.argsort(-table, kind="stable")
        place = np.empty(table.size, dtype=np.int64)
        place[falling] = np.arange(table.size)
        ideal = np.empty(rows.y.size)
        row, ptr = group_rows(rows.query, rows.n_queries)
        kernels.fall_by_count(code, row, ptr, place, table[falling], np.empty(table.size, np.int64), ideal)
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


def listwise(judge: Callable[[RankedLists], FloatArray]) -> ListMetric:
    """Give a function from ranked lists to one value per query (NaN: nothing relevant) the face of a metric."""
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
        lists = RankedLists(name, y, scores, qid, k, preset, options)
        values = judge(lists)
        if lists.how.empty != "skip":
            values = np.where(np.isnan(values), EMPTY[lists.how.empty], values)
        return over_queries(name, values, lists.rows, query_weight, per_query)

    face: Any = metric
    del face.__wrapped__  # or help() would show the judge's signature
    face.__annotations__ = ListMetric.__call__.__annotations__
    return metric


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
