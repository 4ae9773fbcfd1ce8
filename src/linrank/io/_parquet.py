"""Parquet files, which may say themselves which column is what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._errors import DataError, ParameterError
from .._files import PathLike, replacing
from ..data.dataset import Dataset
from ._arrow import arrow_errors, path_of, pyarrow, validate
from ._columns import Columns, dataset
from ._options import ReadOptions
from ._streams import Source, name_of
from .frames import FrameTable
from .write import checked

BLOCK_ENTRIES = 1 << 21  # of the table in a block of rows
ROLES = b"linrank"  # key of the metadata that says which column is what


def read(source: Source, options: ReadOptions) -> Dataset:
    """A Parquet file; one written by `write_parquet` says itself which column is what."""
    path, columns = path_of(source, "parquet"), options.columns
    (parquet,) = pyarrow("parquet")
    with open(path, "rb") as file, arrow_errors(name_of(path)):
        table = parquet.read_table(file)
        validate(table)
    return dataset(FrameTable(table), _known(table.schema, columns), options.missing, options.dtype)


def header(source: Source, options: ReadOptions) -> tuple[list[str], Columns]:
    """The names of the columns, and which is what."""
    path = path_of(source, "parquet")
    (parquet,) = pyarrow("parquet")
    with open(path, "rb") as file, arrow_errors(name_of(path)):
        schema = parquet.ParquetFile(file).schema_arrow
        return list(schema.names), _known(schema, options.columns)


def blocks(source: Source, options: ReadOptions) -> Iterator[Dataset]:
    """A Parquet file by some rows of a row group at a time."""
    path = path_of(source, "parquet")
    parquet, lib = pyarrow("parquet", "lib")
    first_row = 0
    with open(path, "rb") as stream, arrow_errors(name_of(path)):
        file = parquet.ParquetFile(stream, memory_map=False, pre_buffer=False)
        columns = _known(file.schema_arrow, options.columns)
        wanted = _wanted(columns, file.schema_arrow.names)
        step = max(1, BLOCK_ENTRIES // max(1, len(wanted)))
        for batch in file.iter_batches(batch_size=step, columns=wanted, use_threads=False):
            table = lib.Table.from_batches([batch])
            validate(table)
            if table.num_rows:
                yield dataset(FrameTable(table), columns, options.missing, options.dtype, first_row)
            first_row += table.num_rows


def _wanted(columns: Columns, names: list[str]) -> list[str]:
    """The columns to read: all, unless it is known which."""
    if columns.features is None:
        return names
    roles = (columns.label, columns.query, columns.id, columns.weight)
    named = {name for name in (*roles, *columns.features) if name}
    return [name for name in names if name in named]


def _known(schema: Any, columns: Columns) -> Columns:
    """The columns as the file itself says, where nothing else is said."""
    known = _roles(schema)
    given = {role: known.get(role, "") if known and getattr(columns, role) is None else getattr(columns, role)
             for role in ("label", "query", "id", "weight")}  # fmt: skip
    return replace(columns, **given)


def _roles(schema: Any) -> dict[str, str]:
    try:
        known = json.loads((schema.metadata or {}).get(ROLES, b"{}"))
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) and all(isinstance(column, str) for column in known.values()) else {}


def write(path: PathLike, data: Dataset) -> None:
    """Write ranking data."""
    write_parquet(path, data)


def write_parquet(
    path: PathLike,
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    *,
    comments: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
) -> None:
    """Write ranking data as a Parquet file that says which column is what; see `write_svmlight` for the parameters.

    Columns are ``label``, ``qid``, ``id`` and ``weight`` where given, then the features by name, or ``1``, ``2``, ...
    A sparse X is written with its zeros, column by column.
    """
    parquet, lib = pyarrow("parquet", "lib")
    data = checked(X, y, qid, comments, sample_weight, feature_names)
    names = data.feature_names or [str(j + 1) for j in range(data.n_features)]
    texts = None if data.comments is None else list(data.comments)
    parts = {"label": data.y, "query": data.qid, "id": texts, "weight": data.sample_weight}
    roles = {role: "qid" if role == "query" else role for role, values in parts.items() if values is not None}
    if len({*names, *roles.values()}) < len(names) + len(roles) or len(names) != data.n_features:
        raise ParameterError(
            f"The {data.n_features} features need as many different names, none of them {', '.join(roles.values())}."
        )
    matrix = data.X.tocsc() if sp.issparse(data.X) else data.X
    columns: dict[str, Any] = {column: parts[role] for role, column in roles.items()}
    for j, name in enumerate(names):
        columns[name] = matrix[:, [j]].toarray().ravel() if sp.issparse(matrix) else np.ascontiguousarray(matrix[:, j])
    try:
        table = lib.table(columns).replace_schema_metadata({ROLES: json.dumps(roles)})
    except UnicodeError:
        raise DataError("A Parquet file holds UTF-8 alone, but a name, a query id or a comment is none.") from None
    except lib.ArrowException as error:
        raise DataError(f"This data does not fit into a Parquet file: {error}.") from None
    with replacing(path) as file:
        parquet.write_table(table, file)
