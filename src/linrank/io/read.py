"""Any file of ranking data, by its name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._checks import check_choice
from .._errors import DataError, ParameterError
from .._preferences import FloatArray
from ._columns import Columns
from ._numbers import number
from ._streams import Source, text_lines
from .dataset import Dataset
from .svmlight import read_svmlight
from .tables import read_arrow, read_csv, read_parquet

FORMATS = ("svmlight", "csv", "tsv", "parquet", "arrow")
ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
ENDINGS |= {".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
PACKED = (".gz", ".zst")
SIZES, WEIGHTS = (".query", ".group"), (".weight",)  # endings of LightGBM's files beside the data


def format_of(path: Source) -> str:
    """The format that a file's name implies: everything that is no table is SVMlight."""
    if not isinstance(path, (str, os.PathLike)):
        return "svmlight"
    return ENDINGS.get(_unpacked(Path(path)).suffix.lower(), "svmlight")


def _unpacked(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


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
        Columns of a table, as in `from_frame`.
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
    kind = format_of(path) if format is None else format
    check_choice("format", kind, FORMATS)
    columns = Columns(label, query, id, weight, features, drop)
    if kind == "svmlight":
        if columns != Columns():
            raise ParameterError("label=, query=, id=, weight=, features= and drop= are for tables, not for SVMlight.")
        data = read_svmlight(
            path, n_features=n_features, dense=dense, dtype=dtype, zero_based=zero_based, missing=missing,
            on_error=on_error, n_jobs=n_jobs,
        )  # fmt: skip
        return _with_side_files(data, path)
    if kind in ("csv", "tsv"):
        return read_csv(path, columns, missing, dtype, "," if kind == "csv" else "\t")
    if not isinstance(path, (str, os.PathLike)) or os.fspath(path) == "-":
        raise ParameterError(f"A {kind} file cannot be read from a stream: give its path.")
    return (read_parquet if kind == "parquet" else read_arrow)(path, columns, missing, dtype)


def has_side_files(path: Source) -> bool:
    """Whether LightGBM's files lie beside an SVMlight file, so that it must be read with `read`."""
    return any(_side_path(path, endings) is not None for endings in (SIZES, WEIGHTS))


def _with_side_files(data: Dataset, path: Source) -> Dataset:
    """The data with what LightGBM keeps in files beside it."""
    words = ["format: SVMlight"]
    sizes, file = _side_file(path, SIZES)
    if sizes is not None and data.qid is not None:
        words.append(f"query: qid of each row ({file} is not used)")
    elif sizes is not None:
        data = replace(data, qid=_query_numbers(sizes, data, str(file)))
        words.append(f"query: sizes in {file}")
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
    file = _side_path(path, endings)
    if file is None:
        return None, None
    return _column(file), file


def _side_path(path: Source, endings: tuple[str, ...]) -> Path | None:
    if not isinstance(path, (str, os.PathLike)) or os.fspath(path) == "-":
        return None
    bases = dict.fromkeys([Path(path), _unpacked(Path(path))])
    beside = [base.with_name(base.name + ending) for base in bases for ending in endings]
    return next((file for file in beside if file.is_file()), None)


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
