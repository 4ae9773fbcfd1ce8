"""scan: files that are not read yet, as a Dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._errors import ParameterError
from .._files import PathLike
from ..data.checks import check_choice
from ..data.dataset import Dataset, n_bytes
from ..data.scan import Scan
from . import _cache, _store
from ._beside import count_queries
from ._chunks import Layout, blocks, joined_blocks, whole_queries
from ._columns import Columns, check_dtype, warn_of_no_queries
from ._locate import Located, Piece, Sources, locate
from ._options import ReadOptions
from .formats import FORMATS

#: What can be done with missing values block by block.
MISSING = ("error", "keep", "zero")


def scan(
    source: Sources,
    *,
    format: str | None = None,
    label: str | None = None,
    query: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    missing: str = "error",
    dtype: DTypeLike = np.float64,
    n_features: int | None = None,
    dense: bool | Literal["auto"] = "auto",
    zero_based: bool = False,
    on_error: str = "raise",
    n_jobs: int | None = None,
    cache: PathLike | None = None,
    verbose: int = 0,
) -> Dataset:
    """Files of ranking data, larger than memory if need be: a `Dataset` that is not read yet.

    Parameters
    ----------
    source : path, glob, folder, or list of these
        Files of one format, in the order given, those of a glob or a folder by name. Folders named ``year=2024``, as
        Hive and Spark write them, become a column. A query that goes on in another file stays one query.
    format, label, query, id, weight, features, drop
        As in `linrank.io.read`.
    missing : {"error", "keep", "zero"}, default="error"
        What to do with a missing value; "keep" is for a ranker with a policy of its own.
    dtype : float64 or float32
        Type of X. float32 halves what is read in every pass.
    n_features, dense, zero_based, on_error, n_jobs
        For SVMlight, as in `read_svmlight`.
    cache : path, optional
        Folder of the cache. None: ``$LINRANK_CACHE``, or the user's own folder for caches.
    verbose : int, default=0
        Show how much has been read, on standard error.

    Returns
    -------
    Dataset
        Rankers and metrics take it as X, with labels, queries and weights. A fit reads the files once, into the cache,
        and trains on arrays mapped from there; `predict`, `rank` and `score` go through it in chunks.
        `load()` brings all into memory, `chunks()` hands out some rows at a time.
    """
    check_choice("missing", missing, MISSING)
    check_dtype(dtype)
    columns = Columns(label, query, id, weight, None if features is None else tuple(features), tuple(drop))
    options = ReadOptions(
        columns, missing, np.dtype(dtype).name, n_features, dense, zero_based, on_error, n_jobs, verbose
    )
    return Scan(FileSource(locate(source, format), options, None if cache is None else os.fspath(cache)))


@dataclass(frozen=True)
class FileSource:
    """Files, how to read them, and where to keep what was read."""

    located: Located
    options: ReadOptions
    cache: str | None = None

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self.located.name

    @property
    def folder(self) -> Any:
        """Of the cache."""
        return _cache.cache_folder(self.cache)

    def known(self) -> dict[str, Any]:
        """Rows, features and bytes, if it is in the cache."""
        try:
            found = _cache.find(self.located, self.options, self.folder)
        except OSError:
            return {}
        if found is None:
            return {}
        return {"rows": found.n_rows, "features": found.n_features, "bytes": n_bytes(found.X)}

    def state(self) -> dict[str, Any]:
        """Size and time of change of each file that is there."""
        return _cache.state_of(self.located)

    def open(self, tell: Callable[[str], None] = _cache.logger.info) -> Dataset:
        """All rows, mapped from the cache."""
        return warn_of_no_queries(_cache.open_cached(self.located, self.options, self.folder, tell))

    def load(self) -> Dataset:
        """All rows in memory: from the cache, if they are there."""
        found = _cache.find(self.located, self.options, self.folder)
        if found is not None:
            return _store.in_memory(found)
        return warn_of_no_queries(joined_blocks(self.located, self.options))

    def chunks(self, chunk_bytes: int) -> Iterator[Dataset]:
        """Chunks that end where a query does: from the cache, if they are there."""
        found = _cache.find(self.located, self.options, self.folder)
        if found is not None:
            return found.chunks(chunk_bytes)
        return whole_queries(blocks(self.located, self.options), chunk_bytes)

    def width(self) -> int:
        """Number of features."""
        if self.options.n_features is not None and not self.is_table:
            return self.options.n_features
        known = self.known()
        if "features" in known:
            return int(known["features"])
        if self.is_table:
            return len(Layout.of(self.located, self.options).features)
        return max(block.n_features for block in blocks(self.located, self.options))

    @property
    def is_table(self) -> bool:
        """Whether columns have names."""
        return FORMATS[self.located.format].table

    def parts(self, n: int) -> list[FileSource]:
        """At most n sources, about as many bytes each: of whole files, or, where these are fewer, of row groups."""
        if n < 1:
            raise ParameterError(f"n={n!r} parts: give at least 1.")
        whole = self.located
        units = [(piece, os.stat(piece.path).st_size) for piece in whole.pieces]
        if len(units) < n and FORMATS[whole.format].groups is not None:
            units = [unit for piece in whole.pieces for unit in _groups(piece, whole.format)]
        sizes = np.array([size for _, size in units], dtype=np.float64)
        middle = (np.cumsum(sizes) - sizes / 2) / max(1.0, float(sizes.sum()))
        part = np.minimum((middle * n).astype(np.int64), n - 1)
        before = np.zeros(sizes.size, dtype=np.int64) if self.is_table else self._queries_before()
        chosen = [np.flatnonzero(part == k) for k in np.unique(part)]
        pieces = [_joined([units[j][0] for j in some]) for some in chosen]
        firsts = [int(before[some[0]]) for some in chosen]
        located = [replace(whole, pieces=these, first_query=first) for these, first in zip(pieces, firsts, strict=True)]
        return [replace(self, located=one) for one in located]

    def _queries_before(self) -> NDArray[np.int64]:
        """For each file, the queries of those before it, where files beside tell their sizes."""
        counts = [count_queries(path) for path in self.located.paths]
        return self.located.first_query + np.cumsum([0, *counts[:-1]])


def _groups(piece: Piece, format: str) -> list[tuple[Piece, int]]:
    """The groups of rows of a piece, each with its bytes; those without rows are left out, unless all are."""
    known = FORMATS[format].groups
    assert known is not None
    first, last = piece.groups or (0, None)
    found = [(first + k, n_bytes) for k, (rows, n_bytes) in enumerate(known(piece.path)[first:last]) if rows]
    return [(replace(piece, groups=(k, k + 1)), n_bytes) for k, n_bytes in found] or [(piece, 0)]


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Neighbours of one file as one piece."""
    made = pieces[:1]
    for piece in pieces[1:]:
        last = made[-1]
        if piece.groups and last.groups and (piece.path, piece.groups[0]) == (last.path, last.groups[1]):
            made[-1] = replace(last, groups=(last.groups[0], piece.groups[1]))
        else:
            made.append(piece)
    return tuple(made)
