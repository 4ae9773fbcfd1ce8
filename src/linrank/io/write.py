"""Writers of ranking data."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._data import check_features, encode_queries
from .._errors import DataError, ParameterError
from ._files import PathLike, replacing
from ._streams import zstd
from .dataset import Dataset

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
    if isinstance(X, Dataset):
        if y is not None or qid is not None or comments is not None or sample_weight is not None:
            raise ParameterError("A Dataset brings its own y, qid, comments and weights: give it alone.")
        X, y, qid, comments, sample_weight = X.X, X.y, X.qid, X.comments, X.sample_weight
    X = check_features(X, allow_nan=True)
    n_rows = X.shape[0]
    labels = _numbers("y", np.zeros(n_rows) if y is None else y, n_rows)
    costs = None if sample_weight is None else _numbers("sample_weight", sample_weight, n_rows)
    queries = None if qid is None else _query_texts(qid, n_rows)
    notes = None if comments is None else _comment_texts(comments, n_rows)
    first = 0 if zero_based else 1
    with replacing(path) as file, _packed(file, path) as out:
        for start in range(0, n_rows, ROWS):
            lines = []
            for k, entries in enumerate(_entries(X[start : start + ROWS], first), start):
                parts = [labels[k]]
                parts += [] if queries is None else [queries[k]]
                parts += [] if costs is None else [f"cost:{costs[k]}"]
                parts += entries
                parts += [] if notes is None or not notes[k] else [f"#{notes[k]}"]
                lines.append(" ".join(parts))
            out.write(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def _entries(X: Any, first: int) -> Iterator[list[str]]:
    """``id:value`` for each row, with the shortest digits that read back as the same number."""
    if sp.issparse(X):
        X = X.sorted_indices()
        columns, values = (X.indices + first).tolist(), _texts(X.data)
        for begin, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
            yield [f"{c}:{v}" for c, v in zip(columns[begin:end], values[begin:end], strict=True)]
        return
    columns = range(first, first + X.shape[1])
    for row in X:
        yield [f"{c}:{v}" for c, v in zip(columns, _texts(row), strict=True)]


def _texts(values: NDArray[Any]) -> list[str]:
    if values.dtype == np.float32:
        return [str(value) for value in values]  # the shortest digits of a float32
    return [repr(value) for value in values.tolist()]


def _numbers(name: str, values: ArrayLike, n_rows: int) -> list[str]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError):
        raise DataError(f"{name} holds something that is not a number: give one number per row.") from None
    if numbers.shape != (n_rows,) or not np.all(np.isfinite(numbers)):
        raise DataError(f"{name} must hold one finite number for each of the {n_rows} rows of X.")
    return [
        repr(int(v)) if v == int(v) and abs(v) < 1e15 and (v or not _sign(v)) else repr(v) for v in numbers.tolist()
    ]


def _sign(value: float) -> bool:
    return bool(np.signbit(value))


def _query_texts(qid: ArrayLike, n_rows: int) -> list[str]:
    query, ids = encode_queries(qid, n_rows)
    texts = [text.decode() if isinstance(text, bytes) else str(text) for text in ids.tolist()]
    for text in texts:
        if not text or "#" in text or any(c in text for c in " \t\r\n"):
            raise DataError(f"The query id {text!r} cannot be written to this format: it must have no blank and no #.")
    return [f"qid:{texts[q]}" for q in query.tolist()]


def _comment_texts(comments: Sequence[str], n_rows: int) -> list[str]:
    texts = [str(text) for text in comments]
    if len(texts) != n_rows:
        raise DataError(f"There are {len(texts)} comments for {n_rows} rows: give one for each.")
    for text in texts:
        if "\n" in text or "\r" in text:
            raise DataError(f"The comment {text[:20]!r} has a line break: replace it by a blank.")
    return texts


@contextmanager
def _packed(file: BinaryIO, path: PathLike) -> Iterator[BinaryIO]:
    """The file, packed on the way if its name says so."""
    name = str(path)
    if name.endswith(".gz"):
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as out:
            yield out  # type: ignore[misc]
    elif name.endswith(".zst"):
        with zstd().ZstdCompressor().stream_writer(file, closefd=False) as out:
            yield out
    else:
        yield file
