"""Parquet files, which may say themselves which column is what."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._errors import DataError, ParameterError
from .._files import PathLike, replacing
from .._threads import count_threads
from ..data.dataset import Dataset
from ._arrow import ArrowTables, arrow_errors, as_table, path_of, pyarrow, validate
from ._columns import Columns
from ._options import ReadOptions
from ._streams import Source, name_of
from ._tables import each, whole
from .write import checked

FEWEST_ROWS, BATCH_BYTES = 1 << 10, 1 << 22  # of a batch
FEW_COLUMNS = 16  # fewer take a part of that: they are read where memory counts
BUFFER_BYTES = 1 << 16  # of a column read at a time; a row group may be larger than memory
ROLES = b"linrank"  # key of the metadata that says which column is what


@contextmanager
def _opened(source: Source, options: ReadOptions) -> Iterator[tuple[ArrowTables, Columns]]:
    """A Parquet file, by batches of the rows of its row groups, and which column is what, as it may say itself."""
    path, columns = path_of(source, "parquet"), options.columns
    parquet, lib = pyarrow("parquet", "lib")
    with open(path, "rb") as file, arrow_errors(name_of(path)), options.progress(path) as progress:
        size, found = os.fstat(file.fileno()).st_size, parquet.ParquetFile(file, buffer_size=BUFFER_BYTES)
        chosen = range(*(options.groups or (0, found.num_row_groups)))
        n_rows = sum(found.metadata.row_group(k).num_rows for k in chosen)
        several = count_threads(options.n_jobs) > 1
        cells, seen = max(1, n_rows * found.metadata.num_columns), [0]
        progress.begin(size)

        def batches(needed: list[str]) -> Iterator[tuple[Any, float]]:
            done, n = 0, max(FEWEST_ROWS, BATCH_BYTES // (8 * max(FEW_COLUMNS, len(needed))))
            for batch in found.iter_batches(n, list(chosen), columns=needed, use_threads=several):
                done += len(batch)
                seen[0] += len(batch) * len(needed)
                progress.reached(min(size, size * seen[0] // cells))
                yield batch, done / n_rows
            lib.default_memory_pool().release_unused()

        known = _roles(found.schema_arrow)
        given = {role: known.get(role, "") if known and getattr(columns, role) is None else getattr(columns, role)
                 for role in ("label", "query", "id", "weight")}  # fmt: skip
        yield ArrowTables(_head(found), batches, n_rows), replace(columns, **given)


def _head(file: Any) -> Any:
    """The first rows, where they tell how long lists are; else none, as each column that is begun takes memory."""
    (types,) = pyarrow("types")
    schema = file.schema_arrow
    nested = any(types.is_nested(column.type) for column in schema)
    batch = next(file.iter_batches(FEWEST_ROWS), None) if nested else None
    head = schema.empty_table() if batch is None else as_table(batch)
    validate(head)
    return head


def read(source: Source, options: ReadOptions) -> Dataset:
    """A Parquet file; one written by `write_parquet` says itself which column is what."""
    with _opened(source, options) as (tables, columns):
        return whole(tables, columns, options.missing, options.dtype)


def header(source: Source, options: ReadOptions) -> tuple[list[str], Columns]:
    """The names of the columns, and which is what."""
    with _opened(source, replace(options, verbose=0)) as (tables, columns):
        return tables.names, columns


def blocks(source: Source, options: ReadOptions) -> Iterator[Dataset]:
    """The same, batch by batch; of some row groups, if so told."""
    before = sum(rows for rows, _ in groups(source)[: options.groups[0]]) if options.groups else 0
    with _opened(source, options) as (tables, columns):
        yield from each(tables, columns, options.missing, options.dtype, before)


def groups(source: Source) -> list[tuple[int, int]]:
    """Rows and bytes of each row group."""
    path = path_of(source, "parquet")
    (parquet,) = pyarrow("parquet")
    with open(path, "rb") as file, arrow_errors(name_of(path)):
        found = parquet.ParquetFile(file).metadata
        each_group = [found.row_group(k) for k in range(found.num_row_groups)]
        return [(group.num_rows, group.total_byte_size) for group in each_group]


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
