"""Datasets put together, in about the memory of the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .dataset import Comments, Dataset


def joined(parts: list[Dataset]) -> Dataset:
    """The rows of all parts, in their order; the list is emptied on the way, so that parts are let go one by one.

    Sparse parts may differ in width. Query ids are integers, unless a part has strings.
    """
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return first
    weighted = any(part.sample_weight is not None for part in parts)
    told = any(part.comments is not None for part in parts)
    changed: dict[str, Any] = {
        "y": None if first.y is None else np.concatenate([part.y for part in parts]),
        "qid": None if first.qid is None else join_ids([part.qid for part in parts]),  # type: ignore[misc]
        "sample_weight": np.concatenate([weights_of(part) for part in parts]) if weighted else None,
        "comments": _joined_comments(parts) if told else None,
    }
    changed |= {"skipped": last.skipped, "problems": last.problems}
    return replace(first, X=_stacked([part.X for part in _emptied(parts)]), **changed)


def weights_of(part: Dataset) -> NDArray[np.float64]:
    """Its weights, ones where it has none."""
    return np.ones(part.n_rows) if part.sample_weight is None else part.sample_weight


def join_ids(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Query ids of all parts: integers, unless one part has strings."""
    ids = list(parts)  # an integer is written as it was read: in its shortest form
    if len({part.dtype.kind in "biu" for part in ids}) > 1:
        ids = [part.astype(str) if part.dtype.kind in "biu" else part for part in ids]
    if any(part.dtype == object for part in ids):
        ids = [part.astype(object) for part in ids]
    return np.concatenate(ids)


def wide_enough(X: Any, n_features: int) -> Any:
    """Features of which a chunk of SVMlight may not show the last ones: those are 0."""
    if not sp.issparse(X) or X.shape[1] >= n_features:
        return X
    wide = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features), copy=False)
    wide.has_canonical_format = X.has_canonical_format
    return wide


def _emptied(parts: list[Dataset]) -> Iterator[Dataset]:
    while parts:
        yield parts.pop(0)


def _joined_comments(parts: list[Dataset]) -> Comments:
    each = [Comments.of([""] * part.n_rows) if part.comments is None else part.comments for part in parts]
    known = [part if isinstance(part, Comments) else Comments.of(part) for part in each]
    before = np.cumsum([0, *(part.text.size for part in known)])
    ends = [part.ends + start for part, start in zip(known, before, strict=False)]
    return Comments(np.concatenate([part.text for part in known]), np.concatenate(ends))


def _stacked(parts: list[Any]) -> Any:
    """Features of parts that follow one another; each is let go once it has been copied."""
    m, d = sum(part.shape[0] for part in parts), max(part.shape[1] for part in parts)
    if sp.issparse(parts[0]):
        return _stacked_sparse(parts, m, d)
    X = np.empty((m, d), dtype=parts[0].dtype)
    row = 0
    while parts:
        part = parts.pop(0)
        X[row : row + part.shape[0]] = part
        row += part.shape[0]
    return X


def _stacked_sparse(parts: list[Any], m: int, d: int) -> Any:
    nnz = sum(part.nnz for part in parts)
    kind = np.int32 if nnz < 2**31 else np.int64  # scipy keeps both in one type
    data, indices = np.empty(nnz, dtype=parts[0].dtype), np.empty(nnz, dtype=kind)
    indptr = np.zeros(m + 1, dtype=kind)
    row, entry, canonical = 0, 0, all(part.has_canonical_format for part in parts)
    while parts:
        part = parts.pop(0)
        rows, entries = slice(row + 1, row + 1 + part.shape[0]), slice(entry, entry + part.nnz)
        data[entries], indices[entries], indptr[rows] = part.data, part.indices, part.indptr[1:] + entry
        row, entry = row + part.shape[0], entry + part.nnz
    X = sp.csr_matrix((data, indices, indptr), shape=(m, d), copy=False)
    X.has_canonical_format = canonical
    return X
