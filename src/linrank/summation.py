"""Sums of N erfc or Gaussian functions at M points in O(M + N), to any accuracy: RankNCG, section 5."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcinv

from ._errors import DataError, ParameterError
from ._typing import FloatArray
from .kernels import erfc as kernels

__all__ = ["Parameters", "erfc_sums", "gauss_sums", "parameters"]


class Parameters(NamedTuple):
    """What an accuracy asks for: section 5.8, with r for cells on both sides."""

    r_x: float  # half the width of a cell
    reach: float  # how far apart the centres of cells are that interact by the series
    h: float
    p: int  # number of terms


def parameters(eps: float) -> Parameters:
    """The parameters for an error of at most eps times the sum of |q|.

    Two points of interacting cells are at most r = erfc^-1(eps) + 4 r_x apart (the paper's 2 r_x, once more for the
    target's cell); points of other cells more than erfc^-1(eps), where erfc is 0 or 2 to eps.
    """
    if not 0 < eps < 1:
        raise ParameterError(f"eps={eps!r} must lie between 0 and 1.")
    eps = max(eps, 1e-15)
    far = float(erfcinv(eps))
    r_x = 0.1 * far
    r = far + 4.0 * r_x
    h = np.pi / (3.0 * (r + float(erfcinv(eps / 2.0))))
    p = int(np.ceil(float(erfcinv(np.sqrt(np.pi) * h * eps / 4.0)) / (2.0 * h)))
    return Parameters(r_x, far + 2.0 * r_x, h, p)


def erfc_sums(y: ArrayLike, z: ArrayLike, q: ArrayLike, eps: float = 1e-6) -> FloatArray:
    """E(y_j) = sum over i of q_i erfc(y_j - z_i), within eps * sum |q_i|, in O((M + N) log(1/eps)).

    Parameters
    ----------
    y : (M,) where to evaluate.
    z, q : (N,) centres and weights, of either sign.
    eps : the error allowed, relative to sum |q|; rounding leaves about 1e-13 at best.

    Returns
    -------
    (M,) float64
    """
    return Series(_check("z", z), _check("q", q), parameters(eps)).erfc(_check("y", y))


def gauss_sums(y: ArrayLike, z: ArrayLike, q: ArrayLike, eps: float = 1e-6) -> FloatArray:
    """G(y_j) = sum over i of q_i exp(-(y_j - z_i)^2), within eps * sum |q_i|; arguments as those of `erfc_sums`."""
    # The slope of the series errs by up to 2 h n times more, and e^-t^2 exceeds erfc(t) by sqrt(pi) t.
    return Series(_check("z", z), _check("q", q), parameters(eps / 16.0)).gauss(_check("y", y))


def _check(name: str, values: ArrayLike) -> FloatArray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.all(np.isfinite(array)):
        raise DataError(f"{name} must be a vector of finite numbers.")
    return array


class Series:
    """Sources brought into cells, with the series' coefficients of each."""

    def __init__(self, z: FloatArray, q: FloatArray, parameters: Parameters) -> None:
        if z.size != q.size:
            raise DataError(f"There are {z.size} centres z and {q.size} weights q: give one weight for each.")
        self.r_x, self.reach, self.h, self.p = parameters
        order, ptr, self.centre = _cells(z, self.r_x)
        self.A, self.B = np.zeros((2, self.centre.size, self.p))
        q = q[order]
        kernels.source_series(ptr, z[order], q, self.centre, self.h, _work(), self.A, self.B)
        self.Q = np.add.reduceat(q, ptr[:-1]) if q.size else np.empty(0)
        n = 2.0 * np.arange(self.p) + 1.0
        self.damped = np.exp(-((n * self.h) ** 2))
        self.sine_weights = -4.0 / np.pi * self.damped / n
        self.cosine_weights = 4.0 * self.h / np.sqrt(np.pi) * self.damped

    def erfc(self, y: FloatArray) -> FloatArray:
        """Sums of erfc at y."""
        return self._erfc(y, self._turned(y))

    def gauss(self, y: FloatArray) -> FloatArray:
        """Sums of exp(-t^2) at y."""
        return self._gauss(y, self._turned(y))

    def erfc_and_gauss(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both sums at y."""
        turned = self._turned(y)
        return self._erfc(y, turned), self._gauss(y, turned)

    def _turned(self, y: FloatArray) -> _Turned:
        order, ptr, centre = _cells(y, self.r_x)
        C, D = np.empty((2, centre.size, self.p))
        near, right = np.empty((2, centre.size))
        kernels.turn_series(centre, self.centre, self.A, self.B, self.Q, self.reach, self.h, C, D, near, right)
        return _Turned(order, ptr, centre, C, D, near, right)

    def _erfc(self, y: FloatArray, t: _Turned) -> FloatArray:
        return self._evaluate(y, t, t.C * self.sine_weights, t.D * self.sine_weights, t.near + 2.0 * t.right)

    def _gauss(self, y: FloatArray, t: _Turned) -> FloatArray:
        # The sine of an angle a quarter turn ahead is its cosine.
        return self._evaluate(y, t, -t.D * self.cosine_weights, t.C * self.cosine_weights, np.zeros(t.near.size))

    def _evaluate(self, y: FloatArray, t: _Turned, C: FloatArray, D: FloatArray, base: FloatArray) -> FloatArray:
        answer, out = np.empty(y.size), np.empty(y.size)
        kernels.target_series(t.ptr, y[t.order], t.centre, self.h, C, D, base, _work(), answer)
        out[t.order] = answer
        return out


class _Turned(NamedTuple):
    """Targets by cells, with the series about each cell's centre of all that is within its reach."""

    order: NDArray[np.int64]
    ptr: NDArray[np.int64]
    centre: FloatArray
    C: FloatArray
    D: FloatArray
    near: FloatArray
    right: FloatArray


def _work() -> FloatArray:
    return np.empty((4, kernels.CHUNK))


def _cells(x: FloatArray, r_x: float) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Points by cells of width 2 r_x: their order, where each non-empty cell begins, and the centres, increasing."""
    if x.size == 0:
        return np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.empty(0)
    number = np.floor(x / (2.0 * r_x))  # not of x - min(x), which rounds where one point lies very far out
    low = number.min()
    if number.max() - low < 2**16:
        order = np.argsort((number - low).astype(np.uint16), kind="stable")  # numpy's radix sort: O(N)
    else:
        order = np.argsort(x, kind="stable")
    ordered = number[order]
    ptr = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True])
    # The cell's own middle rather than the grid's, whose rounding would count where points are far out.
    first, last = np.minimum.reduceat(x[order], ptr[:-1]), np.maximum.reduceat(x[order], ptr[:-1])
    return order, ptr, first + 0.5 * (last - first)
