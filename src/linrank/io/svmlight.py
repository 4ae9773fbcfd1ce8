"""SVMlight / LETOR files: ``<label> [qid:<id>] [cost:<number>] <id>:<value> ... [# comment]``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError, ParameterError
from .._files import PathLike
from .._progress import ByteProgress
from ..data.checks import check_choice
from ..data.dataset import Dataset
from ..kernels.text.svmlight import LARGEST_ID
from ._beside import warn_of_side_files, with_side_files
from ._block import Parsed, Rules
from ._columns import MISSING, Columns, check_dtype
from ._lines import Reader
from ._options import ReadOptions
from ._parts import GrowingDataset, Shape, joined, part_of
from ._streams import Source, is_file, name_of
from .write import write_svmlight

logger = logging.getLogger("linrank")

CHUNK_BYTES = 1 << 26


def read_svmlight(
    path: Source,
    *,
    n_features: int | None = None,
    dense: bool | Literal["auto"] = False,
    dtype: DTypeLike = np.float64,
    zero_based: bool = False,
    missing: str = "error",
    on_error: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Dataset:
    """Read a file of ranking data; files beside it, as LightGBM has them, are for `linrank.io.read`.

    Parameters
    ----------
    path : path, "-" or binary file
        Plain, or packed by gzip or zstd; "-" is standard input.
    n_features : int, optional
        Number of features d; larger ids are an error. None: the largest id that occurs.
    dense : bool or "auto", default=False
        A numpy array rather than CSR; "auto": whichever takes less memory.
    dtype : float64 or float32
        Type of X; each number is the one nearest to its decimal digits in that type.
    zero_based : bool, default=False
        Whether feature ids begin at 0 and not at 1.
    missing : {"error", "keep", "zero", "mean"}, default="error"
        What to do with a feature value of ``nan``: refuse it with its line, keep it as NaN (for a ranker with a policy
        of its own), or put zero or the mean of the column's other values in its place.
    on_error : {"raise", "skip"}, default="raise"
        Whether a malformed line is an error, or left out, counted in `skipped` and logged.
    n_jobs : int or None, default=None
        Threads; None is 1. What is read does not depend on it.
    verbose : int, default=0
        Above 0, reading that takes longer than a second shows its progress on standard error.

    Returns
    -------
    Dataset
        Rows in the file's order. Feature ids in decreasing order are sorted; zeros that are spelled out are kept.

    Raises
    ------
    FileFormatError
        With file, line, column and what was expected.
    """
    data = _read_rows(
        path, ReadOptions(Columns(), missing, dtype, n_features, dense, zero_based, on_error, n_jobs, verbose)
    )
    warn_of_side_files(path, data)
    return data


def read(source: Source, options: ReadOptions) -> Dataset:
    """All of a file, and of those that lie beside it."""
    _refuse_columns(options)
    return with_side_files(_read_rows(source, options), source)


def blocks(source: Source, options: ReadOptions) -> Iterator[Dataset]:
    """The rows of a file block by block, without what lies beside it.

    Each X is as wide as its own largest id asks for, unless `n_features` is given.
    """
    _refuse_columns(options)
    _refuse_mean(options.missing)
    shape = _shape(options)
    reader = _reader(source, options, shape)
    return (_chunk(rows, reader, shape) for rows in reader)


def _refuse_columns(options: ReadOptions) -> None:
    if options.columns != Columns():
        raise ParameterError("label=, query=, id=, weight=, features= and drop= are for tables, not for SVMlight.")


def _refuse_mean(missing: str) -> None:
    if missing == "mean":
        raise ParameterError("missing='mean' would differ by chunk: read with missing='keep', fit with missing='mean'.")


def _shape(options: ReadOptions) -> Shape:
    return Shape(options.n_features, options.dense, np.dtype(options.dtype), options.missing)


def _reader(source: Source, options: ReadOptions, shape: Shape) -> Reader:
    return Reader(source, _rules(shape, options.zero_based, options.on_error), options.n_jobs, options.progress(source))


def write(path: PathLike, data: Dataset) -> None:
    """Write ranking data."""
    write_svmlight(path, data)


def _read_rows(path: Source, options: ReadOptions) -> Dataset:
    shape = _shape(options)
    reader, data = _reader(path, options, shape), GrowingDataset(shape)
    for rows in reader:
        data.append(rows, reader.progress.share)
    if data.X.n_rows == 0:
        but = f" but {reader.skipped} malformed lines" if reader.skipped else ""
        raise DataError(f"{name_of(path)} holds no row{but}: check that it is a file of SVMlight or LETOR.")
    return _dataset(data, reader)


def iter_svmlight(
    path: Source,
    *,
    chunk_rows: int | None = None,
    chunk_bytes: int = CHUNK_BYTES,
    n_features: int | None = None,
    dense: bool | Literal["auto"] = False,
    dtype: DTypeLike = np.float64,
    zero_based: bool = False,
    missing: str = "error",
    on_error: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Iterator[Dataset]:
    """Read a file of ranking data in chunks of whole queries, in bounded memory.

    A chunk ends at the last change of the qid before it would hold more than `chunk_rows` rows, or about `chunk_bytes`
    bytes of X. A query longer than that is split, which is logged; without qid every row may end a chunk. A query whose
    rows are not next to each other is split like two queries: sort the file first.

    With `n_features=None` the file is read twice, the first time for its largest feature id; standard input cannot be,
    so give `n_features` there. "mean" is not a policy here, as it would differ from chunk to chunk. With `verbose` 1
    the count of features shows its progress, with 2 the chunks as well, whatever is done with them meanwhile. The other
    parameters are those of `read_svmlight`; `skipped` counts from the file's start.
    """
    _refuse_mean(missing)
    for name, value in {"chunk_rows": chunk_rows, "chunk_bytes": chunk_bytes}.items():
        if value is not None and value < 1:
            raise ParameterError(f"{name}={value!r} must be at least 1.")
    shape = Shape(n_features, dense, np.dtype(dtype), missing)
    rules = _rules(shape, zero_based, on_error)
    if n_features is None:
        found = count_features(
            path, zero_based=zero_based, missing="keep", on_error="skip", n_jobs=n_jobs, verbose=verbose
        )
        shape = shape._replace(n_features=found)
    progress = ByteProgress(verbose - 1, name_of(path))
    chunks = _chunks(Reader(path, rules, n_jobs, progress), chunk_rows or 2**62, chunk_bytes, shape)
    return _with_warning(path, chunks)


def count_features(
    path: Source,
    *,
    zero_based: bool = False,
    missing: str = "keep",
    on_error: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> int:
    """The number of features that a file's largest id implies, found in bounded memory."""
    if not is_file(path):
        raise ParameterError(f"{name_of(path)} can be read only once: give n_features.")
    rules = _rules(Shape(None, False, np.dtype(np.float64), missing), zero_based, on_error)
    reader = Reader(path, rules, n_jobs, ByteProgress(verbose, name_of(path)))
    return max((int(parsed.column.max(initial=-1)) + 1 for parsed in reader), default=0)


def _rules(shape: Shape, zero_based: bool, on_error: str) -> Rules:
    check_choice("missing", shape.missing, MISSING)
    check_choice("on_error", on_error, ("raise", "skip"))
    if shape.dense not in (True, False, "auto"):
        raise ParameterError(f"dense={shape.dense!r} must be True, False or 'auto'.")
    check_dtype(shape.dtype)
    n_features = shape.n_features
    if n_features is not None and not 0 < n_features <= LARGEST_ID:
        raise ParameterError(f"n_features={n_features!r} must be between 1 and {LARGEST_ID}.")
    first = 0 if zero_based else 1
    last = LARGEST_ID if n_features is None else n_features - 1 + first
    single = shape.dtype == np.float32
    return Rules(first, last, single, shape.missing != "error", on_error == "skip")


def _chunks(reader: Reader, chunk_rows: int, chunk_bytes: int, shape: Shape) -> Iterator[Dataset]:
    pending: list[Parsed] = []
    entry_bytes = 4 + shape.dtype.itemsize
    for parsed in reader:
        pending.append(parsed.kept())
        while pending and (
            sum(part.y.size for part in pending) > chunk_rows
            or sum(part.column.size for part in pending) * entry_bytes > chunk_bytes
        ):
            rows = joined(pending)
            fitting = int(np.searchsorted(rows.ends * entry_bytes, chunk_bytes, side="right"))
            end = _last_change(rows.qid, max(1, min(chunk_rows, fitting, rows.y.size)))
            yield _chunk(part_of(rows, 0, end), reader, shape)
            pending = [part_of(rows, end, rows.y.size)] if end < rows.y.size else []
    if pending:
        yield _chunk(joined(pending), reader, shape)


def _chunk(rows: Parsed, reader: Reader, shape: Shape) -> Dataset:
    data = GrowingDataset(shape)
    data.append(rows)
    return _dataset(data, reader)


def _with_warning(path: Source, chunks: Iterator[Dataset]) -> Iterator[Dataset]:
    """The chunks; before the first, a warning of files beside that are not read."""
    first = next(chunks, None)
    if first is not None:
        warn_of_side_files(path, first)
        yield first
        first = None  # or it would be kept in memory
        yield from chunks


def _last_change(qid: NDArray[Any] | None, limit: int) -> int:
    """The last row up to `limit` at which another query begins, or `limit` itself if there is none."""
    if qid is None or limit >= qid.size:
        return limit
    changes = np.flatnonzero(qid[1 : limit + 1] != qid[:limit])
    if changes.size:
        return int(changes[-1]) + 1
    logger.warning("Query %s has more rows than a chunk holds: it is split; read in larger chunks", qid[0])
    return limit


def _dataset(data: GrowingDataset, reader: Reader) -> Dataset:
    if reader.skipped:
        logger.warning("%d lines left out so far, the first: %s", reader.skipped, reader.problems[0])
    return data.done(skipped=reader.skipped, problems=reader.problems)
