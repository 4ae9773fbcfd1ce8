"""What solvers do with long vectors, in place: fresh ones cost more, for their pages, than what is done with them."""

from __future__ import annotations

from scipy.linalg.blas import daxpy

from ..._typing import FloatArray


def add(a: float, x: FloatArray, y: FloatArray) -> None:
    """Add a x to y, both contiguous."""
    daxpy(x, y, a=a)
