"""What can be judged: a model, a file of scores, or a TREC run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import DataError, FileFormatError
from .._text import one_word
from .._typing import FloatArray
from ..io import Dataset
from ..io._numbers import number
from ..io._streams import text_lines
from ._files import is_model
from ._loaded import Loaded

#: Words of a line of a run, and of one of qrels.
RUN, QRELS = "qid Q0 docid rank score tag", "qid 0 docid grade"


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """Scores that somebody computed: one number a line, in the order of the rows, as `linrank predict` writes them."""

    path: str
    scores: FloatArray
    preferences: Any = "full"
    why: str = "the default"
    fitted_with_qid: bool = False

    def scores_of(self, chunk: Dataset, first: int) -> FloatArray:
        """Of the rows of a chunk, the first of which has this number in the file."""
        found = self.scores[first : first + chunk.n_rows]
        if found.size < chunk.n_rows:
            raise DataError(f"{self.path} holds {self.scores.size:,} scores, and the data has more rows: one is needed "
                            "for each.")  # fmt: skip
        return found

    def check_all_used(self, n_rows: int, data: str) -> None:
        """Refuse scores of other rows."""
        if self.scores.size != n_rows:
            raise DataError(
                f"{self.path} holds {self.scores.size:,} scores for the {n_rows:,} rows of {data}: there must be one "
                "for each."
            )


@dataclass(frozen=True, eq=False)
class RunFile:
    """A TREC run: documents of each query with their scores."""

    path: str
    scores: dict[str, dict[str, float]]  # by query, then by document
    preferences: Any = "full"
    why: str = "the default"
    fitted_with_qid: bool = False

    def scores_of(self, chunk: Dataset, first: int) -> FloatArray:
        """Of the rows of a chunk, by the ids of their queries and documents."""
        qids = ["0"] * chunk.n_rows if chunk.qid is None else [str(qid) for qid in chunk.qid.tolist()]
        found = np.empty(chunk.n_rows)
        for k, (qid, docid) in enumerate(zip(qids, chunk.document_ids(first + 1), strict=True)):
            score = self.scores.get(one_word(qid), {}).get(one_word(docid))
            if score is None:
                raise DataError(
                    f"{self.path} has no document {docid} of query {qid}: give a run of these rows, or qrels ({QRELS})."
                )
            found[k] = score
        return found

    def check_all_used(self, n_rows: int, data: str) -> None:
        """Documents that are not in the data were not asked for."""


Contestant = Loaded | ScoreFile | RunFile


def contestant(path: str) -> Contestant:
    """What a file holds, by its first line."""
    if path == "-" or is_model(path):
        return Loaded.of(path)
    words = _first_words(path)
    if len(words) == 1 and _is_number(words[0]):
        return ScoreFile(path, np.array(list(_column(path))))
    if len(words) == 6 and _is_number(words[4]):
        return RunFile(path, _by_query(path, 4, RUN))
    raise FileFormatError(
        f"{path} is neither a model (of linrank, SVMrank, LIBLINEAR, or weights by name in JSON), nor scores, one a "
        f"line, nor a TREC run ({RUN}): name one of these.",
        path,
    )


def is_qrels(path: str) -> bool:
    """Whether a file holds TREC's judgements, by its first line."""
    words = [] if path == "-" else _first_words(path)
    return len(words) == 4 and ":" not in "".join(words[1:]) and all(map(_is_number, (words[1], words[3])))


def read_qrels(path: str) -> dict[str, dict[str, float]]:
    """Grades by query, then by document."""
    return _by_query(path, 3, QRELS)


def _first_words(path: str) -> list[str]:
    try:
        return next((line.split() for _, line in text_lines(path) if line.strip()), [])
    except (UnicodeDecodeError, FileFormatError):
        return []


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(number(word))
    except ValueError:
        return False


def _column(path: str) -> Iterator[float]:
    for line_number, line in text_lines(path):
        if not line.strip():
            continue
        if not _is_number(line):
            raise FileFormatError(f"{path}, line {line_number}: expected one finite number, a score.", path)
        yield number(line)


def _by_query(path: str, place: int, form: str) -> dict[str, dict[str, float]]:
    """The number at a place of each line, by its query and document."""
    found: dict[str, dict[str, float]] = {}
    size = len(form.split())
    for line_number, line in text_lines(path):
        words = line.split()
        if not words:
            continue
        if len(words) != size or not _is_number(words[place]):
            raise FileFormatError(f"{path}, line {line_number}: expected {form}.", path)
        documents = found.setdefault(words[0], {})
        if words[2] in documents:
            raise FileFormatError(f"{path}, line {line_number}: document {words[2]} occurs twice in its query.", path)
        documents[words[2]] = number(words[place])
    return found
