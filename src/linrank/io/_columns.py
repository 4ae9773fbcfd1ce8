"""Which column of a table is what, and the table as ranking data."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError, ParameterError
from .._text import repeated
from .._typing import FloatArray
from ..data.checks import check_choice
from ..data.dataset import Comments, Dataset
from ..data.frames import infinite_in, missing_in, part_names
from ..data.missing import learn_missing
from ._runs import looks_like_queries

logger = logging.getLogger("linrank")

MISSING = ("error", "keep", "zero", "mean")
#: Names of sessions and users. One of them asks many queries, so a column with another name for the query is preferred.
ASKERS = ("sessionid", "userid", "visitorid", "customerid")
#: The role of a column by its name, of which only letters and digits count, in lower case.
GUESSES = {
    "label": ("label", "y", "relevance", "rel", "grade", "target", "rating"),
    "query": (
        *("qid", "query", "queryid", "group", "groupid", "topic", "topicid"),
        *("searchid", "srchid", "requestid", "reqid"),
        *ASKERS,
    ),
    "id": ("docid", "document", "documentid", "itemid", "productid", "id"),
    "weight": ("weight", "weights", "sampleweight"),
}
#: Names that are taken only where no other name of their role occurs; a rating may be a feature of the document.
SECOND = {"rating", *ASKERS}
ALL_ROWS = "all rows are compared with each other"
NONE_FOUND = f"query: none found, {ALL_ROWS}"
LISTED = 20  # names of features in a description


@dataclass(frozen=True)
class Columns:
    """The column of each role: its name, "" for none, or None to guess it by GUESSES. All other columns are features.

    `features` names the features and their order; `drop` names columns to leave out.
    """

    label: str | None = None
    query: str | None = None
    id: str | None = None
    weight: str | None = None
    features: Sequence[str] | None = None
    drop: Sequence[str] = ()

    def assign(self, names: list[str]) -> tuple[dict[str, str], list[str], tuple[str, ...]]:
        """The column of each role, the columns of features, and a description of both in words."""
        twice = repeated(names)
        if twice is not None:
            raise DataError(f"Two columns are named {twice!r}: rename one of them.")
        for name in (*self.drop, *(self.features or ())):
            if name not in names:
                raise DataError(f"There is no column {name!r}: there are {_listed(names)}.")
        roles, words = {}, []
        for role in GUESSES:
            given = getattr(self, role)
            column = self._guess(role, names) if given is None else given
            if not column:
                if role == "query":
                    words.append(f"{NONE_FOUND}; name it with query=" if given is None else f"query: none, {ALL_ROWS}")
                continue
            if column not in names:
                raise DataError(f"There is no column {column!r} for {role}: there are {_listed(names)}.")
            roles[role] = column
            words.append(f"{role}: column {column!r}{' (guessed)' if given is None else ''}")
        rest = [name for name in names if name not in roles.values() and name not in self.drop]
        features = rest if self.features is None else list(self.features)
        if not features:
            raise DataError(f"No column is left for features: there are {_listed(names)}.")
        count = f"{len(features)} column{'' if len(features) == 1 else 's'}"
        return roles, features, (*words, f"features: {count}: {_listed(features, LISTED)}")

    def _guess(self, role: str, names: list[str]) -> str | None:
        taken = {getattr(self, other) for other in GUESSES} | set(self.drop) | set(self.features or ())
        fitting = [name for name in names if _letters(name) in GUESSES[role] and name not in taken]
        found = [name for name in fitting if _letters(name) not in SECOND] or fitting
        if len(found) > 1:
            raise ParameterError(
                f"Columns {_listed(found)} could each be the {role}: name it with {role}=, and drop= the others."
            )
        return found[0] if found else None


def _letters(name: str) -> str:
    """The letters and digits of a name in lower case: Query ID, query-id and query_id are one name."""
    return "".join(character for character in name.lower() if character.isalnum())


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

    def list_columns(self) -> list[str]:
        """Columns that hold lists of numbers, as embeddings are kept."""

    def vectors(self, name: str) -> NDArray[Any]:
        """Such a column as a matrix; lists of different lengths are a DataError."""


def dataset(table: Table, columns: Columns, missing: str, dtype: DTypeLike) -> Dataset:
    """The table as ranking data."""
    check_choice("missing", missing, MISSING)
    kind = check_dtype(dtype)
    lists = table.list_columns()
    roles, given, words = replace(columns, features=_columns_of(columns.features, lists, table)).assign(table.names)
    if table.n_rows == 0:
        raise DataError("The table has no row: there is nothing to rank.")
    unknown = columns.query is None and "query" not in roles and columns.features is None
    vectors = {name: table.vectors(name) for name in given if name in lists}
    features = [part for name in given for part in part_names(name, vectors)]
    X = np.empty((table.n_rows, len(features)), dtype=kind)
    j = 0
    for name in given:
        numbers = vectors.pop(name) if name in vectors else _feature(table, name, maybe_query=unknown)[:, None]
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, which is refused below
            X[:, j : j + numbers.shape[1]] = numbers
        j += numbers.shape[1]
    if columns.features is not None and features != list(columns.features) and set(columns.features) <= set(features):
        X = X[:, [features.index(name) for name in columns.features]]  # as named: parts of lists in another order
        features = list(columns.features)
    _refuse_infinity(X, features)
    return Dataset(
        X=_without_missing(X, features, missing),
        y=_complete(table, roles, "label"),
        qid=table.ids(roles["query"]) if "query" in roles else None,
        comments=Comments.of(table.texts(roles["id"])) if "id" in roles else None,
        sample_weight=_complete(table, roles, "weight"),
        feature_names=features,
        description=words,
    )


def _columns_of(features: Sequence[str] | None, lists: list[str], table: Table) -> Sequence[str] | None:
    """The columns that hold these features: a part of a list, "e_3", is in the column "e"."""
    if features is None or not lists:
        return features
    owner = {part: name for name in lists for part in (name, *part_names(name, {name: table.vectors(name)}))}
    return list(dict.fromkeys(name if name in table.names else owner.get(name, name) for name in features))


def check_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The type of X."""
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise ParameterError(f"dtype={kind} is not known: X is float64 or float32.")
    return kind


def warn_of_no_queries(data: Dataset) -> Dataset:
    """The data; a warning is logged if a table has no query column and `query` was not given as ""."""
    query = next((text for text in data.description if text.startswith(NONE_FOUND)), None)
    if query is not None and data.feature_names is not None:
        logger.warning("%s, or say query='' (%s)", query, data.description[-1])
    return data


def _feature(table: Table, name: str, maybe_query: bool) -> FloatArray:
    """A column of numbers; refused if no query column is known (`maybe_query`) and it looks like one."""
    try:
        numbers = table.numbers(name)
    except DataError:
        if maybe_query and looks_like_queries(np.array(list(table.texts(name)), dtype=object)):
            raise _suspicion(name, f"drop={[name]!r} to leave it out") from None
        raise
    if maybe_query and looks_like_queries(numbers):
        raise _suspicion(name, "query='' to take it as a feature")
    return numbers


def _suspicion(name: str, otherwise: str) -> DataError:
    return DataError(
        f"Column {name!r} is the same over runs of rows, as the id of a query is, and no query column was found: say "
        f"query={name!r} (--query on the command line), or {otherwise}."
    )


def _complete(table: Table, roles: dict[str, str], role: str) -> FloatArray | None:
    if role not in roles:
        return None
    numbers = table.numbers(roles[role])
    if not np.isfinite(numbers).all():
        row = np.flatnonzero(~np.isfinite(numbers))[0] + 1
        raise DataError(f"Column {roles[role]!r}, the {role}, has no number in row {row}: fill it in or drop the row.")
    return numbers


def _refuse_infinity(X: NDArray[Any], names: list[str]) -> None:
    for j, name in enumerate(names):
        infinite = np.isinf(X[:, j])
        if infinite.any():
            raise DataError(infinite_in(name, int(np.flatnonzero(infinite)[0]), str(X.dtype)))


def _without_missing(X: NDArray[Any], names: list[str], missing: str) -> Any:
    if missing == "keep":
        return X
    if missing == "error":
        row, column = np.nonzero(np.isnan(X))
        if row.size:
            raise DataError(missing_in(names[column[0]], int(row[0]), row.size))
        return X
    return learn_missing(X, missing)[0]


def _listed(names: list[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
