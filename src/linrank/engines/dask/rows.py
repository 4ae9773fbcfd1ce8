"""On workers: rows as they come, counted, cut and brought together, until each query is whole in one shard.

Counting tasks tell the rows of each query in a chunk. A table of them says where each query has its home. Pieces of
chunks go there. Nothing of it passes through the client but how many rows and pieces there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._errors import DataError, NoPairsError
from ..._typing import FloatArray
from ...data.checks import check_features
from ...data.missing import pieces, replace_missing
from ...data.preferences import Graph, build
from ...data.queries import check_ids, number_queries
from ...data.ranking_data import RankingData, _check_rows
from .build import without_features
from .shard import Shard
from .span import Counter, Rows
from .table import Counts, concatenate


@dataclass(frozen=True)
class Chunk:
    """Some rows: features, and a value each of what was given."""

    X: Any
    columns: dict[str, NDArray[Any]]
    names: tuple[str, ...] | None = None  # of the features, where a file tells them

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def __sizeof__(self) -> int:
        return matrix_bytes(self.X) + sum(int(column.nbytes) for column in self.columns.values())

    def take(self, rows: NDArray[np.int64]) -> Chunk:
        """Some of the rows, in this order; all of them as they are."""
        if rows.size == self.n_rows and np.array_equal(rows, np.arange(rows.size)):
            return self
        return Chunk(self.X[rows], {name: column[rows] for name, column in self.columns.items()}, self.names)


def matrix_bytes(X: Any) -> int:
    """Bytes of features."""
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) if sp.issparse(X) else int(X.nbytes)


@dataclass(frozen=True)
class Building:
    """How rankings are made of rows."""

    preferences: Any
    query_weighting: str
    missing: str
    query_weight: Mapping[Any, float] | None = None
    fill: FloatArray | None = None


class Measured(NamedTuple):
    """What the client is told of a chunk."""

    rows: int
    bytes: int
    features: int
    kind: str  # of the features: dense or sparse
    ids: str  # kind of the query ids
    columns: tuple[str, ...]  # what was given beside the features
    names: tuple[str, ...] | None = None


def load(block: tuple[Any, dict[str, Any]], missing: str) -> Chunk:
    """A block as a chunk, its features checked."""
    lead, columns = block
    if lead.shape[0] == 0:
        X = lead if sp.issparse(lead) else np.empty((0, lead.shape[1]))
        return Chunk(X, {name: np.asarray(column) for name, column in columns.items()})
    X = check_features(lead, allow_nan=missing != "error")
    given = dict(columns)
    if "qid" in given:
        given["qid"] = check_ids(given["qid"], X.shape[0])
    return Chunk(X, {name: np.asarray(column) for name, column in given.items()})


def measure(chunks: list[Chunk]) -> list[Measured]:
    """The sizes of some chunks."""
    return [
        Measured(
            chunk.n_rows,
            matrix_bytes(chunk.X),
            int(chunk.X.shape[1]),
            "sparse" if sp.issparse(chunk.X) else "dense",
            "" if "qid" not in chunk.columns or not chunk.n_rows else id_kind(chunk.columns["qid"]),
            tuple(sorted(chunk.columns)),
            chunk.names,
        )
        for chunk in chunks
    ]


def id_kind(ids: NDArray[Any]) -> str:
    """Whether ids are whole numbers, texts or dates: only those of one kind can be compared."""
    if ids.dtype.kind == "O":
        return "numbers" if isinstance(ids[0], (int, np.integer)) else type(ids[0]).__name__
    return {"U": "str", "S": "bytes", "M": "dates", "m": "durations"}.get(ids.dtype.kind, "numbers")


def means(chunks: list[Chunk]) -> list[tuple[FloatArray, FloatArray]]:
    """For each chunk, the values of each column that are there, and their mean."""
    return [_mean(chunk.X) for chunk in chunks]


def _mean(X: Any) -> tuple[FloatArray, FloatArray]:
    n, d = X.shape
    if sp.issparse(X):
        known = ~np.isnan(X.data)
        count = (n - np.bincount(X.indices[~known], minlength=d)).astype(np.float64)
        share = X.data[known] / np.maximum(count, 1)[X.indices[known]]
        return count, np.bincount(X.indices[known], share, minlength=d).astype(np.float64)
    count = n - sum((np.isnan(piece).sum(axis=0) for _, piece in pieces(X)), np.zeros(d))
    mean = np.zeros(d)
    for _, piece in pieces(X):
        mean += np.nansum(piece / np.maximum(count, 1), axis=0, dtype=np.float64)
    return count, mean


def join(chunks: list[Chunk]) -> Chunk:
    """Chunks whose rows follow one another, as one."""
    held = [chunk for chunk in chunks if chunk.n_rows] or chunks[:1]
    if len(held) == 1:
        return held[0]
    stack = sp.vstack([chunk.X for chunk in held], format="csr") if sp.issparse(held[0].X) else None
    X = np.concatenate([chunk.X for chunk in held]) if stack is None else stack
    columns = {name: concatenate([chunk.columns[name] for chunk in held]) for name in held[0].columns}
    return Chunk(X, columns, held[0].names)


def count_queries(chunk: Chunk) -> Counts:
    """A counting task."""
    query, ids = number_queries(chunk.columns.get("qid"), chunk.n_rows)
    return Counts(ids, np.bincount(query, minlength=ids.size))


def cut(chunk: Chunk, homes: NDArray[np.int64], target: int) -> Chunk:
    """A piece task: the rows that go to one shard, in their order."""
    query, _ = number_queries(chunk.columns.get("qid"), chunk.n_rows)
    return chunk.take(np.flatnonzero(homes[query] == target))


def make_data(chunk: Chunk, how: Building) -> RankingData:
    """Rows sorted by query, with their preferences, of which there may be none."""
    if "qid" in chunk.columns:
        query, _ = number_queries(chunk.columns["qid"], chunk.n_rows)
        if np.any(query[1:] < query[:-1]):
            chunk = chunk.take(np.argsort(query, kind="stable"))
    X, y, qid, v, u = _given(chunk, how)
    told = {"preferences": how.preferences, "query_weighting": how.query_weighting}
    try:
        return RankingData(X, y, qid, sample_weight=v, query_weight=u, **told)
    except NoPairsError:
        return unranked(chunk, how)


def _given(chunk: Chunk, how: Building) -> tuple[Any, ...]:
    """X without NaN, y, qid, row weights and query weights."""
    given = chunk.columns
    X = chunk.X if how.fill is None else replace_missing(chunk.X, how.fill)
    u = given.get("query_weight") if how.query_weight is None else how.query_weight
    return X, given["y"], given.get("qid"), given.get("sample_weight"), u


def unranked(chunk: Chunk, how: Building) -> RankingData:
    """The rows as they stand, without a preference."""
    X, y, qid, v, u = _given(chunk, how)
    grades, values = _check_rows(chunk.n_rows, y, qid, v, u, None)
    none = np.empty(0, dtype=np.int64)
    built = build(grades, Graph(none, none, np.empty(0)), None, "pairs")
    return RankingData._of(X, values, grades.query, grades.ids, None if qid is None else "qid", grades.v, built)


def make_shard(pieces_: list[Chunk], how: Building, device: Any) -> Shard:
    """A build task: whole queries."""
    return Shard(make_data(join(pieces_), how), device)


def make_part(piece: Chunk, how: Building) -> Rows:
    """A build task: rows of a query that spans workers."""
    return Rows(unranked(piece, how))


def labels_of(piece: Chunk) -> Chunk:
    """What a counter needs of a piece: all but its features."""
    return Chunk(np.zeros((piece.n_rows, 1)), piece.columns)


def make_counter(labels: list[Chunk], how: Building) -> Counter:
    """A build task: the preferences of a query that spans workers."""
    joined = join(labels)
    ends = np.cumsum([piece.n_rows for piece in labels]).tolist()
    return Counter(without_features(make_data(joined, replace(how, fill=None))), ends)


def refuse_mixed(measured: list[Measured]) -> None:
    """Refuse partitions that cannot be one data set."""
    some = [one for one in measured if one.rows]
    if not some:
        raise DataError("X has no rows: give at least one.")
    for what, kinds in (
        ("columns", {one.columns for one in some}),
        ("numbers of features", {one.features for one in some}),
        ("kinds of features", {one.kind for one in some}),
        ("kinds of query ids", {one.ids for one in some}),
        ("features' names", {one.names for one in some}),
    ):
        if len(kinds) > 1:
            both = " and ".join(str(kind) for kind in sorted(kinds, key=str)[:2])
            raise DataError(f"Partitions differ in their {what} ({both}): make them alike.")
