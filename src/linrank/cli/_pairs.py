"""Files of explicit pairs, and what a model makes of them."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from .._errors import DataError
from .._typing import FloatArray
from ..io import Dataset
from ..io._numbers import number
from ..io._streams import text_lines
from ..metrics._names import OVER_PREFERENCES
from ._files import is_table, read_chunks
from ._judge import Judged, Scored, check_any, checked
from ._loaded import Loaded
from ._options import Judging, Reading
from ._parameters import read_pairs

EXPECTED = "winner, loser[, weight]"


def pairs_of(path: str, data: Dataset, data_path: str, reading: Reading) -> FloatArray:
    """Explicit pairs of a file's rows: by the ids of a table that has a column of them, else by number from 1."""
    if is_table(data_path, reading) and data.comments is not None:
        return pairs_by_id(path, [text.strip() for text in data.comments])
    return read_pairs(path, data.n_rows)


def pairs_by_id(path: str, ids: list[str]) -> FloatArray:
    """Pairs of a file that names rows by their ids, separated by commas, tabs or blanks; a first line may name them."""
    row: dict[str, int] = {}
    for k, name in enumerate(ids):
        row[name] = -1 if name in row else k
    found: list[tuple[float, float, float]] = []
    for line_number, line in text_lines(path):
        words = _words(line)
        if not words or (line_number == 1 and [word.lower() for word in words[:2]] == ["winner", "loser"]):
            continue
        try:
            winner, loser, weight = words if len(words) == 3 else (*words, "1")
            found.append((_row(winner, row), _row(loser, row), number(weight)))
        except KeyError as error:
            raise DataError(f"{path}, line {line_number}: {error.args[0]}") from None
        except ValueError:
            raise DataError(f"{path}, line {line_number}: expected {EXPECTED}, rows by their ids.") from None
    if not found:
        raise DataError(f"{path} is empty: expected {EXPECTED} in each line, rows by their ids.")
    return np.array(found)


def _words(line: str) -> list[str]:
    text = line.partition("#")[0].strip() if line.lstrip().startswith("#") else line.strip()
    for separator in ("\t", ","):
        if separator in text:
            return [word.strip().strip('"') for word in text.split(separator)]
    return text.split()


def _row(name: str, row: dict[str, int]) -> int:
    place = row.get(name)
    if place is None:
        raise KeyError(f"{name!r} is none of the data's ids: check --id.")
    if place < 0:
        raise KeyError(f"{name!r} is the id of several rows: give each row an id of its own.")
    return place


def judge_pairs(loaded: Loaded, path: str, pairs: str, reading: Reading, judging: Judging) -> Judged:
    """Judge a model by explicit pairs of a file's rows, whatever labels the file has."""
    of_model = getattr(loaded.model.parameters.get("loss"), "name", loaded.model.parameters.get("loss"))
    names = judging.metric or ("pairwise_accuracy", *(["log_loss"] if of_model == "logistic" else []))
    metrics = checked(names, judging)
    for metric in metrics:
        if metric.family not in OVER_PREFERENCES:
            known = ", ".join(sorted(OVER_PREFERENCES))
            raise click.UsageError(f"--pairs are judged by {known}: leave out -m {metric.name}.")
    scores, texts, table = [], [], is_table(path, reading)
    for chunk in read_chunks(path, reading, loaded, by_query=False):
        scores.append(loaded.score(chunk.X))
        texts += [] if chunk.comments is None else [text.strip() for text in chunk.comments]
    check_any(len(scores), path)
    s = np.concatenate(scores)
    rows = pairs_by_id(pairs, texts) if table and texts else read_pairs(pairs, s.size)
    values: dict[str, Any] = {metric.name: float(metric(None, s, None, pairs=rows)) for metric in metrics}
    return Judged(Scored(np.zeros(s.size), [s], None, [], None), metrics, values, None, n_pairs=len(rows))
