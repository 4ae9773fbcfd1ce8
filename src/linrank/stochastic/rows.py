"""The rows that steps are made on: the one place that asks how they are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from ..data.mapped import unlocked
from ..kernels import stochastic as kernels


class Rows(ABC):
    """Validated features, row by row."""

    X: Any
    is_cheap_to_sample = False  # whether some of the rows tell what the columns hold

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    @abstractmethod
    def entries_a_row(self) -> int:
        """How many numbers a row holds, rounded up."""

    @property
    def bytes_a_row(self) -> float:
        """Memory of a row."""
        return sum(array.nbytes for array in self.arrays().values()) / max(1, self.shape[0])

    @abstractmethod
    def work(self) -> Any:
        """Memory that `steps` needs beside its arguments."""

    @abstractmethod
    def steps(
        self, rule: kernels.Rule, metric: FloatArray | None, winner: IntArray, loser: IntArray, descent: Any, work: Any
    ) -> None:
        """Steps on these pairs; they change `descent.v`, `descent.b` and `descent.state`."""

    @abstractmethod
    def divided(self, scale: FloatArray) -> Rows:
        """A copy with its columns divided."""

    @abstractmethod
    def take(self, rows: IntArray) -> Rows:
        """A copy of some rows."""

    @abstractmethod
    def above(self, other: Rows) -> Rows:
        """These rows and, below them, others, stored as these are."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What it consists of, by name: for checkpoints and digests."""


class DenseRows(Rows):
    """A numpy array."""

    is_cheap_to_sample = True

    def __init__(self, X: NDArray[Any]) -> None:
        self.X = X

    @property
    def entries_a_row(self) -> int:
        """Columns."""
        return self.shape[1]

    def work(self) -> None:
        """None is needed."""

    def steps(self, rule: Any, metric: Any, winner: Any, loser: Any, descent: Any, work: Any) -> None:
        """O(d) a step."""
        X = unlocked(self.X)
        kernels.dense_steps(X, metric, winner, loser, rule, descent.t, descent.v, descent.b, descent.state)

    def divided(self, scale: FloatArray) -> DenseRows:
        """A copy with its columns divided."""
        return DenseRows(self.X / scale)

    def take(self, rows: IntArray) -> DenseRows:
        """A copy of some rows."""
        return DenseRows(np.take(self.X, rows, axis=0))

    def above(self, other: Rows) -> DenseRows:
        """These rows and, below them, others."""
        below = other.X if isinstance(other, DenseRows) else other.X.toarray()
        return DenseRows(np.vstack([self.X, below]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The array."""
        return {"X": self.X}


class SparseRows(Rows):
    """A CSR matrix without duplicates."""

    def __init__(self, X: Any) -> None:
        self.X = X

    @property
    def entries_a_row(self) -> int:
        """Non-zeros of a row, on average."""
        return -(-self.X.nnz // max(1, self.shape[0]))

    def work(self) -> FloatArray:
        """Zeros, one a column."""
        return np.zeros(self.shape[1])

    def steps(self, rule: Any, metric: Any, winner: Any, loser: Any, descent: Any, work: Any) -> None:
        """O(non-zeros of the two rows) a step."""
        X, d = self.X, descent
        here = unlocked(X.data), unlocked(X.indices), unlocked(X.indptr), metric, winner, loser
        kernels.csr_steps(*here, rule, d.t, d.v, d.b, d.state, work)

    def divided(self, scale: FloatArray) -> SparseRows:
        """A copy with its columns divided."""
        X = self.X.copy()
        X.data = self.X.data / scale[self.X.indices]
        return SparseRows(X)

    def take(self, rows: IntArray) -> SparseRows:
        """A copy of some rows."""
        return SparseRows(self.X[rows])

    def above(self, other: Rows) -> SparseRows:
        """These rows and, below them, others."""
        return SparseRows(sp.vstack([self.X, sp.csr_matrix(other.X)], format="csr"))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Data, indices and indptr."""
        return {"data": self.X.data, "indices": self.X.indices, "indptr": self.X.indptr}


def as_rows(X: Any) -> Rows:
    """Wrap validated features."""
    return SparseRows(X) if sp.issparse(X) else DenseRows(X)


def from_arrays(arrays: Mapping[str, NDArray[Any]], shape: Sequence[int]) -> Rows:
    """Rows of that shape from what `arrays` gave; a ValueError where they do not fit, or an entry lies outside."""
    if set(arrays) == {"X"}:
        X = arrays["X"]
        if X.shape != tuple(shape) or X.dtype.kind != "f":
            raise ValueError("its rows have another shape")
        return DenseRows(X)
    data, indices, indptr = (arrays[name] for name in ("data", "indices", "indptr"))
    sizes = data.ndim == indices.ndim == 1 and data.size == indices.size and indptr.shape == (shape[0] + 1,)
    if not sizes or data.dtype.kind != "f" or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise ValueError("its rows have another shape")
    rows = indptr[0] == 0 and indptr[-1] == indices.size and bool(np.all(indptr[1:] >= indptr[:-1]))
    if not rows or (indices.size > 0 and not 0 <= indices.min() <= indices.max() < shape[1]):
        raise ValueError("its rows lead out of their bounds")  # scipy misses what ends below 0
    return SparseRows(sp.csr_matrix((data, indices, indptr), shape=tuple(shape)))
