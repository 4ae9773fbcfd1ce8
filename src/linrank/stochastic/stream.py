"""Streams in chunks: a query may go on in the next chunk, so some of its rows are kept; memory stays bounded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError, NoPairsError, ParameterError
from .._progress import Progress
from .._typing import FloatArray
from ..data.checks import check_features, check_utilities, check_weights
from ..data.labels import split_labels
from ..data.queries import encode_queries
from ..data.ranking_data import RankingData, _check_rows
from ..kernels.random import fill_units
from ..solvers import Iteration
from .descent import Descent, StepRule
from .run import Run, check_finite

Chunks = Iterable[Any] | Callable[[], Iterable[Any]]


class Chunk(NamedTuple):
    """Validated rows of a stream: query ids as text, their numbers by row, and all weights by row."""

    X: Any
    y: FloatArray
    query: NDArray[np.int64]
    ids: list[str]
    v: FloatArray
    u: FloatArray

    def data(self, preferences: str | ArrayLike) -> RankingData | None:
        """The rows as ranking data; None if there is no pair among them."""
        v, u = self.v, self.u
        try:
            return RankingData(self.X, self.y, self.query, sample_weight=v, query_weight=u, preferences=preferences)
        except NoPairsError:
            return None


def check_chunk(
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | Mapping[Any, float] | None = None,
) -> Chunk:
    """Validate a chunk; without qid, every row of the stream belongs to one query."""
    X = check_features(X)
    n_rows = X.shape[0]
    grades, values = _check_rows(n_rows, y, qid, sample_weight, query_weight, None)
    assert values is not None
    ids = ["all rows"] if qid is None else [_key(name) for name in encode_queries(qid, n_rows)[1].tolist()]
    v = np.ones(n_rows) if grades.v is None else grades.v
    u = np.ones(n_rows) if grades.u is None else grades.u[grades.query]
    return Chunk(X, values, grades.query, ids, v, u)


def fingerprint(X: Any, y: Any, qid: Any, sample_weight: Any) -> str:
    """A hash of a chunk as it is given, by which a stream is known again."""
    X = check_features(X, allow_nan=True)
    y, qid = split_labels(y, qid)
    query, ids = encode_queries(qid, X.shape[0])
    entries = (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)) if sp.issparse(X) else (X,)
    given = [*entries, query]
    given += [] if y is None else [check_utilities(y, X.shape[0])]
    given += [] if sample_weight is None else [check_weights("sample_weight", sample_weight, X.shape[0])]
    digest = hashlib.sha256(json.dumps([qid is None, [_key(name) for name in ids.tolist()]]).encode())
    for array in given:
        digest.update(f"{array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _key(name: Any) -> str:
    """Query ids as text that a checkpoint can hold: 1 and "1" stay different."""
    return f"{type(name).__name__} {name}"


class Kept(NamedTuple):
    """Rows of an open query, and how many of its rows have been seen."""

    X: Any
    y: FloatArray
    v: FloatArray
    seen: int


@dataclass(frozen=True)
class OpenQueries:
    """The queries that may go on, the last one seen last: at most `most` of them, with at most `size` rows each.

    The rows kept of a query are a uniform sample of those seen (algorithm R), drawn from a random stream of its own.
    """

    size: int
    most: int
    seed: np.uint64
    counter: np.uint64 = field(default_factory=lambda: np.uint64(0))
    kept: dict[str, Kept] = field(default_factory=dict)

    def working_set(self, chunk: Chunk) -> Chunk:
        """The chunk's rows, and those kept of its queries."""
        parts = [(q, self.kept[name]) for q, name in enumerate(chunk.ids) if name in self.kept]
        if not parts:
            return chunk
        query = np.concatenate([chunk.query, *(np.full(kept.y.size, q) for q, kept in parts)])
        weight = np.zeros(len(chunk.ids))
        weight[chunk.query] = chunk.u  # of a query, as its last chunk has it
        return Chunk(
            X=_stack([chunk.X, *(kept.X for _, kept in parts)]),
            y=np.concatenate([chunk.y, *(kept.y for _, kept in parts)]),
            query=query,
            ids=chunk.ids,
            v=np.concatenate([chunk.v, *(kept.v for _, kept in parts)]),
            u=weight[query],
        )

    def after(self, chunk: Chunk) -> OpenQueries:
        """The open queries once the chunk has been seen."""
        last = np.zeros(len(chunk.ids), dtype=np.int64)
        last[chunk.query] = np.arange(chunk.query.size)
        recent = np.argsort(last)[-self.most :]
        kept = {name: rows for name, rows in self.kept.items() if name not in set(chunk.ids)}
        counter = self.counter
        for q in recent:
            rows = np.flatnonzero(chunk.query == q)
            name = chunk.ids[q]
            kept[name], counter = self._sample(chunk, rows, self.kept.get(name), counter)
        names = list(kept)[-self.most :]
        return replace(self, counter=counter, kept={name: kept[name] for name in names})

    def _sample(
        self, chunk: Chunk, rows: NDArray[np.int64], old: Kept | None, counter: np.uint64
    ) -> tuple[Kept, np.uint64]:
        """Row number n of a query takes place n while there is room, then a random one of n places if it is kept."""
        n_old, seen = (0, 0) if old is None else (old.y.size, old.seen)
        unit = np.empty(rows.size)
        fill_units(self.seed, counter, unit)
        number = seen + 1 + np.arange(rows.size)
        place = np.where(number <= self.size, number - 1, np.floor(unit * number).astype(np.int64))
        taken = place < self.size
        source = np.full(min(self.size, seen + rows.size), -1, dtype=np.int64)
        source[:n_old] = np.arange(n_old)
        source[place[taken]] = n_old + np.flatnonzero(taken)  # of rows with the same place the last one stays
        new, held = rows[source[source >= n_old] - n_old], source[source < n_old]
        X, y, v = chunk.X[new], chunk.y[new], chunk.v[new]
        if old is not None:
            X, y, v = _stack([X, old.X[held]]), np.r_[y, old.y[held]], np.r_[v, old.v[held]]
        return Kept(X, y, v, seen + rows.size), counter + np.uint64(rows.size)


@dataclass(frozen=True)
class Stream:
    """Training on a stream, as far as it has come: all that the rest of it depends on."""

    descent: Descent
    queries: OpenQueries
    scale: FloatArray | None
    n_pairs: int
    n_steps: int
    with_qid: bool
    alpha: float
    means: FloatArray | None = None  # of the columns of a fit before, for missing values

    def learned(
        self, chunk: Chunk, rule: StepRule, sampling: str, preferences: Any, n_steps: int, progress: Progress | None
    ) -> Stream:
        """The stream after n_steps steps on pairs of the chunk's rows and of those kept; none if there is no pair."""
        descent, n_pairs = self.descent.copy(), self.n_pairs
        data = self.queries.working_set(chunk).data(preferences)
        if data is not None:
            run = Run(rule, data, self.scale, sampling)
            if progress is not None and progress.verbose > 0:
                progress(Iteration(descent.t, run.objective(descent), np.nan, progress.seconds))
            run.steps(descent, n_steps)
            check_finite(descent)
            n_pairs += data.preferences.n_pairs
        n_steps = self.n_steps + descent.t - self.descent.t
        after, alpha = self.queries.after(chunk), float(rule.alpha)
        return replace(self, descent=descent, queries=after, n_pairs=n_pairs, n_steps=n_steps, alpha=alpha)

    def closed(self) -> Stream:
        """The same with no query open."""
        return replace(self, queries=replace(self.queries, kept={}))


def _stack(parts: list[Any]) -> Any:
    """Rows one below the other, in the first part's kind: dense or CSR."""
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.vstack([sp.csr_matrix(part) for part in parts], format="csr")
    return np.vstack([part.toarray() if sp.issparse(part) else part for part in parts])


def numbered_chunks(chunks: Chunks, passes: int) -> Iterator[tuple[tuple[int, int], tuple[Any, Any, Any, Any]]]:
    """((pass, number), (X, y, qid, sample_weight)) of each chunk of a stream; empty ones are left out."""
    if passes > 1 and not callable(chunks) and iter(chunks) is chunks:
        raise ParameterError(
            f"passes={passes} needs a stream that can be read again: give a list, or a function that opens it anew."
        )
    for number_of_pass in range(passes):
        source: Iterable[Any] = chunks() if callable(chunks) else chunks
        for number, item in enumerate(source):
            parts = _unpack(item)
            if np.shape(parts[0])[0] > 0:
                yield (number_of_pass, number), parts


def _unpack(item: Any) -> tuple[Any, Any, Any, Any]:
    if isinstance(item, (tuple, list)) and not hasattr(item, "X"):
        if len(item) not in (2, 3):
            raise DataError(f"A chunk has {len(item)} parts: give (X, y) or (X, y, qid).")
        return item[0], item[1], item[2] if len(item) == 3 else None, None
    if not hasattr(item, "X") or not hasattr(item, "y"):
        raise DataError(f"A chunk is a {type(item).__name__}: give (X, y, qid), or an object with X, y and qid.")
    return item.X, item.y, getattr(item, "qid", None), getattr(item, "sample_weight", None)
