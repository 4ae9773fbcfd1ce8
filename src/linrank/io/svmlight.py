"""SVMlight / LETOR files: ``<label> [qid:<id>] [cost:<number>] <id>:<value> ... [# comment]``."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError, ParameterError
from .._files import PathLike
from ..data.checks import check_choice
from ..data.dataset import Comments, Dataset
from ..data.missing import learn_missing
from ..kernels.text.blocks import Rules, scatter
from ..kernels.text.svmlight import LARGEST_ID
from ._beside import warn_of_side_files, with_side_files
from ._columns import MISSING, Columns, check_dtype
from ._lines import Parsed, Reader
from ._options import ReadOptions
from ._parts import grown, joined, part_of
from ._streams import Source, expected_blocks, name_of
from .write import write_svmlight

logger = logging.getLogger("linrank")

LONGEST_FIXED_ID = 64  # longer ids, and those with zero bytes, are kept as objects
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

    Returns
    -------
    Dataset
        Rows in the file's order. Feature ids in decreasing order are sorted; zeros that are spelled out are kept.

    Raises
    ------
    FileFormatError
        With file, line, column and what was expected.
    """
    data = _read_rows(path, ReadOptions(Columns(), missing, dtype, n_features, dense, zero_based, on_error, n_jobs))
    warn_of_side_files(path, data)
    return data


def read(source: Source, options: ReadOptions) -> Dataset:
    """All of a file, and of those that lie beside it."""
    if options.columns != Columns():
        raise ParameterError("label=, query=, id=, weight=, features= and drop= are for tables, not for SVMlight.")
    return with_side_files(_read_rows(source, options), source)


def blocks(source: Source, options: ReadOptions) -> Iterator[Dataset]:
    """A file as CSR, a block of text at a time, each as wide as its largest id; files beside it are left alone."""
    shape = _Shape(options.n_features, False, np.dtype(options.dtype), options.missing)
    reader = Reader(source, _rules(shape, options.zero_based, options.on_error), options.n_jobs)
    for rows in reader:
        yield _dataset(rows, reader, shape)


def write(path: PathLike, data: Dataset) -> None:
    """Write ranking data."""
    write_svmlight(path, data)


def _read_rows(path: Source, options: ReadOptions) -> Dataset:
    shape = _Shape(options.n_features, options.dense, np.dtype(options.dtype), options.missing)
    reader = Reader(path, _rules(shape, options.zero_based, options.on_error), options.n_jobs)
    rows = grown(reader, shape.dtype, expected_blocks(path))
    if rows.y.size == 0:
        but = f" but {reader.skipped} malformed lines" if reader.skipped else ""
        raise DataError(f"{name_of(path)} holds no row{but}: check that it is a file of SVMlight or LETOR.")
    return _dataset(rows, reader, shape)


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
) -> Iterator[Dataset]:
    """Read a file of ranking data in chunks of whole queries, in bounded memory.

    A chunk ends at the last change of the qid before it would hold more than `chunk_rows` rows, or about `chunk_bytes`
    bytes of X. A query longer than that is split, which is logged; without qid every row may end a chunk. A query whose
    rows are not next to each other is split like two queries: sort the file first.

    With `n_features=None` the file is read twice, the first time for its largest feature id; standard input cannot be,
    so give `n_features` there. "mean" is not a policy here, as it would differ from chunk to chunk. The other
    parameters are those of `read_svmlight`; `skipped` counts from the file's start.
    """
    if missing == "mean":
        raise ParameterError("missing='mean' would differ by chunk: read with missing='keep', fit with missing='mean'.")
    for name, value in {"chunk_rows": chunk_rows, "chunk_bytes": chunk_bytes}.items():
        if value is not None and value < 1:
            raise ParameterError(f"{name}={value!r} must be at least 1.")
    shape = _Shape(n_features, dense, np.dtype(dtype), missing)
    rules = _rules(shape, zero_based, on_error)
    if n_features is None:
        found = count_features(path, zero_based=zero_based, missing="keep", on_error="skip", n_jobs=n_jobs)
        shape = shape._replace(n_features=found)
    chunks = _chunks(Reader(path, rules, n_jobs), chunk_rows or 2**62, chunk_bytes, shape)
    return _with_warning(path, chunks)


def count_features(
    path: Source,
    *,
    zero_based: bool = False,
    missing: str = "keep",
    on_error: str = "raise",
    n_jobs: int | None = None,
) -> int:
    """The number of features that a file's largest id implies, found in bounded memory."""
    if not isinstance(path, (str, os.PathLike)) or not os.path.isfile(path):
        raise ParameterError(f"{name_of(path)} can be read only once: give n_features.")
    rules = _rules(_Shape(None, False, np.dtype(np.float64), missing), zero_based, on_error)
    return max((int(parsed.column.max(initial=-1)) + 1 for parsed in Reader(path, rules, n_jobs)), default=0)


class _Shape(NamedTuple):
    """What X is to look like."""

    n_features: int | None
    dense: bool | Literal["auto"]
    dtype: np.dtype[Any]
    missing: str


def _rules(shape: _Shape, zero_based: bool, on_error: str) -> Rules:
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


def _chunks(reader: Reader, chunk_rows: int, chunk_bytes: int, shape: _Shape) -> Iterator[Dataset]:
    pending: list[Parsed] = []
    entry_bytes = 4 + shape.dtype.itemsize
    for parsed in reader:
        pending.append(parsed)
        while pending and (
            sum(part.y.size for part in pending) > chunk_rows
            or sum(part.column.size for part in pending) * entry_bytes > chunk_bytes
        ):
            rows = joined(pending)
            fitting = int(np.searchsorted(rows.ends * entry_bytes, chunk_bytes, side="right"))
            end = _last_change(rows.qid, max(1, min(chunk_rows, fitting, rows.y.size)))
            yield _dataset(part_of(rows, 0, end), reader, shape)
            pending = [part_of(rows, end, rows.y.size)] if end < rows.y.size else []
    if pending:
        yield _dataset(joined(pending), reader, shape)


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


def _dataset(rows: Parsed, reader: Reader, shape: _Shape) -> Dataset:
    if reader.skipped:
        logger.warning("%d lines left out so far, the first: %s", reader.skipped, reader.problems[0])
    n_rows, largest = rows.y.size, int(rows.column.max(initial=-1)) + 1
    d = largest if shape.n_features is None else shape.n_features
    X = _matrix(rows, (n_rows, d), shape)
    if shape.missing in ("zero", "mean") and np.isnan(rows.value).any():
        X = learn_missing(X, shape.missing)[0]
    comments = Comments(rows.comment, rows.comment_ends) if rows.comment.size else None
    return Dataset(X, rows.y, _fixed(rows.qid), comments, rows.weight, skipped=reader.skipped, problems=reader.problems)


def _matrix(rows: Parsed, size: tuple[int, int], shape: _Shape) -> Any:
    entry, dense = shape.dtype.itemsize, shape.dense
    if dense == "auto":
        dense = size[0] * size[1] * entry <= rows.value.size * (entry + 4) + 8 * size[0]
    if dense:
        X = np.zeros(size, dtype=shape.dtype)
        scatter(rows.column, rows.value, rows.ends, X)
        return X
    pointers = np.concatenate([np.zeros(1, dtype=np.int64), rows.ends])
    if rows.value.size < 2**31:  # scipy keeps both in one type
        pointers = pointers.astype(np.int32)
    X = sp.csr_matrix((rows.value.astype(shape.dtype, copy=False), rows.column, pointers), shape=size, copy=False)
    X.has_canonical_format = True  # sorted, each once: known from reading
    return X


def _fixed(qid: NDArray[Any] | None) -> NDArray[Any] | None:
    """Ids as fixed-width strings where these keep them apart and are not too wide."""
    if qid is None or qid.dtype != object:
        return qid
    longest = max(map(len, qid))
    return qid if longest > LONGEST_FIXED_ID or any("\0" in text for text in qid) else qid.astype(str)
