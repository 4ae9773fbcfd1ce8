"""Options and their files as parameters of rankers: preferences, pairs, weights of queries."""

from __future__ import annotations

import dataclasses
import logging
import os
import re
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..io import Dataset
from ..io._numbers import number
from ..io._streams import text_lines
from ..rankers.limits import Asked
from ._exact import Exact
from ._options import Reading

logger = logging.getLogger("linrank")

#: Of parameters by other names.
FLAGS = {"n_steps": "--steps", "random_state": "--seed", "lambda_": "--lambda", "monotonic_cst": "--monotonic"}
EDGE = re.compile(r"\s*([^<>:,\s]+)\s*([<>])\s*([^<>:,\s]+)\s*(?::\s*([^<>:,\s]+))?\s*")


def given(options: Any) -> dict[str, Any]:
    """The parameters that were given on the command line."""
    fields = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    return {name: value for name, value in fields.items() if value is not None}


def refuse(options: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    """A usage error if one of these was given."""
    for name in names:
        if name in options:
            raise click.UsageError(f"{FLAGS.get(name, '--' + name.replace('_', '-'))} {why}")


def exact_parameters(exact: Exact) -> dict[str, Any]:
    """Parameters of LinearRanker, the preferences read."""
    parameters = given(exact)
    if "preferences" in parameters:
        parameters["preferences"] = parse_preferences(parameters["preferences"])
    return parameters


def for_features(ranker: Any, data: Dataset, reading: Reading) -> Any:
    """The ranker, told the features' names, or their numbers as the file has them.

    A model file keeps no numbers, so signs and bounds by number become one entry a feature.
    """
    first, d = 0 if reading.zero_based else 1, data.X.shape[1]
    ranker._names = data.feature_names or [str(j + first) for j in range(d)]
    by_place = {} if data.feature_names else Asked.of(ranker).by_place(d, ranker._names)
    return ranker.set_params(**by_place) if by_place else ranker


def parse_preferences(text: str) -> str | list[tuple[float, float, float]]:
    """full, chain, or edges (lower, higher, weight): of the text itself, or of a file of that name.

    ``1<2`` and ``2>1`` both say that level 2 is preferred to level 1; ``:0.5`` gives a weight. A file holds such edges,
    or ``lower higher [weight]``, one a line.
    """
    if text in ("full", "chain"):
        return text
    if "<" not in text and ">" not in text:
        if not os.path.exists(text):
            raise ParameterError(
                f"--preferences {text!r} is neither full, chain, edges such as '0<1,1<2:0.5', nor a file of edges."
            )
        lines = [line.partition("#")[0].strip() for _, line in text_lines(text)]
        return [_edge(line) for line in lines if line]
    return [_edge(part) for part in text.split(",")]


def _edge(text: str) -> tuple[float, float, float]:
    match = EDGE.fullmatch(text)
    try:
        if match is not None:
            low, high = (match[1], match[3]) if match[2] == "<" else (match[3], match[1])
            return number(low), number(high), number(match[4] or "1.0")
        low, high, weight = [*text.replace(",", " ").split(), "1.0"][:3]
        if len(text.replace(",", " ").split()) <= 3:
            return number(low), number(high), number(weight)
    except ValueError:
        pass
    raise ParameterError(f"{text!r} is not an edge between levels: write it as 0<1 or, with a weight, 0<1:0.5.")


def read_numbers(path: str, columns: tuple[int, ...], what: str) -> FloatArray:
    """A file of numbers, as many a line as one of `columns` says."""
    rows: list[list[float]] = []
    for line_number, line in text_lines(path):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        try:
            rows.append([number(word) for word in words])
        except ValueError:
            rows.append([])
        if len(rows[-1]) not in columns or len(rows[-1]) != len(rows[0]):
            raise DataError(f"{path}, line {line_number}: expected {what}.")
    if not rows:
        raise DataError(f"{path} is empty: expected {what} in each line.")
    return np.array(rows)


def read_pairs(path: str, n_rows: int) -> FloatArray:
    """Explicit preferences: rows are numbered from 1 in the file, from 0 in the library."""
    pairs = read_numbers(path, (2, 3), "winner row, loser row[, weight], rows counted from 1")
    if np.any(pairs[:, :2] < 1) or np.any(pairs[:, :2] > n_rows):
        raise DataError(f"{path} names rows outside 1 ... {n_rows}: rows of the data are counted from 1.")
    pairs[:, :2] -= 1
    return pairs


def read_query_weights(path: str, data: Dataset) -> dict[Any, float]:
    """Weights of queries: an id and a number in each line; queries that are not named weigh 1.

    A file may weigh queries that the data does not hold, as it may be of a larger set: a warning is logged.
    """
    if data.qid is None:
        raise DataError(f"{path} weighs queries, but the data has none: leave out --query-weights.")
    names = {str(name): name for name in np.unique(data.qid).tolist()}
    weights, lines = _weights_by_name(path)
    unknown = [name for name in weights if name not in names]
    if weights and len(unknown) == len(weights):
        raise DataError(f"{path} weighs none of its queries in the data, which holds {next(iter(names))!r}: check ids.")
    if unknown:
        logger.warning(
            "%s weighs %d queries that the data does not hold, the first %r on line %d",
            path, len(unknown), unknown[0], lines[unknown[0]],
        )  # fmt: skip
    return {name: weights.get(text, 1.0) for text, name in names.items()}


def _weights_by_name(path: str) -> tuple[dict[str, float], dict[str, int]]:
    """The weight of each id of a file, and the line it is on."""
    weights: dict[str, float] = {}
    lines: dict[str, int] = {}
    for line_number, line in text_lines(path):
        words = line.replace(",", " ").split()
        if not words:
            continue
        try:
            name, weight = words[0], number(" ".join(words[1:]))
        except ValueError:
            weight = -1.0
        if weight < 0:
            raise DataError(f"{path}, line {line_number}: expected a query's id and its weight, a number from 0 on.")
        if name in weights:
            raise DataError(f"{path}, line {line_number}: query {name!r} was weighed on line {lines[name]} already.")
        weights[name], lines[name] = weight, line_number
    return weights, lines


class Counted:
    """Chunks of a stream, counted as they pass by for the first time."""

    def __init__(self) -> None:
        self.rows, self.queries, self.features = 0, 0, 0
        self._last: str | None = None

    def through(self, chunks: Iterator[Dataset], first_pass: bool) -> Iterator[Dataset]:
        """The same chunks."""
        for chunk in chunks:
            if first_pass:
                self.rows += chunk.n_rows
                self.features = chunk.n_features
                if chunk.qid is not None:
                    new = np.flatnonzero(chunk.qid[1:] != chunk.qid[:-1]).size
                    self.queries += new + (str(chunk.qid[0]) != self._last)
                    self._last = str(chunk.qid[-1])
            yield chunk
