"""What every metric begins with: labels, scores and queries checked, rows ranked within queries, queries averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError, ParameterError, UndefinedMetricWarning, warn_caller
from .._once import cached_property
from .._typing import FloatArray
from ..data.checks import check_utilities
from ..data.dataset import Dataset
from ..data.frames import frame_of
from ..data.labels import are_labels, split_labels
from ..data.ordering import Ordered, order_within
from ..data.queries import check_query_weight, encode_queries
from ..data.row_counts import Cut, find_cut

#: A float; with per_query=True `QueryValues`.
Value: TypeAlias = Any
QueryWeight: TypeAlias = ArrayLike | Mapping[Any, float] | None
LARGEST_GRADE = 31


class QueryValues(np.ndarray[Any, np.dtype[np.float64]]):
    """One value per query, in the order of np.unique(qid): an array that knows their names, `qid`.

    Values computed query by query keep the names; parts and sums of them are plain.
    """

    qid: NDArray[Any] | None = None

    @classmethod
    def of(cls, values: FloatArray, qid: NDArray[Any]) -> QueryValues:
        """Values with the names of their queries."""
        named = np.asarray(values, dtype=np.float64).view(cls)
        named.qid = qid
        return named

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Numbers computed query by query keep the names."""
        if return_scalar or np.ndim(array) == 0:
            return np.asarray(array)[()]
        return QueryValues.of(array, self._names()) if array.shape == self.shape and array.dtype.kind == "f" else array

    def __getitem__(self, key: Any) -> Any:
        """Parts are plain."""
        return np.asarray(self)[key]

    def __reduce__(self) -> Any:
        return QueryValues.of, (np.asarray(self), self.qid)

    def to_dict(self) -> dict[Any, float]:
        """The value of each query by its name."""
        return dict(zip(self._names().tolist(), self.tolist(), strict=True))

    def to_frame(self, name: str = "value") -> Any:
        """A dataframe with the columns "qid" and `name`, of pandas or, where that is not installed, polars."""
        return frame_of({"qid": self._names(), name: np.asarray(self)})

    def _names(self) -> NDArray[Any]:
        return np.arange(self.size) if self.qid is None else self.qid


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to be judged; all of it validated."""

    y: FloatArray
    scores: FloatArray
    query: NDArray[np.int64]  # number of each row's query
    ids: NDArray[Any]  # the queries' ids, sorted
    cut: Cut | None = None  # queries that have more rows than are here, as labels say

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.ids.size

    @cached_property
    def ranked(self) -> Ordered:
        """Rows by query, the best first; equal scores in input order."""
        return order_within(self.query, self.n_queries, self.scores)

    def small_grades(self, limit: int) -> tuple[NDArray[np.uint8], FloatArray] | None:
        """Grades as numbers from 0 and the grade of each number, where they are whole and at most `limit` <= 256.

        None also where the queries are so short that a table of the range for each would cost more than the rows.
        """
        low, high = self.y.min(initial=np.inf), self.y.max(initial=-np.inf)
        n = high - low + 1
        if max(-low, high) > 2.0**53:  # as floats, whole numbers that differ may be equal
            return None
        if not (n <= limit and n * self.n_queries <= 4 * self.y.size and np.all(self.y == np.floor(self.y))):
            return None
        return (self.y - low).astype(np.uint8), low + np.arange(int(n))


def check_rows(y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None) -> Rows:
    """Validate what is common to all metrics; y may be `labels`, or a Dataset with labels and queries."""
    given: Any = y
    y, qid = split_labels(y, qid)
    s = check_scores(scores)
    values, queries = check_utilities(y, s.size, what="scores"), encode_queries(qid, s.size, what="scores")
    return Rows(values, s, *queries, find_cut(*queries, given["rows"]) if are_labels(given) else None)


def weights_beside(y: Any, sample_weight: ArrayLike | None) -> ArrayLike | None:
    """Row weights: those given, or else those of a Dataset that stands for y."""
    if sample_weight is None and isinstance(y, Dataset):
        return y.without_features().sample_weight
    return sample_weight


def check_scores(scores: ArrayLike) -> FloatArray:
    """Return scores as finite float64 values."""
    s = np.ascontiguousarray(scores, dtype=np.float64)
    if s.ndim != 1:
        raise DataError(f"scores has shape {s.shape}: give one score per row.")
    if s.size == 0:
        raise DataError("scores is empty: give at least one row.")
    if not np.all(np.isfinite(s)):
        raise DataError("scores contains NaN or infinity: a ranking needs a finite score for every row.")
    return s


def are_grades(y: NDArray[Any]) -> bool:
    """Whether labels are grades: whole, not negative, and so small that gains of 2^y - 1 make sense."""
    return bool(y.size and y.dtype.kind in "biuf" and y.min() >= 0 and y.max() <= LARGEST_GRADE) and bool(
        np.all(y == np.floor(y))
    )


def check_cut(k: Any, n_rows: int) -> int:
    """The cut as a number of rows; None is no cut."""
    if k is None:
        return max(n_rows, 1)
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ParameterError(f"k={k!r} must be a whole number above 0, or None for the whole list.")
    return int(k)


def over_queries(metric: str, values: FloatArray, rows: Rows, query_weight: QueryWeight, per_query: bool) -> Value:
    """One value per query, or their weighted mean; NaN marks queries that do not count."""
    if rows.cut is not None:
        warn_caller(f"The score is NaN: {rows.cut.sentence}", UndefinedMetricWarning)
        values = np.where(np.isin(np.arange(values.size), rows.cut.queries), np.nan, values)
        return QueryValues.of(values, rows.ids) if per_query else float("nan")
    if per_query:
        return QueryValues.of(values, rows.ids)
    u = np.ones(values.size) if query_weight is None else check_query_weight(query_weight, rows.query, rows.ids)
    counts = ~np.isnan(values) & (u > 0)
    if not np.any(counts):
        text = f"{metric} is not defined for any query here (no relevant rows, or none but those): the mean is NaN."
        warn_caller(text, UndefinedMetricWarning)
        return float("nan")
    return float(np.average(values[counts], weights=u[counts]))


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Ratio part / whole, NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(part.size, np.nan), where=whole > 0)
