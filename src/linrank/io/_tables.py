"""Tables as ranking data: all of one in memory, or part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError, NoRowsError, ParameterError
from .._typing import FloatArray
from ..data.checks import check_choice
from ..data.dataset import Comments, Dataset
from ..data.frames import infinite_in, missing_in
from ..data.missing import learn_missing, pieces
from ._columns import MISSING, Columns, check_dtype
from ._growing import Growing, GrowingIds, GrowingTexts
from ._runs import Runs, looks_like_queries

#: Of a table whose columns can be read apart: each that is begun takes a few megabytes.
COLUMNS_AT_ONCE = 4


class Table(Protocol):
    """Columns by name, all of the same length."""

    names: list[str]
    n_rows: int

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN for missing ones; a DataError if a cell holds anything else."""

    def ids(self, name: str) -> NDArray[Any]:
        """A column of integers or strings; a DataError if one is missing."""

    def texts(self, name: str) -> Iterable[str]:
        """A column as strings."""


class Tables(Protocol):
    """A table in parts; `lists` tells the names of the columns that a column of lists stands for.

    `n_rows` is known where columns can be read apart from each other, at the cost of these alone.
    """

    names: list[str]
    lists: dict[str, list[str]]
    n_rows: int | None

    def parts(self, is_text: Mapping[str, bool]) -> Iterator[tuple[Table, float]]:
        """Rows in order, at least of these columns, and the share of all that lies behind each part."""


class OneTable:
    """A table that is in memory, as its only part."""

    n_rows: int | None = None

    def __init__(self, table: Table, lists: dict[str, list[str]]) -> None:
        self.names, self.lists, self._table = table.names, lists, table

    def parts(self, is_text: Mapping[str, bool]) -> Iterator[tuple[Table, float]]:
        """The table."""
        yield self._table, 1.0


class TableReader:
    """The parts of a table, each as ranking data whose numbers are still to be checked."""

    def __init__(self, tables: Tables, columns: Columns, missing: str, dtype: DTypeLike) -> None:
        check_choice("missing", missing, MISSING)
        self.dtype, self.missing, self._tables = check_dtype(dtype), missing, tables
        self.roles, self.features, self.words = _spread(columns, tables.lists).assign(tables.names)
        unknown = columns.query is None and "query" not in self.roles and columns.features is None
        of_lists = {part for parts in tables.lists.values() for part in parts}
        self._runs = {name: Runs() for name in self.features if name not in of_lists} if unknown else {}

    def parts(self) -> Iterator[tuple[Dataset, float]]:
        """Rows in order, and the share that lies behind."""
        return self._parts(self.roles, self.features)

    def _parts(self, roles: Mapping[str, str], features: Sequence[str]) -> Iterator[tuple[Dataset, float]]:
        """The same of some of the columns."""
        is_text = {column: role in ("query", "id") for role, column in roles.items()}
        n_rows = 0
        for table, share in self._tables.parts({**dict.fromkeys(features, False), **is_text}):
            if table.n_rows:
                yield self._part(table, roles, features), share
                n_rows += table.n_rows
        if n_rows == 0:
            raise NoRowsError("The table has no row: there is nothing to rank.")
        for name in features:
            if name in self._runs and self._runs[name].look_like_queries():
                raise _suspicion(name, "query='' to take it as a feature")

    def _part(self, table: Table, roles: Mapping[str, str], features: Sequence[str]) -> Dataset:
        X = np.empty((table.n_rows, len(features)), dtype=self.dtype)
        for j, name in enumerate(features):
            numbers = self._feature(table, name)
            with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, which is refused
                X[:, j] = numbers
        return Dataset(
            X=X,
            y=table.numbers(roles["label"]) if "label" in roles else None,
            qid=table.ids(roles["query"]) if "query" in roles else None,
            comments=Comments.of(table.texts(roles["id"])) if "id" in roles else None,
            sample_weight=table.numbers(roles["weight"]) if "weight" in roles else None,
            feature_names=self.features,
            description=self.words,
        )

    def by_rows(self) -> Dataset:
        """All of the table, part by part."""
        grown = GrowingTable(self.dtype, len(self.features))
        for part, share in self.parts():
            grown.append(part, share)
        return grown.done(self)

    def by_columns(self, n_rows: int) -> Dataset:
        """All of a table whose columns can be read apart: a few at a time, straight into their place in X.

        A column that is read holds pages and a dictionary, some megabytes: all at once would take more than the rows.
        """
        d, grown = len(self.features), GrowingTable(self.dtype, 0)
        for part, share in self._parts(self.roles, []) if self.roles else ():
            grown.append(part, share)
        X = np.empty((n_rows, d), dtype=self.dtype)
        for first in range(0, d, COLUMNS_AT_ONCE):
            some, row = self.features[first : first + COLUMNS_AT_ONCE], 0
            for part, _ in self._parts({}, some):
                X[row : row + part.n_rows, first : first + len(some)] = part.X
                row += part.n_rows
        return replace(grown.done(self), X=X)

    def _feature(self, table: Table, name: str) -> FloatArray:
        """A column of numbers; refused if no query column is known and it looks like one."""
        try:
            numbers = table.numbers(name)
        except DataError:
            if name in self._runs and looks_like_queries(np.array(list(table.texts(name)), dtype=object)):
                raise _suspicion(name, f"drop={[name]!r} to leave it out") from None
            raise
        if name in self._runs:
            self._runs[name].append(numbers)
        return numbers

    def checked(self, X: NDArray[Any], part: Dataset, before: int = 0) -> Any:
        """X without missing values, unless they are kept; infinity is refused, and labels and weights have none."""
        _refuse_infinity(X, self.features, before)
        for role, values in (("label", part.y), ("weight", part.sample_weight)):
            if values is not None and not np.isfinite(values).all():
                row = before + np.flatnonzero(~np.isfinite(values))[0] + 1
                column = self.roles[role]
                raise DataError(
                    f"Column {column!r}, the {role}, has no number in row {row}: fill it in or drop the row."
                )
        return _without_missing(X, self.features, self.missing, before)


class GrowingTable:
    """Parts of a table put together, in the memory of the result and of one part."""

    def __init__(self, dtype: DTypeLike, width: int) -> None:
        self._X, self._y, self._weight = Growing(dtype, width), Growing(np.float64), Growing(np.float64)
        self._qid, self._comments = GrowingIds(), GrowingTexts()

    def append(self, part: Dataset, share: float) -> None:
        """Some rows more."""
        self._X.append(part.X, share)
        for grown, values in ((self._y, part.y), (self._weight, part.sample_weight)):
            if values is not None:
                grown.append(values, share)
        self._qid.append(part.qid, share)
        if isinstance(part.comments, Comments):
            self._comments.append(part.comments.text, part.comments.ends, share)

    def done(self, reader: TableReader) -> Dataset:
        """All rows."""
        return Dataset(
            self._X.done(),
            self._y.done() if "label" in reader.roles else None,
            self._qid.done(),
            self._comments.done(empty="id" in reader.roles),
            self._weight.done() if "weight" in reader.roles else None,
            reader.features,
            description=reader.words,
        )


def whole(tables: Tables, columns: Columns, missing: str, dtype: DTypeLike) -> Dataset:
    """All of a table, in the memory of the result and of one part."""
    reader = TableReader(tables, columns, missing, dtype)
    # A column of lists would be read again for each of its parts.
    data = reader.by_columns(tables.n_rows) if tables.n_rows and not tables.lists else reader.by_rows()
    return _with(data, reader.checked(data.X, data))


def each(tables: Tables, columns: Columns, missing: str, dtype: DTypeLike, before: int = 0) -> Iterator[Dataset]:
    """A table part by part, after so many rows; that a feature looks like the query is told at the end."""
    if missing == "mean":
        raise ParameterError("missing='mean' would differ by part: read with missing='keep', fit with missing='mean'.")
    reader = TableReader(tables, columns, missing, dtype)
    for part, _ in reader.parts():
        yield _with(part, reader.checked(part.X, part, before))
        before += part.n_rows


def _spread(columns: Columns, lists: Mapping[str, list[str]]) -> Columns:
    """A column of lists that is named among the features, or dropped, stands for all of its columns."""

    def all_of(names: Sequence[str]) -> list[str]:
        return [part for name in names for part in lists.get(name, [name])]

    features = None if columns.features is None else all_of(columns.features)
    return replace(columns, features=features, drop=all_of(columns.drop))


def _with(data: Dataset, X: Any) -> Dataset:
    return data if X is data.X else replace(data, X=X)


def _suspicion(name: str, otherwise: str) -> DataError:
    return DataError(
        f"Column {name!r} is the same over runs of rows, as the id of a query is, and no query column was found: say "
        f"query={name!r} (--query on the command line), or {otherwise}."
    )


def _refuse_infinity(X: NDArray[Any], names: list[str], before: int) -> None:
    for j, name in enumerate(names):
        infinite = np.isinf(X[:, j])
        if infinite.any():
            raise DataError(infinite_in(name, before + int(np.flatnonzero(infinite)[0]), str(X.dtype)))


def _without_missing(X: NDArray[Any], names: list[str], missing: str, before: int) -> Any:
    if missing == "keep":
        return X
    if missing == "error":
        gaps = [(start, np.isnan(piece)) for start, piece in pieces(X) if np.isnan(piece).any()]
        if gaps:
            row, column = np.argwhere(gaps[0][1])[0]
            n_gaps = sum(int(gap.sum()) for _, gap in gaps)
            raise DataError(missing_in(names[column], before + gaps[0][0] + int(row), n_gaps))
        return X
    return learn_missing(X, missing)[0]
