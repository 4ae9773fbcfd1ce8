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

MOST_ROWS = 1 << 31  # that rows can be numbered for
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
        qid = _query_numbers(sizes, str(file))
        if data.skipped or qid.size != data.n_rows:
            raise DataError(
                f"The sizes in {file} add up to {qid.size} rows, but {data.n_rows} were read: mend one of them."
            )
        data = replace(data, qid=qid)
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


class BesideBlocks:
    """The sizes of queries and weights of rows beside a file, handed out block by block as the file is read.

    Queries are numbered on from file to file: 1, 2, ... of the next file are other queries.
    """

    def __init__(self, path: Source, first_query: int) -> None:
        sizes, self._sizes_file = _side_file(path, SIZES)
        self._weights, self._weights_file = _side_file(path, WEIGHTS)
        self._qid = None if sizes is None else first_query + _query_numbers(sizes, str(self._sizes_file))
        self.queries = 0 if sizes is None else sizes.size
        self._row = 0

    def with_block(self, block: Dataset) -> Dataset:
        """The block with the queries and weights that it lacks."""
        here = slice(self._row, self._row + block.n_rows)
        self._row = here.stop
        for own, kept in ((block.qid, self._qid), (block.sample_weight, self._weights)):
            if own is None and kept is not None and (here.stop > kept.size or block.skipped):
                self._refuse()
        if block.qid is None and self._qid is not None:
            block = replace(block, qid=self._qid[here])
        if block.sample_weight is None and self._weights is not None:
            block = replace(block, sample_weight=self._weights[here])
        return block

    def end(self, used: Dataset | None) -> None:
        """All rows were read: the files beside must have told of no more."""
        for kept in (self._qid, self._weights):
            if used is not None and kept is not None and kept.size != self._row:
                self._refuse()

    def _refuse(self) -> None:
        for kept, file in ((self._qid, self._sizes_file), (self._weights, self._weights_file)):
            if kept is not None and kept.size != self._row:
                raise DataError(f"{file} tells of {kept.size:,} rows, but {self._row:,} were read: mend one of them.")
        raise DataError(
            f"{self._sizes_file or self._weights_file} counts rows, but bad lines were left out: mend them."
        )


def count_queries(path: Source) -> int:
    """Queries of a file whose sizes lie beside it; 0 where none do."""
    sizes, _ = _side_file(path, SIZES)
    return 0 if sizes is None else sizes.size


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


def _query_numbers(sizes: FloatArray, file: str) -> NDArray[Any]:
    if np.any(sizes != np.floor(sizes)) or np.any(sizes < 0):
        raise DataError(f"{file} holds sizes of queries that are no whole numbers from 0 on: mend it.")
    if not sizes.sum() <= MOST_ROWS:
        raise DataError(f"The sizes in {file} add up to {sizes.sum():.3g} rows, more than there can be: mend it.")
    return np.repeat(np.arange(1, sizes.size + 1), sizes.astype(np.int64))
