"""Any file of ranking data, by its name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..data.checks import check_choice
from ..data.dataset import Dataset
from ._beside import SIZES, WEIGHTS, side_path, unpacked
from ._columns import NONE_FOUND, Columns, tell_of_no_queries
from ._numbers import number
from ._streams import Source, text_lines
from .svmlight import read_rows
from .tables import read_arrow, read_csv, read_parquet

FORMATS = ("svmlight", "csv", "tsv", "parquet", "arrow")
ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
ENDINGS |= {".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}


def format_of(path: Source) -> str:
    """The format that a file's name implies: everything that is no table is SVMlight."""
    if not isinstance(path, (str, os.PathLike)):
        return "svmlight"
    return ENDINGS.get(unpacked(Path(path)).suffix.lower(), "svmlight")


def read(
    path: Source,
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
) -> Dataset:
    """Read ranking data: SVMlight / LETOR, CSV, TSV, Parquet or Arrow, by the file's ending or by `format`.

    Parameters
    ----------
    path : path, "-" or binary file
        ``.csv``, ``.tsv``, ``.parquet``, ``.pq``, ``.arrow``, ``.feather`` and ``.ipc`` are tables, all else is
        SVMlight; text may be packed by gzip or zstd.
    format : {"svmlight", "csv", "tsv", "parquet", "arrow"}, optional
        Overrules the ending.
    label, query, id, weight, features, drop
        Columns of a table, as in `from_frame`, which also says what happens where no query column is found.
    missing, dtype
        As in `read_svmlight`.
    n_features, dense, zero_based, on_error, n_jobs
        For SVMlight, as in `read_svmlight`. Beside such a file, ``<name>.query`` (or ``.group``) may hold the number of
        rows of each query, one per line, and ``<name>.weight`` the weight of each row, as for LightGBM.

    Returns
    -------
    Dataset
        `description` says how the file was understood.
    """
    columns = Columns(label, query, id, weight, features, drop)
    of_lines = {"n_features": n_features, "dense": dense, "zero_based": zero_based, "on_error": on_error}
    return tell_of_no_queries(read_file(path, format, columns, missing, dtype, n_jobs=n_jobs, **of_lines))


def read_file(
    path: Source, format: str | None, columns: Columns, missing: str, dtype: DTypeLike, **of_lines: Any
) -> Dataset:
    """`read`, for a caller that tells in its own words that there are no queries."""
    kind = format_of(path) if format is None else format
    check_choice("format", kind, FORMATS)
    if kind == "svmlight":
        if columns != Columns():
            raise ParameterError("label=, query=, id=, weight=, features= and drop= are for tables, not for SVMlight.")
        return _with_side_files(read_rows(path, dtype=dtype, missing=missing, **of_lines), path)
    if kind in ("csv", "tsv"):
        return read_csv(path, columns, missing, dtype, "," if kind == "csv" else "\t")
    if not isinstance(path, (str, os.PathLike)) or os.fspath(path) == "-":
        raise ParameterError(f"A {kind} file cannot be read from a stream: give its path.")
    return (read_parquet if kind == "parquet" else read_arrow)(path, columns, missing, dtype)


def _with_side_files(data: Dataset, path: Source) -> Dataset:
    """The data with what LightGBM keeps in files beside it."""
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
