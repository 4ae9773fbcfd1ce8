"""Parsed rows put together: a matrix that takes its final form as it grows, and all that goes with its rows."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..data.dataset import Comments, Dataset
from ..data.missing import learn_missing, pieces
from ..kernels.text.scatter import scatter
from ._block import Parsed
from ._growing import Growing, GrowingColumn, GrowingIds, GrowingTexts

LONGEST_FIXED_ID = 64  # longer ids, and those with zero bytes, are kept as objects
#: The bits of a NaN that no file can spell: where a dense row has no entry. By the size of a number.
ABSENT = {8: np.int64(0x7FF8_0000_0000_ABCD), 4: np.int32(0x7FC0_ABCD)}


class Shape(NamedTuple):
    """What X is to look like."""

    n_features: int | None
    dense: bool | Literal["auto"]
    dtype: np.dtype[Any]
    missing: str


class GrowingMatrix:
    """Rows of X in the form that they will have: dense while that takes less memory, and CSR otherwise.

    Dense rows remember where they have no entry, so that they can become CSR: where longer rows make that the smaller
    form, or new columns come up. What is wanted dense and grows as CSR is made dense at the end.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape, self._dense = shape, None if shape.dense is False else Growing(shape.dtype, 0)
        self._column, self._value, self._ends = Growing(np.int32), Growing(shape.dtype), Growing(np.int64)
        self.n_rows = self.n_entries = 0
        self.n_features = shape.n_features or 0

    def append(self, rows: Parsed, share: float = 1.0) -> None:
        """Some rows more."""
        largest = int(rows.column.max(initial=-1)) + 1
        wider = self._shape.n_features is None and largest > self.n_features
        begins = self.n_rows == 0
        if wider and not begins:
            self._become_sparse()
        self.n_features = max(self.n_features, largest) if self._shape.n_features is None else self.n_features
        self.n_rows += rows.y.size
        self.n_entries += rows.column.size
        if self.n_features == 0 or not self._is_smaller_dense():
            self._become_sparse()
        if self._dense is None:
            self._append_sparse(rows, share)
            return
        if begins:
            self._dense = Growing(self._shape.dtype, self.n_features)
        _fill(self._dense.room(rows.y.size, share), rows)

    def _is_smaller_dense(self) -> bool:
        entry = self._shape.dtype.itemsize
        return self.n_rows * self.n_features * entry <= self.n_entries * (entry + 4) + 8 * self.n_rows

    def _append_sparse(self, rows: Parsed, share: float) -> None:
        self._ends.append(rows.ends + self._column.size, share)
        self._column.append(rows.column, share)
        self._value.append(rows.value, share)

    def _become_sparse(self) -> None:
        """Take apart the dense rows there are."""
        dense, self._dense = self._dense, None
        if dense is None or not dense.size:
            return
        X = dense.done()
        for _, piece in pieces(X):
            present = _bits(piece) != ABSENT[piece.itemsize]
            self._ends.append(np.cumsum(present.sum(axis=1), dtype=np.int64) + self._column.size)
            self._column.append(np.nonzero(present)[1].astype(np.int32))
            self._value.append(piece[present])

    def done(self) -> Any:
        """The matrix."""
        size = self.n_rows, self.n_features
        if self._dense is not None:
            X = self._dense.done() if self._dense.size else np.zeros(size, dtype=self._shape.dtype)
            if self.n_entries < self.n_rows * self.n_features:
                for _, piece in pieces(X):
                    piece[_bits(piece) == ABSENT[X.itemsize]] = 0
            return X
        column, value, ends = self._column.done(), self._value.done(), self._ends.done()
        if self._shape.dense is True or (self._shape.dense == "auto" and self._is_smaller_dense()):
            X = np.zeros(size, dtype=self._shape.dtype)
            scatter(column, value, ends, X)
            return X
        pointers = np.zeros(self.n_rows + 1, dtype=np.int32 if value.size < 2**31 else np.int64)  # scipy wants one type
        pointers[1:] = ends
        X = sp.csr_matrix((value, column, pointers), shape=size, copy=False)
        X.has_canonical_format = True  # sorted, each once: known from reading
        return X


def _bits(X: NDArray[Any]) -> NDArray[Any]:
    return X.view(np.int64 if X.itemsize == 8 else np.int32)


def _fill(X: NDArray[Any], rows: Parsed) -> None:
    """Put rows into their place in a dense matrix."""
    if rows.value.size == X.size:  # each column once in each row, and sorted
        X[...] = rows.value.reshape(X.shape)
        return
    _bits(X).fill(ABSENT[X.itemsize])
    scatter(rows.column, rows.value, rows.ends, X)


class GrowingDataset:
    """Rows put together in the memory of the result and of one part."""

    def __init__(self, shape: Shape) -> None:
        self._shape, self.X = shape, GrowingMatrix(shape)
        self._y, self._weight = Growing(np.float64), GrowingColumn()
        self._qid, self._comments = GrowingIds(), GrowingTexts()
        self._has_nan = False

    def append(self, rows: Parsed, share: float = 1.0) -> None:
        """Some rows more; with those before, they are a share of all that is expected."""
        self._weight.append(rows.weight, rows.y.size, share)
        self._qid.append(rows.qid, share)
        self._y.append(rows.y, share)
        self._comments.append(rows.comment, rows.comment_ends, share)
        self.X.append(rows, share)
        if self._shape.missing in ("zero", "mean"):
            self._has_nan = self._has_nan or bool(np.isnan(rows.value).any())

    def done(self, **more: Any) -> Dataset:
        """All rows."""
        X = self.X.done()
        if self._has_nan:
            X = learn_missing(X, self._shape.missing)[0]
        comments: Comments | None = self._comments.done()
        return Dataset(X, self._y.done(), _fixed(self._qid.done()), comments, self._weight.done(), **more)


def part_of(rows: Parsed, start: int, stop: int) -> Parsed:
    """The rows from `start` up to `stop`."""
    entry, entry_end = (int(rows.ends[k - 1]) if k else 0 for k in (start, stop))
    byte, byte_end = (int(rows.comment_ends[k - 1]) if k else 0 for k in (start, stop))
    return Parsed(
        y=rows.y[start:stop],
        qid=None if rows.qid is None else rows.qid[start:stop],
        weight=None if rows.weight is None else rows.weight[start:stop],
        comment=rows.comment[byte:byte_end],
        comment_ends=rows.comment_ends[start:stop] - byte,
        column=rows.column[entry:entry_end],
        value=rows.value[entry:entry_end],
        ends=rows.ends[start:stop] - entry,
    )


def joined(parts: list[Parsed]) -> Parsed:
    """All rows of the parts."""
    if len(parts) == 1:
        return parts[0]
    ids, weight = GrowingIds(), GrowingColumn()
    for part in parts:
        ids.append(part.qid)
        weight.append(part.weight, part.y.size)
    comments = np.cumsum([0, *(part.comment.size for part in parts)])
    entries = np.cumsum([0, *(part.column.size for part in parts)])
    return Parsed(
        y=np.concatenate([part.y for part in parts]),
        qid=ids.done(),
        weight=weight.done(),
        comment=np.concatenate([part.comment for part in parts]),
        comment_ends=np.concatenate(
            [part.comment_ends + before for part, before in zip(parts, comments, strict=False)]
        ),
        column=np.concatenate([part.column for part in parts]),
        value=np.concatenate([part.value for part in parts]),
        ends=np.concatenate([part.ends + k for part, k in zip(parts, entries, strict=False)]),
    )


def _fixed(qid: NDArray[Any] | None) -> NDArray[Any] | None:
    """Ids as fixed-width strings where these keep them apart and are not too wide."""
    if qid is None or qid.dtype != object:
        return qid
    longest = max(map(len, qid))
    return qid if longest > LONGEST_FIXED_ID or any("\0" in text for text in qid) else qid.astype(str)
