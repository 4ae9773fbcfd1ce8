"""How many rows each query has: what tells a query that was cut from a whole one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import UndefinedMetricWarning, warn_caller
from .queries import encode_queries

#: What to do about queries that were cut.
CURE = "split by query, as linrank.model_selection.QueryKFold does"


@dataclass(frozen=True, eq=False)
class RowCounts:
    """The rows of each query, under a hash of its id: 16 bytes a query. Not to be saved: text hashes anew elsewhere."""

    key: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, query: NDArray[np.int64], ids: NDArray[Any]) -> RowCounts:
        """Count rows by the numbers of their queries and the ids by number. O(rows + queries)."""
        if ids.dtype.kind == "O":
            ids = np.array(ids.tolist())  # all strings or all integers
        whole = ids.dtype.kind in "biuMm"
        key = ids.astype(np.int64) if whole else np.fromiter(map(hash, ids.tolist()), np.int64, ids.size)
        return cls(key, np.bincount(query, minlength=ids.size))

    def warn_of_others(self, qid: ArrayLike, n_rows: int) -> None:
        """Warn where a query has another number of rows in `qid` than here."""
        query, ids = encode_queries(qid, n_rows)
        other = RowCounts.of(query, ids)
        _, here, there = np.intersect1d(self.key, other.key, return_indices=True)
        differ = np.flatnonzero(self.rows[here] != other.rows[there])
        if not differ.size:
            return
        k = differ[np.argmin(there[differ])]
        queries = "1 query is judged" if differ.size == 1 else f"{differ.size:,} queries are judged"
        warn_caller(
            f"{queries} with another number of rows than in training (query {ids[there[k]]}: "
            f"{self.rows[here[k]]} rows in training, {other.rows[there[k]]} here). If folds cut queries, this score is "
            f"not to be believed: {CURE}. If these are other queries with the same ids, judge by labels(y, qid).",
            UndefinedMetricWarning,
        )


class Cut(NamedTuple):
    """Which queries were cut, by number, and a sentence on it that names the cure."""

    queries: NDArray[np.int64]
    sentence: str


def find_cut(query: NDArray[np.int64], ids: NDArray[Any], expected: NDArray[np.int64]) -> Cut | None:
    """The queries with fewer rows than their rows `expected`; None if there is none."""
    count = np.bincount(query, minlength=ids.size)
    short = np.unique(query[count[query] < expected])
    if not short.size:
        return None
    k = short[0]
    whole = expected[query == k].max()
    what = f"{short.size:,} of {ids.size:,} queries {'is' if short.size == 1 else 'are'} cut"
    return Cut(short, f"{what} ({ids[k : k + 1].tolist()[0]!r} has {count[k]} of its {whole} rows here): {CURE}.")
