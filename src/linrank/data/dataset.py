"""Dataset: what a reader gives back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError
from .._typing import FloatArray
from .mapped import csr_part

#: Bytes of features in a chunk.
CHUNK_BYTES = 1 << 24
DOCID = re.compile(r"\bdocid\s*=\s*(\S+)")


def n_bytes(X: Any) -> int:
    """Bytes of features."""
    return int(X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def last_change(qid: NDArray[Any] | None) -> int:
    """The row at which the last query begins; 0 where all rows are of one."""
    if qid is None:
        return 0
    changes = np.flatnonzero(qid[1:] != qid[:-1])
    return int(changes[-1]) + 1 if changes.size else 0


def utf8(text: str, what: str) -> bytes:
    """The bytes of a text, those that were no UTF-8 as they came; half a surrogate has none, and is a DataError."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        wrong = text[error.start : error.start + 20]
        raise DataError(f"A {what} holds {wrong!r}, which is no character: rename it.") from None


class Comments(Sequence[str]):
    """Texts of rows in one array of bytes, decoded when asked for; bytes that are not UTF-8 become surrogates."""

    def __init__(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.text, self.ends = text, ends

    @classmethod
    def of(cls, texts: Iterable[str]) -> Comments:
        """From strings."""
        encoded = [utf8(text, "comment or id") for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return self.ends.size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Comments: ...
    def __getitem__(self, index: int | slice) -> str | Comments:
        if isinstance(index, slice):
            rows = range(len(self))[index]
            if rows.step != 1:
                return Comments.of(self[row] for row in rows)
            first, last = self._start(rows.start), self._start(rows.stop) if len(rows) else self._start(rows.start)
            return Comments(self.text[first:last], self.ends[rows.start : rows.start + len(rows)] - first)
        row = range(len(self))[index]
        return self.text[self._start(row) : self.ends[row]].tobytes().decode("utf-8", "surrogateescape")

    def _start(self, row: int) -> int:
        return int(self.ends[row - 1]) if row else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Comments({list(self[:3])!r}{'...' if len(self) > 3 else ''})"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows to be ranked, as a file holds them.

    Attributes
    ----------
    X : (m, d)
        Features: CSR or a numpy array, float64 or float32.
    y : (m,) or None
        Labels.
    qid : (m,) or None
        Query ids: int64 where all of them are integers, strings otherwise; None if the file has none.
    comments : sequence of m strings, or None
        What follows the # of each row, or a table's column of ids; None if there is none at all.
    sample_weight : (m,) or None
        Row weights: ``cost:`` of SVMlight, or a file or column of weights.
    feature_names : list of d strings, or None
        Where the file names them.
    skipped : int
        Lines left out with on_error="skip".
    problems : tuple of str
        What was wrong with the first of them.
    description : tuple of str
        Sentences on how the file was understood, such as which columns were taken for what.
    """

    X: Any
    y: FloatArray | None
    qid: NDArray[Any] | None = None
    comments: Sequence[str] | None = None
    sample_weight: FloatArray | None = None
    feature_names: list[str] | None = None
    skipped: int = 0
    problems: tuple[str, ...] = ()
    description: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    @property
    def cost(self) -> FloatArray | None:
        """SVMlight's name for the row weights."""
        return self.sample_weight

    def document_ids(self, first: int = 1) -> list[str]:
        """The id of each row: what follows ``docid =`` in its comment, else the comment, else its number.

        Rows are numbered from `first`: in a chunk of a file, one more than the rows before it.
        """
        texts = self.comments if self.comments is not None else [""] * self.n_rows
        found = [(DOCID.search(text), text.strip()) for text in texts]
        return [match[1] if match else text or str(row) for row, (match, text) in enumerate(found, first)]

    def without_features(self) -> Dataset:
        """Labels, queries and weights, for whoever needs no more: of a scan, nothing is written for these."""
        return self

    def load(self) -> Dataset:
        """The data in memory, where it is already; of a scan, all that its files hold."""
        return self

    def chunks(self, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Dataset]:
        """The rows in their order, about `chunk_bytes` bytes of features at a time; a chunk ends where a query does.

        A query longer than that goes on in the next chunk.
        """
        start, step = 0, max(1, chunk_bytes * self.n_rows // max(1, n_bytes(self.X)))
        while start < self.n_rows:
            stop = min(start + step, self.n_rows)
            if stop < self.n_rows and self.qid is not None:
                stop = start + (last_change(self.qid[start : stop + 1]) or stop - start)
            yield self.rows(start, stop)
            start = stop

    def equal_chunks(self) -> Iterator[Dataset]:
        """Chunks that all have the same features: of a scan of SVMlight, its largest feature id is looked for first."""
        return self.chunks()

    def rows(self, start: int, stop: int) -> Dataset:
        """The rows from `start` up to `stop`."""
        part = slice(*slice(start, stop).indices(self.n_rows))
        names = ("y", "qid", "comments", "sample_weight")
        parts: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[part] for name in names
        }
        return replace(self, X=csr_part(self.X, part) if sp.issparse(self.X) else self.X[part], **parts)


def unpacked(X: Any, y: Any, qid: Any, sample_weight: Any = None) -> tuple[Any, Any, Any, Any]:
    """Features, labels, queries and weights; those of a Dataset where none are given beside it."""
    if not isinstance(X, Dataset):
        return X, y, qid, sample_weight
    own = X.y, X.qid, X.sample_weight
    return X.X, *(kept if given is None else given for kept, given in zip(own, (y, qid, sample_weight), strict=True))
