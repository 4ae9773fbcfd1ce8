"""SVMlight text out, and what writers of text share."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._bars import Bar
from .._errors import DataError, ParameterError
from .._files import PathLike, replacing
from ..data.checks import check_features
from ..data.dataset import Dataset, utf8
from ..data.queries import encode_queries
from ._streams import zstd

ROWS = 1 << 12  # put into text at a time


def write_svmlight(
    path: PathLike,
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    *,
    comments: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    zero_based: bool = False,
) -> None:
    """Write ranking data as SVMlight / LETOR text; reading it gives back the same numbers to the last bit.

    Parameters
    ----------
    path : path
        Packed if it ends in ``.gz`` or ``.zst``. The file is written beside its place and moved there when it is whole.
    X : array, sparse matrix or Dataset
        A Dataset brings y, qid, comments and weights along. Of a dense X all values are written, of a sparse one those
        that are stored; NaN is written as ``nan``.
    y : (m,), optional
        Labels; 0 if not given.
    qid : (m,), optional
        Query ids: integers, or strings without blanks and #.
    comments : m strings, optional
        Written after a #; they must not contain line breaks.
    sample_weight : (m,), optional
        Written as ``cost:``.
    zero_based : bool, default=False
        Number the features from 0 and not from 1.
    """
    data = checked(X, y, qid, comments, sample_weight)
    with replacing(path) as file, packed(file, path) as out, writing(path, data) as bar:
        for text in svmlight_text(data, zero_based):
            out.write(text)
            bar.advance(min(ROWS, data.n_rows - bar.done))


def writing(path: PathLike, data: Dataset) -> Bar:
    """A bar of the rows that are written."""
    return Bar(f"writing {Path(path).name}", data.n_rows, "rows")


def svmlight_text(data: Dataset, zero_based: bool = False) -> Iterator[bytes]:
    """The text of `write_svmlight`, some rows at a time."""
    labels = ["0"] * data.n_rows if data.y is None else short(data.y)
    costs = None if data.sample_weight is None else short(data.sample_weight)
    queries = None if data.qid is None else _query_texts(data.qid)
    notes = None if data.comments is None else _comment_texts(data.comments)
    first = 0 if zero_based else 1
    for start in range(0, data.n_rows, ROWS):
        lines = []
        for k, entries in enumerate(_entries(data.X[start : start + ROWS], first), start):
            parts = [labels[k]]
            parts += [] if queries is None else [queries[k]]
            parts += [] if costs is None else [f"cost:{costs[k]}"]
            parts += entries
            parts += [] if notes is None or not notes[k] else [f"#{notes[k]}"]
            lines.append(" ".join(parts))
        yield utf8("\n".join(lines) + "\n", "query id or comment")


def _entries(X: Any, first: int) -> Iterator[list[str]]:
    """``id:value`` for each row, with the shortest digits that read back as the same number."""
    if sp.issparse(X):
        X = X.sorted_indices()
        columns, values = (X.indices + first).tolist(), texts(X.data)
        for begin, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
            yield [f"{c}:{v}" for c, v in zip(columns[begin:end], values[begin:end], strict=True)]
        return
    columns = range(first, first + X.shape[1])
    for row in X:
        yield [f"{c}:{v}" for c, v in zip(columns, texts(row), strict=True)]


def texts(values: NDArray[Any]) -> list[str]:
    """The shortest digits that read back as the same numbers, in their own precision."""
    if values.dtype == np.float32:
        return [str(value) for value in values]  # the shortest digits of a float32
    return [repr(value) for value in values.tolist()]


def short(values: NDArray[Any]) -> list[str]:
    """Whole numbers without a point, others with all their digits."""
    return [
        repr(int(v)) if v.is_integer() and 0 < abs(v) < 1e15 else repr(v).removesuffix(".0") for v in values.tolist()
    ]


def _query_texts(qid: NDArray[Any]) -> list[str]:
    query, ids = encode_queries(qid, qid.size)
    texts = [text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text) for text in ids.tolist()]
    for text in texts:
        if not text or any(c in text for c in "# \t\r\n"):
            raise DataError(f"The query id {text!r} cannot be written to this format: it must have no blank and no #.")
    return [f"qid:{texts[q]}" for q in query.tolist()]


def _comment_texts(comments: Sequence[str]) -> list[str]:
    texts = [str(text) for text in comments]
    for text in texts:
        if "\n" in text or "\r" in text:
            raise DataError(f"The comment {text[:20]!r} has a line break: replace it by a blank.")
    return texts


def checked(
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    comments: Sequence[str] | None,
    sample_weight: ArrayLike | None,
    feature_names: Sequence[str] | None = None,
) -> Dataset:
    """What is given, alone or in a Dataset, with as many rows everywhere and finite labels and weights."""
    if isinstance(X, Dataset):
        if any(given is not None for given in (y, qid, comments, sample_weight, feature_names)):
            raise ParameterError("A Dataset brings its own y, qid, comments, weights and names: give it alone.")
        X, y, qid, comments, sample_weight, feature_names = (
            X.X, X.y, X.qid, X.comments, X.sample_weight, X.feature_names,
        )  # fmt: skip
    X = check_features(X, allow_nan=True)
    n_rows = X.shape[0]
    if qid is not None:
        encode_queries(qid, n_rows)
    if comments is not None and len(comments) != n_rows:
        raise DataError(f"There are {len(comments)} comments for {n_rows} rows: give one for each.")
    return Dataset(
        X,
        None if y is None else _numbers("y", y, n_rows),
        None if qid is None else np.asarray(qid),
        comments,
        None if sample_weight is None else _numbers("sample_weight", sample_weight, n_rows),
        None if feature_names is None else [str(name) for name in feature_names],
    )


def _numbers(name: str, values: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError):
        raise DataError(f"{name} holds something that is not a number: give one number per row.") from None
    if numbers.shape != (n_rows,) or not np.all(np.isfinite(numbers)):
        raise DataError(f"{name} must hold one finite number for each of the {n_rows} rows of X.")
    return numbers


@contextmanager
def packed(file: BinaryIO, path: PathLike) -> Iterator[BinaryIO]:
    """The file, packed on the way if its name says so."""
    name = str(path)
    if name.endswith(".gz"):
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as out:
            yield out  # type: ignore[misc]
    elif name.endswith(".zst"):
        with zstd().ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False) as out:
            yield out
    else:
        yield file
