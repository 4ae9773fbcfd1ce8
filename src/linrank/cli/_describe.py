"""What is in a file of data: counts that tell whether it was understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._bars import size
from .._errors import NoPairsError
from ..data.missing import pieces
from ..data.queries import encode_queries
from ..data.ranking_data import make_preferences
from ..io import Dataset
from ._memory import peak_bytes, training_bytes

ENTRIES = 1 << 20  # of X that are looked at at a time
FEW_LEVELS = 8  # are listed one by one


@dataclass(frozen=True)
class DataFacts:
    """Counts of a file of data; `levels` maps each label to its rows, None where there are too many.

    Pairs are None where a fit is to count them, or where there are no labels.
    """

    rows: int
    features: int
    queries: int
    queries_without_pairs: int | None
    shortest_query: int
    median_query: float
    longest_query: int
    n_levels: int
    levels: dict[str, int] | None
    pairs: int | None
    stored_values: int
    missing_values: int
    constant_columns: list[str]
    n_constant_columns: int
    weighted: bool
    skipped_lines: int
    bytes_of_features: int
    bytes_of_training: int
    bytes_at_peak: int | None

    def lines(self) -> list[tuple[str, str]]:
        """For a table."""
        share = self.stored_values / max(1, self.rows * self.features)
        counted = self.pairs is not None
        found = [
            ("rows", f"{self.rows:,}" + (f" ({self.skipped_lines:,} lines skipped)" if self.skipped_lines else "")),
            ("features", f"{self.features:,}" + (f", {share:.2%} of values stored" if share < 1 else "")),
            ("queries", f"{self.queries:,}, of {self.shortest_query:,} to {self.longest_query:,} rows "
                        f"(median {self.median_query:g})"),
            *([("without pairs", f"{self.queries_without_pairs:,}")] if counted else []),
            ("levels", self._levels()) if self.n_levels else ("labels", "none"),
            *([("pairs", f"{self.pairs:,}")] if counted else []),
        ]  # fmt: skip
        if self.weighted:
            found.append(("row weights", "yes"))
        if self.missing_values:
            found.append(("missing values", f"{self.missing_values:,}"))
        if self.n_constant_columns:
            more = ", ..." if self.n_constant_columns > len(self.constant_columns) else ""
            names = ", ".join(self.constant_columns)
            found.append(("constant columns", f"{self.n_constant_columns:,} ({names}{more})"))
        return [*found, ("memory", self._memory())]

    def _memory(self) -> str:
        so_far = "" if self.bytes_at_peak is None else f"{size(self.bytes_at_peak)} at the peak so far, "
        features, more = size(self.bytes_of_features), size(self.bytes_of_training)
        return f"{so_far}{features} of it features; training takes up to {more} beside them"

    def _levels(self) -> str:
        if self.levels is None:
            return f"{self.n_levels:,}"
        return f"{self.n_levels:,}: " + ", ".join(f"{level} ({n:,})" for level, n in self.levels.items())


def describe(data: Dataset, *, count_pairs: bool = True) -> DataFacts:
    """Count; of pairs all those between levels, as preferences="full" has them, unless they are left to a fit."""
    peak = peak_bytes()  # before anything is counted
    m, d = data.X.shape
    query, ids = encode_queries(data.qid, m)
    sizes = np.bincount(query, minlength=ids.size)
    values, counts = np.unique(np.empty(0) if data.y is None else data.y, return_counts=True)
    pairs, without_pairs = _pairs(data, ids.size) if count_pairs and data.y is not None else (None, None)
    constant, missing = columns(data.X)
    names = data.feature_names or [str(j + 1) for j in range(d)]
    sparse = sp.issparse(data.X)
    entries = data.X.nnz if sparse else m * d
    stored = data.X.data.nbytes + data.X.indices.nbytes + data.X.indptr.nbytes if sparse else data.X.nbytes
    return DataFacts(
        rows=m,
        features=d,
        queries=ids.size,
        queries_without_pairs=without_pairs,
        shortest_query=int(sizes.min()),
        median_query=float(np.median(sizes)),
        longest_query=int(sizes.max()),
        n_levels=values.size,
        levels={f"{v:g}": int(n) for v, n in zip(values, counts, strict=True)} if values.size <= FEW_LEVELS else None,
        pairs=pairs,
        stored_values=entries,
        missing_values=missing,
        constant_columns=[names[j] for j in constant[:5]],
        n_constant_columns=constant.size,
        weighted=data.sample_weight is not None,
        skipped_lines=data.skipped,
        bytes_of_features=int(stored),
        bytes_of_training=training_bytes(m, d, int(sizes.max()), int(stored), sparse),
        bytes_at_peak=peak,
    )


def _pairs(data: Dataset, n_queries: int) -> tuple[int, int]:
    """Pairs, and queries that have none."""
    try:
        grades, _, p = make_preferences(data.n_rows, data.y, data.qid, data.sample_weight)
    except NoPairsError:
        return 0, n_queries
    return p.n_pairs, n_queries - np.unique(grades.query[p.row]).size


def columns(X: Any) -> tuple[NDArray[np.int64], int]:
    """Columns whose known values are all the same, and how many values are missing."""
    m, d = X.shape
    low, high, missing = np.full(d, np.inf), np.full(d, -np.inf), 0
    if sp.issparse(X):
        stored = np.zeros(d, dtype=np.int64)
        for start in range(0, X.data.size, ENTRIES):  # a piece at a time: X may lie on disk
            values, column = (np.asarray(part[start : start + ENTRIES]) for part in (X.data, X.indices))
            known = ~np.isnan(values)
            np.minimum.at(low, column[known], values[known])
            np.maximum.at(high, column[known], values[known])
            stored += np.bincount(column, minlength=d)
            missing += int(np.sum(~known))
        implicit = stored < m
        low[implicit], high[implicit] = np.minimum(low[implicit], 0), np.maximum(high[implicit], 0)
        return np.flatnonzero(high <= low), missing
    for _, piece in pieces(X):
        low, high = np.fmin(low, np.fmin.reduce(piece, axis=0)), np.fmax(high, np.fmax.reduce(piece, axis=0))
        missing += int(np.isnan(piece).sum())
    return np.flatnonzero(~(high > low)), missing
