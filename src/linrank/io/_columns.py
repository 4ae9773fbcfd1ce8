"""Which column of a table is what, and the table as ranking data."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._errors import DataError, ParameterError
from .._text import repeated
from ..data.dataset import Dataset

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


def _listed(names: list[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
