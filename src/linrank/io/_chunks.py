"""The rows of several files as one stream of blocks, which agree on their columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._errors import DataError, NoRowsError, ParameterError
from .._text import printable
from ..data.dataset import CHUNK_BYTES, Comments, Dataset, last_change, n_bytes
from ..data.joining import joined, wide_enough
from ._beside import BesideBlocks
from ._blocks import blocks as of_file
from ._columns import Columns
from ._locate import NO_VALUE, Located, Piece
from ._options import ReadOptions
from .formats import FORMATS


@dataclass(frozen=True)
class Layout:
    """Which column is what in every file, found in the first: as the formats are told, and as it is told to users."""

    names: frozenset[str]  # of the file's own columns
    partition: tuple[str, ...]  # of those that folders tell
    roles: dict[str, str]
    features: list[str]
    description: tuple[str, ...]

    @classmethod
    def of(cls, located: Located, options: ReadOptions) -> Layout:
        """As the first file has it."""
        first = located.pieces[0]
        names, columns = FORMATS[located.format].header(first.path, options)
        told = [name for name, _ in first.partition if name not in names]
        with naming(first.path):
            roles, features, words = columns.assign([*names, *told])
        return cls(frozenset(names), tuple(told), roles, features, words)

    def columns(self) -> Columns:
        """What a format is to read of each file."""
        own = {role: name if name in self.names else "" for role, name in self.roles.items()}
        features = [name for name in self.features if name in self.names]
        return Columns(**{role: own.get(role, "") for role in ("label", "query", "id", "weight")}, features=features)

    def check(self, path: str, first: str, names: list[str]) -> None:
        """Refuse a file that lacks a column that is used, or has one that no other has."""
        for name in sorted(self.names - set(names)):
            raise DataError(f"{path} has no column {name!r}, which {first} has: the files must have the same columns.")
        for name in names:
            if name not in self.names:
                raise DataError(f"{path} has a column {name!r}, which {first} has not: leave one of them out.")


class naming:  # noqa: N801
    """Errors of data in its body name the file, unless they do already."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (DataError, ParameterError)) and printable(self._path) not in str(error):
            raise type(error)(f"{self._path}: {error}") from None


def blocks(located: Located, options: ReadOptions) -> Iterator[Dataset]:
    """The blocks of all files, one after the other; errors name file and column.

    Those of SVMlight are CSR, each as wide as its largest id.
    """
    if options.missing == "mean":
        raise ParameterError("missing='mean' would differ by block: scan with missing='keep', fit with missing='mean'.")
    return (_of_tables if FORMATS[located.format].table else _of_svmlight)(located, options)


def _of_svmlight(located: Located, options: ReadOptions) -> Iterator[Dataset]:
    if options.columns != Columns():
        raise ParameterError("label=, query=, id=, weight=, features= and drop= are for tables, not for SVMlight.")
    first_query, first = located.first_query, (located.pieces[0].path, False)
    skipped, problems = 0, tuple[str, ...]()
    for number, piece in enumerate(located.pieces):
        beside, last = BesideBlocks(piece.path, first_query), None
        for block in of_file(piece.path, located.format, replace(options, dense=False)):
            last = beside.with_block(block)
            if number == 0 and not first[1]:
                first = (piece.path, last.qid is not None)
            elif (last.qid is not None) != first[1]:
                have, lack = (piece.path, first[0]) if last.qid is not None else (first[0], piece.path)
                raise DataError(f"{lack} has no qid, {have} has: give each line of all files one, or none.")
            yield replace(last, skipped=skipped + last.skipped, problems=(*problems, *last.problems))
        if last is None:
            raise DataError(f"{piece.path} holds no row: leave it out, or check that it is whole.")
        beside.end(last)
        first_query += beside.queries
        skipped, problems = skipped + last.skipped, (*problems, *last.problems)


def _of_tables(located: Located, options: ReadOptions) -> Iterator[Dataset]:
    layout, first = Layout.of(located, options), located.pieces[0].path
    kinds = {name: _kind([dict(piece.partition)[name] for piece in located.pieces]) for name in layout.partition}
    told = replace(options, columns=layout.columns())
    guesses = not layout.partition and options.columns.features is None
    guessing = options if guesses else told  # the first block is looked at as a whole file would be
    rows = 0
    for number, piece in enumerate(located.pieces):
        if number:
            layout.check(piece.path, first, FORMATS[located.format].header(piece.path, options)[0])
        with naming(piece.path), suppress(NoRowsError):
            how = replace(guessing if rows == 0 else told, groups=piece.groups)
            for block in of_file(piece.path, located.format, how):
                rows += block.n_rows
                yield replace(_with_partition(block, layout, piece, kinds), description=layout.description)
    if not rows:
        raise NoRowsError(f"{located.name}: there is no row, so nothing to rank.")


def _kind(values: list[str]) -> type:
    """Whether all values of a folder's name are whole numbers, numbers, or texts."""
    for kind in (int, float):
        try:
            known = [kind(value) for value in values if value != NO_VALUE]
        except ValueError:
            continue
        if kind is float or all(str(number) == value for number, value in zip(known, values, strict=False)):
            return kind
    return str


def _with_partition(block: Dataset, layout: Layout, piece: Piece, kinds: dict[str, type]) -> Dataset:
    """The block with the columns that its folder tells."""
    if not layout.partition:
        return block
    told, m = dict(piece.partition), block.n_rows
    changed: dict[str, Any] = {}
    for role, name in layout.roles.items():
        if name in layout.partition:
            changed |= _role(role, name, told[name], kinds[name], m)
    own = {name: j for j, name in enumerate(block.feature_names or [])}
    X = np.empty((m, len(layout.features)), dtype=block.X.dtype)
    for j, name in enumerate(layout.features):
        if name in own:
            X[:, j] = block.X[:, own[name]]
            continue
        if kinds[name] is str:
            raise DataError(f"Column {name!r}, from the names of folders, holds texts, not numbers: drop={[name]!r}.")
        X[:, j] = np.nan if told[name] == NO_VALUE else float(told[name])
    return replace(block, X=X, feature_names=layout.features, **changed)


def _role(role: str, name: str, value: str, kind: type, n_rows: int) -> dict[str, Any]:
    if role == "id":
        return {"comments": Comments.of([value] * n_rows)}
    if role == "query":
        whole = kind is int
        return {"qid": np.full(n_rows, int(value) if whole else value, dtype=np.int64 if whole else object)}
    if kind is str or value == NO_VALUE:
        raise DataError(f"Column {name!r}, the {role}, from the names of folders, holds no number: {value!r}.")
    return {{"label": "y", "weight": "sample_weight"}[role]: np.full(n_rows, float(value))}


def whole_queries(parts: Iterator[Dataset], chunk_bytes: int = CHUNK_BYTES) -> Iterator[Dataset]:
    """The same rows in chunks that end where a query does, of about `chunk_bytes` bytes of features.

    A query longer than that goes on in the next chunk; without queries every row may end a chunk. Rows of a query that
    are not next to each other come as they stand.
    """
    held: list[Dataset] = []
    size = 0
    for part in parts:
        held.append(part)
        size += n_bytes(part.X)
        if size < chunk_bytes:
            continue
        rows = joined(held)
        end = last_change(rows.qid) or rows.n_rows
        yield from rows.rows(0, end).chunks(chunk_bytes)
        held = [rows.rows(end, rows.n_rows)] if end < rows.n_rows else []
        size = sum(n_bytes(part.X) for part in held)
    if held:
        yield joined(held)


def joined_blocks(located: Located, options: ReadOptions) -> Dataset:
    """All rows in memory, in the layout and width that were asked for."""
    data = joined(list(blocks(located, options)))
    X = data.X
    if not sp.issparse(X):
        return data
    m, d = X.shape[0], X.shape[1] if options.n_features is None else options.n_features
    entry, dense = X.dtype.itemsize, options.dense
    if dense == "auto":
        dense = m * d * entry <= X.nnz * (entry + 4) + 8 * m
    X = wide_enough(X, d)
    return replace(data, X=X.toarray() if dense else X)
