"""X on a device, as a linear map: dense, or CSR with its transpose beside it. Sums are float64 whatever X holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from .ops import Tensor, segment_sums

#: Entries of X that are widened to float64, or worked on, at a time: 32 MB.
BLOCK_ENTRIES = 1 << 22


class DeviceMatrix(ABC):
    """A fixed matrix with m rows and d columns."""

    shape: tuple[int, int]
    device: Any

    @abstractmethod
    def dot(self, w: Tensor) -> Tensor:
        """X w."""

    @abstractmethod
    def transpose_dot(self, g: Tensor) -> Tensor:
        """X^T g."""

    @abstractmethod
    def dense(self, rows: Tensor) -> Tensor:
        """Some rows, dense and float64."""

    @abstractmethod
    def columns(self, v: Tensor, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of each column sum of share x, root of the sum of share (x - that)^2, and sum of v over x != 0."""

    @abstractmethod
    def ranges(self) -> Tensor:
        """Of each column how far its values are apart at most, and the largest of them in size: (2, d)."""

    @abstractmethod
    def largest_square(self, unit: Tensor) -> Tensor:
        """Largest squared norm of a row, the columns divided by `unit`."""


class DenseDeviceMatrix(DeviceMatrix):
    """A tensor in C or F order; float64 is multiplied as it stands, float32 widened block by block."""

    def __init__(self, X: Tensor) -> None:
        self.X, self.shape, self.device = X, tuple(X.shape), X.device
        self.step = max(1, BLOCK_ENTRIES // max(1, self.shape[1]))

    def _blocks(self) -> Iterator[tuple[slice, Tensor]]:
        for first in range(0, self.shape[0], self.step):
            here = slice(first, first + self.step)
            yield here, self.X[here].to(torch.float64)

    def dot(self, w: Tensor) -> Tensor:
        """X w."""
        if self.X.dtype == torch.float64:
            return self.X @ w
        return torch.cat([block @ w for _, block in self._blocks()])

    def transpose_dot(self, g: Tensor) -> Tensor:
        """X^T g."""
        if self.X.dtype == torch.float64:
            return self.X.t() @ g
        total = torch.zeros(self.shape[1], dtype=torch.float64, device=self.device)
        for here, block in self._blocks():
            total += block.t() @ g[here]
        return total

    def dense(self, rows: Tensor) -> Tensor:
        """Some rows."""
        return self.X[rows].to(torch.float64)

    def columns(self, v: Tensor, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Two passes."""
        mean = self.transpose_dot(share)
        zeros = torch.zeros_like(mean)
        largest, squares, nonzero = zeros.clone(), zeros.clone(), zeros.clone()
        for _, block in self._blocks():
            largest = torch.maximum(largest, block.abs().amax(0))
        unit = torch.where(largest > 0, largest, 1.0)  # squares of numbers up to 1 neither over- nor underflow
        for here, block in self._blocks():
            squares += share[here] @ ((block - mean) / unit).square()
            nonzero += v[here] @ (block != 0).to(torch.float64)
        return mean, unit * squares.sqrt(), nonzero

    def ranges(self) -> Tensor:
        """Block by block."""
        ends = [torch.stack([block.amin(0), block.amax(0)]) for _, block in self._blocks()]
        low, high = torch.stack(ends).amin(0)[0], torch.stack(ends).amax(0)[1]
        return torch.stack([high - low, torch.maximum(high.abs(), low.abs())])

    def largest_square(self, unit: Tensor) -> Tensor:
        """Block by block."""
        found = [(block / unit).square().sum(1).max() for _, block in self._blocks()]
        return torch.stack(found).max()


class SparseDeviceMatrix(DeviceMatrix):
    """CSR, and the CSR of its transpose: both products add up runs of entries, each in one thread and in order."""

    def __init__(self, X: Any, device: Any) -> None:
        self.shape, self.device = X.shape, device
        self.values, self.column, self.ptr = (self._put(a) for a in (X.data, X.indices, X.indptr.astype(np.int64)))
        flipped = sp.csr_array(X.T)
        self.by_column = tuple(self._put(a) for a in (flipped.data, flipped.indices, flipped.indptr.astype(np.int64)))

    def _put(self, array: Any) -> Tensor:
        return torch.from_dlpack(np.ascontiguousarray(array)).to(self.device)

    def dot(self, w: Tensor) -> Tensor:
        """X w."""
        return segment_sums(self.values * w[self.column], self.ptr)

    def transpose_dot(self, g: Tensor) -> Tensor:
        """X^T g."""
        values, row, ptr = self.by_column
        return segment_sums(values * g[row], ptr)

    def dense(self, rows: Tensor) -> Tensor:
        """Some rows: each entry is written once."""
        first, size = self.ptr[rows], self.ptr[rows + 1] - self.ptr[rows]
        at = torch.repeat_interleave(torch.arange(rows.shape[0], device=self.device), size)
        begin = torch.cumsum(size, 0) - size
        entry = first[at] + torch.arange(at.shape[0], device=self.device) - begin[at]
        out = torch.zeros(rows.shape[0], self.shape[1], dtype=torch.float64, device=self.device)
        out[at, self.column[entry].to(torch.int64)] = self.values[entry].to(torch.float64)
        return out

    def columns(self, v: Tensor, share: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """By the transpose; the zeros count as well."""
        values, row, ptr = self.by_column
        values, column = values.to(torch.float64), torch.repeat_interleave(ptr[1:] - ptr[:-1])
        mean = segment_sums(values * share[row], ptr)
        largest = torch.segment_reduce(values.abs(), "max", offsets=ptr, initial=0.0)
        unit = torch.where(largest > 0, largest, 1.0)
        squares = segment_sums(share[row] * ((values - mean[column]) / unit[column]).square(), ptr)
        rest = 1.0 - segment_sums(share[row], ptr)
        zeros = torch.where(rest > 1e-12, rest, 0.0)  # or the sums' rounding would count as zeros
        squares = squares + zeros * (mean / unit).square()
        return mean, unit * squares.sqrt(), segment_sums(v[row] * (values != 0), ptr)

    def ranges(self) -> Tensor:
        """By the transpose; 0 is taken for a value of every column."""
        values, _, ptr = self.by_column
        ends = (torch.segment_reduce(sign * values, "max", offsets=ptr, initial=0.0) for sign in (1.0, -1.0))
        high, low = (end.to(torch.float64) for end in ends)
        return torch.stack([high + low, torch.maximum(high, low)])

    def largest_square(self, unit: Tensor) -> Tensor:
        """Row by row."""
        return segment_sums((self.values / unit[self.column]).square(), self.ptr).max()


def on_device(X: Any, device: Any) -> DeviceMatrix:
    """X brought to a device; a tensor that lies there is used where it lies, an array on the CPU shares its memory."""
    if sp.issparse(X):
        return SparseDeviceMatrix(X, device)
    return DenseDeviceMatrix((X if torch.is_tensor(X) else torch.from_dlpack(X)).to(device))
