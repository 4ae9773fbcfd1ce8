"""LightGBM's files beside an SVMlight file: sizes of queries and weights of rows."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError
from .._typing import FloatArray
from ..data.dataset import Dataset
from ._columns import NONE_FOUND
from ._numbers import number
from ._streams import Source, text_lines
from .formats import unpacked

logger = logging.getLogger("linrank")

SIZES, WEIGHTS = (".query", ".group"), (".weight",)  # endings of the sizes of queries, and of the weights of rows


def side_path(path: Source, endings: tuple[str, ...]) -> Path | None:
    """The file beside `path` with one of the endings, if there is one."""
    if not isinstance(path, (str, os.PathLike)) or os.fspath(path) == "-":
        return None
    bases = dict.fromkeys([Path(path), Path(unpacked(Path(path)))])
    beside = [base.with_name(base.name + ending) for base in bases for ending in endings]
    return next((file for file in beside if file.is_file()), None)


def has_side_files(path: Source) -> bool:
    """Whether LightGBM's files lie beside an SVMlight file, so that it must be read with `read`."""
    return any(side_path(path, endings) is not None for endings in (SIZES, WEIGHTS))


def warn_of_side_files(path: Source, data: Dataset) -> None:
    """Log a warning of each file beside that was not read, if the data lacks what it holds."""
    for have, endings, what in (
        (data.qid is not None, SIZES, "all rows are one query"),
        (data.sample_weight is not None, WEIGHTS, "all rows weigh the same"),
    ):
        file = None if have else side_path(path, endings)
        if file is not None:
            logger.warning("%s is not read here, so %s: linrank.io.read takes it along", file, what)


def with_side_files(data: Dataset, path: Source) -> Dataset:
    """The data with the sizes of queries and the weights of rows that lie beside its file, where it has none itself."""
    words = ["format: SVMlight"]
    sizes, file = _side_file(path, SIZES)
    if sizes is not None and data.qid is not None:
        words.append(f"query: qid of each row ({file} is not used)")
    elif sizes is not None:
        data = replace(data, qid=_query_numbers(sizes, data, str(file)))
        words.append(f"query: sizes in {file}")
    elif data.qid is None:
        words.append(f"{NONE_FOUND}; give each line a qid:")
    weights, file = _side_file(path, WEIGHTS)
    if weights is not None and data.sample_weight is not None:
        words.append(f"weight: cost of each row ({file} is not used)")
    elif weights is not None:
        if weights.size != data.n_rows or data.skipped:
            raise DataError(f"{file} holds {weights.size} weights for {data.n_rows} rows: there must be one for each.")
        data = replace(data, sample_weight=weights)
        words.append(f"weight: {file}")
    return replace(data, description=tuple(words))


def _side_file(path: Source, endings: tuple[str, ...]) -> tuple[FloatArray | None, Path | None]:
    file = side_path(path, endings)
    if file is None:
        return None, None
    return _column(file), file


def _column(file: Path) -> FloatArray:
    values = []
    for line_number, line in text_lines(file):
        if line.strip():
            try:
                values.append(number(line))
            except ValueError:
                raise DataError(f"{file}, line {line_number}: expected a number, found {line[:20]!r}.") from None
    return np.array(values)


def _query_numbers(sizes: FloatArray, data: Dataset, file: str) -> NDArray[Any]:
    if data.skipped or np.any(sizes != np.floor(sizes)) or np.any(sizes < 0) or sizes.sum() != data.n_rows:
        raise DataError(
            f"The sizes in {file} add up to {sizes.sum():g} rows, but {data.n_rows} were read: mend one of them."
        )
    return np.repeat(np.arange(1, sizes.size + 1), sizes.astype(np.int64))
