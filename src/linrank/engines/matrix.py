"""X as a linear map, by blocks of rows: the one place that knows whether it is dense or sparse.

Products accumulate in float64 whatever X holds, and never copy X. BLAS multiplies float64 features while a cache holds
them, kernels the others, float32 ones widened as they are read. Other sums widen a cache-sized piece at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError
from .._typing import FloatArray, IntArray
from ..data.device import on_host
from ..data.mapped import Ahead, csr, room_beside, rows_of, unlocked
from ..data.missing import replace_missing
from ..data.ranking_data import RankingData
from ..kernels import products
from ..kernels import scores as row_scores

BLOCK_ENTRIES = 1 << 19  # entries of X in a block of work
PIECE_ENTRIES = 1 << 14  # entries widened to float64 at a time: they stay in the cache
MAX_BLOCKS = 64
STREAMED_BYTES, STREAMED_COLUMNS = 1 << 24, 32  # from here on kernels read float64 rows from memory faster than BLAS
FLOAT32_ENTRIES = 1 << 17  # of a sparse matrix that is worth a copy in float32: with fewer, all lie in the cache


class Matrix(ABC):
    """A fixed matrix with m rows and d columns, cut into blocks of rows by its own size alone."""

    shape: tuple[int, int]
    cuts: NDArray[np.int64]

    @property
    def n_blocks(self) -> int:
        """Number of blocks of rows."""
        return self.cuts.size - 1

    def rows(self, block: int) -> tuple[int, int]:
        """First row of a block, and the row after its last; the block after it will be asked for next."""
        first, last = int(self.cuts[block]), int(self.cuts[block + 1])
        self.ask_ahead(last, int(self.cuts[min(block + 2, self.n_blocks)]))
        return first, last

    @abstractmethod
    def ask_ahead(self, first: int, last: int) -> None:
        """Have rows read that will be asked for next, where they lie in a file."""

    def in_float32(self) -> Matrix | None:
        """The matrix in float32, whose products are faster; None where they are not."""
        return None

    @abstractmethod
    def dot(self, w: FloatArray, block: int, out: FloatArray) -> None:
        """out[rows] = X[rows] w."""

    @abstractmethod
    def transpose_dot(self, g: FloatArray, block: int) -> FloatArray:
        """X[rows]^T g[rows]."""

    def predict(self, w: FloatArray) -> FloatArray:
        """X w for users: a row's score depends on the row alone, where `dot` takes what is fastest."""
        scores, lanes = np.empty(self.shape[0]), np.empty((row_scores.LANES, row_scores.TILE))
        w = np.ascontiguousarray(w, dtype=np.float64)
        for block in range(self.n_blocks):  # between blocks Ctrl-C is taken
            self._predict(w, *self.rows(block), lanes, scores)
        return scores

    @abstractmethod
    def _predict(self, w: FloatArray, first: int, last: int, lanes: FloatArray, out: FloatArray) -> None:
        """out[first:last] = X[first:last] w, by the sums that `kernels/scores.py` defines."""

    @abstractmethod
    def first_look(self, v: FloatArray, share: FloatArray, block: int) -> FloatArray:
        """Of each column over the block's rows: largest |x|, weight v of those not 0, sums of share x and share x^2.

        A table of a row for each column. The sum of squares is NaN where it waits for the mean.
        """

    @abstractmethod
    def squared_deviations(self, v: FloatArray, mean: FloatArray, unit: FloatArray, block: int) -> FloatArray:
        """Sum over the block's rows of v_i ((X_ij - mean_j) / unit_j)^2, for each column j."""

    @abstractmethod
    def largest_square(self, unit: FloatArray, block: int) -> float:
        """Largest squared norm of a row of the block, its columns divided by `unit`."""


class DenseMatrix(Matrix):
    """A numpy array, float32 or float64, in C or F order."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.X = unlocked(X)
        self.shape = X.shape
        self._ahead = Ahead(X)
        n_blocks = max(1, min(MAX_BLOCKS, X.size // BLOCK_ENTRIES, X.shape[0]))  # a block has a row at least
        cuts = [0, X.shape[0]] if n_blocks == 1 else np.linspace(0, X.shape[0], n_blocks + 1)
        self.cuts = np.array(cuts, dtype=np.int64)
        streamed = X.flags.c_contiguous and X.shape[1] >= STREAMED_COLUMNS and X.nbytes >= STREAMED_BYTES
        self.blas = X.dtype == np.float64 and not streamed

    def ask_ahead(self, first: int, last: int) -> None:
        """Have rows read."""
        self._ahead.ask(first, last)

    def _pieces(self, block: int) -> Any:
        first, last = self.rows(block)
        if self.X.dtype == np.float64:
            yield first, last, self.X[first:last]
            return
        step = max(1, PIECE_ENTRIES // max(1, self.shape[1]))
        for start in range(first, last, step):
            end = min(start + step, last)
            yield start, end, self.X[start:end].astype(np.float64)

    def dot(self, w: FloatArray, block: int, out: FloatArray) -> None:
        """out[rows] = X[rows] w."""
        first, last = self.rows(block)
        if self.blas:
            np.matmul(self.X[first:last], w, out=out[first:last])  # np.dot would copy a slice in F order
        elif self.X.flags.c_contiguous:
            products.row_sums(self.X, w, first, last, 0, w.size, out)
        else:
            out[first:last] = 0.0
            products.column_sums(self.X.T, w, 0, w.size, first, last, out)

    def transpose_dot(self, g: FloatArray, block: int) -> FloatArray:
        """X[rows]^T g[rows]."""
        first, last = self.rows(block)
        if self.blas:
            product: FloatArray = np.matmul(g[first:last], self.X[first:last])
            return product
        total = np.zeros(self.shape[1])
        if self.X.flags.c_contiguous:
            products.column_sums(self.X, g, first, last, 0, total.size, total)
        else:
            products.row_sums(self.X.T, g, 0, total.size, first, last, total)
        return total

    def _predict(self, w: FloatArray, first: int, last: int, lanes: FloatArray, out: FloatArray) -> None:
        if self.X.flags.c_contiguous:
            row_scores.scores_by_rows(self.X, w, first, last, out)
        else:
            row_scores.scores_by_columns(self.X.T, w, first, last, lanes, out)

    def first_look(self, v: FloatArray, share: FloatArray, block: int) -> FloatArray:
        """Largest |x|, weight of those not 0, mean; squares wait, as means may be most of them."""
        first, last = self.rows(block)
        largest = np.maximum(self.X[first:last].max(axis=0), -self.X[first:last].min(axis=0)).astype(np.float64)
        squares = np.full(self.shape[1], np.nan)
        return np.array([largest, self._nonzeros(v, block), self.transpose_dot(share, block), squares]).T

    def _nonzeros(self, v: FloatArray, block: int) -> FloatArray:
        total = np.zeros(self.shape[1])
        if self.X.flags.c_contiguous:
            products.column_nonzeros(self.X, v, *self.rows(block), 0, total.size, total)
        else:
            products.row_nonzeros(self.X.T, v, 0, total.size, *self.rows(block), total)
        return total

    def squared_deviations(self, v: FloatArray, mean: FloatArray, unit: FloatArray, block: int) -> FloatArray:
        """Sum of v_i ((X_ij - mean_j) / unit_j)^2 over the block."""
        total = np.zeros(self.shape[1])
        for start, end, piece in self._pieces(block):
            total += v[start:end] @ np.square((piece - mean) / unit)
        return total

    def largest_square(self, unit: FloatArray, block: int) -> float:
        """Largest squared norm of a row of the block."""
        squares = (np.square(piece / unit).sum(axis=1).max(initial=0.0) for _, _, piece in self._pieces(block))
        return float(max(squares, default=0.0))


class SparseMatrix(Matrix):
    """A scipy CSR matrix or array without duplicate entries."""

    def __init__(self, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> None:
        self._ahead = Ahead(data), Ahead(indices)
        self.data, self.indices, self.indptr = unlocked(data), unlocked(indices), unlocked(indptr)
        self.shape = shape
        # A block's X^T g is a vector of d numbers: few enough blocks that adding those up costs little.
        most = min(MAX_BLOCKS, data.size // BLOCK_ENTRIES, data.size // (8 * max(1, shape[1])))
        wanted = np.linspace(0, data.size, max(1, most) + 1)
        self.cuts = np.searchsorted(indptr, wanted).astype(np.int64)
        self.cuts[0], self.cuts[-1] = 0, shape[0]

    def ask_ahead(self, first: int, last: int) -> None:
        """Have rows read."""
        for array in self._ahead:
            array.ask(int(self.indptr[first]), int(self.indptr[last]))

    def in_float32(self) -> SparseMatrix | None:
        """A float32 copy, its indices as short as can be; None where that loses more than digits or gains nothing."""
        if self.data.dtype != np.float64 or self.data.size < FLOAT32_ENTRIES:
            return None
        data = room_beside(self.data, self.data.shape, np.float32)
        if not products.round_entries(self.data, data):
            return None
        indices = self.indices
        if self.shape[1] <= 1 << 16:
            indices = room_beside(self.data, self.data.shape, np.uint16)
            np.copyto(indices, self.indices, casting="unsafe")
        return SparseMatrix(data, indices, self.indptr, self.shape)

    def take(self, rows: IntArray) -> SparseMatrix:
        """Some of the rows."""
        X = rows_of(csr(self.data, self.indices, self.indptr, self.shape), rows)
        return SparseMatrix(X.data, X.indices, X.indptr, X.shape)

    def dot(self, w: FloatArray, block: int, out: FloatArray) -> None:
        """out[rows] = X[rows] w."""
        products.csr_dot(self.data, self.indices, self.indptr, w, *self.rows(block), out)

    def transpose_dot(self, g: FloatArray, block: int) -> FloatArray:
        """X[rows]^T g[rows]."""
        total = np.zeros(self.shape[1])
        products.csr_transpose_dot(self.data, self.indices, self.indptr, g, *self.rows(block), total)
        return total

    def _predict(self, w: FloatArray, first: int, last: int, lanes: FloatArray, out: FloatArray) -> None:
        row_scores.scores_of_sparse(self.data, self.indices, self.indptr, w, first, last, lanes, out)

    def first_look(self, v: FloatArray, share: FloatArray, block: int) -> FloatArray:
        """Largest |x|, weight of those not 0, mean, mean square."""
        table = np.zeros((self.shape[1], 4))
        products.csr_first_look(self.data, self.indices, self.indptr, v, share, *self.rows(block), table)
        return table

    def squared_deviations(self, v: FloatArray, mean: FloatArray, unit: FloatArray, block: int) -> FloatArray:
        """Sum of v_i ((X_ij - mean_j) / unit_j)^2 over the block, its zeros included."""
        first, last = self.rows(block)
        table = np.zeros((self.shape[1], 4))
        table[:, 0], table[:, 1] = mean, 1.0 / unit
        products.csr_squared_deviations(self.data, self.indices, self.indptr, v, first, last, table)
        total, seen = table[:, 2], table[:, 3]
        rows = float(v[first:last].sum())
        zeros = np.where(rows - seen > 1e-12 * rows, rows - seen, 0.0)  # or the sums' rounding would count as zeros
        return total + zeros * np.square(mean / unit)

    def largest_square(self, unit: FloatArray, block: int) -> float:
        """Largest squared norm of a row of the block."""
        return float(products.csr_largest_square(self.data, self.indices, self.indptr, unit, *self.rows(block)))


def predict(X: Any, w: FloatArray, fill: FloatArray | None = None, intercept: float | None = None) -> FloatArray:
    """Scores X w [+ intercept] of validated features, NaN replaced by its column's `fill`; each by its row alone."""
    if X.shape[1] != w.size:
        raise DataError(f"X has {X.shape[1]} features, but the model has {w.size}: give the features it was fitted to.")
    X = on_host(X)
    if fill is not None:
        X = replace_missing(X, fill)
    if sp.issparse(X) and not X.has_sorted_indices:  # sums are taken in the order of the columns
        X = X.sorted_indices()
    scores = as_matrix(X).predict(w)
    return scores if intercept is None else scores + intercept


def score_rows(data: RankingData, w: FloatArray) -> FloatArray:
    """Scores of all rows of a data set in this process: for metrics, which look at every row."""
    return predict(data.X, w)


def fits_float32(data: NDArray[Any]) -> bool:
    """Whether rounding to float32 takes digits alone."""
    if data.dtype == np.float32:
        return True
    size = np.abs(data)
    return bool(np.all((size <= products.LARGEST) & ((size >= products.SMALLEST) | (size == 0.0))))


def as_matrix(X: Any) -> Matrix:
    """Wrap validated features."""
    return SparseMatrix(X.data, X.indices, X.indptr, X.shape) if sp.issparse(X) else DenseMatrix(X)
