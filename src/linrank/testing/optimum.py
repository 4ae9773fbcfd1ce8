"""The minimum of f found without the library: every pair is listed, and values are summed in extended precision.

Any w bounds the minimum from above, so a certificate that contradicts `Optimum.value` is false, whatever may be wrong
here; `lower` says how close to the minimum that is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from ..losses import Loss
from .naive import Pairs, Phi, naive_phi

#: Steps of Newton's method, or of the interior point method, at most.
MOST = 200
#: How much of the complementarity a step of the interior point method leaves, and how close to its ends it goes.
LEFT, NEAR = 0.1, 0.99


class Optimum(NamedTuple):
    """A point, its value, and a lower bound of the minimum."""

    w: FloatArray
    value: float
    lower: float


class NaiveObjective:
    """alpha/2 |w|^2 + the mean of c phi(D w), D the differences of features pair by pair."""

    def __init__(self, loss: Loss, X: FloatArray, pairs: Pairs, alpha: float, scale: FloatArray | None = None) -> None:
        exact = np.asarray(X, dtype=np.longdouble) / (1.0 if scale is None else scale.astype(np.longdouble))
        self.D = exact[pairs.winner] - exact[pairs.loser]
        self.sizes = np.abs(exact[pairs.winner]) + np.abs(exact[pairs.loser])
        self.c = pairs.c.astype(np.longdouble) / pairs.c.astype(np.longdouble).sum()
        self.alpha, self.phi = np.longdouble(alpha), _extended(loss)

    def value(self, w: FloatArray) -> float:
        """f(w)."""
        w = w.astype(np.longdouble)
        return self.alpha / 2 * (w * w).sum() + (self.c * self.phi.value(_dot(self.D, w))).sum()

    def gradient(self, w: FloatArray) -> FloatArray:
        """A (sub)gradient of f."""
        return self.alpha * w + _dot(self.D.T, self.c * self.phi.slope(_dot(self.D, w)))

    def rounding(self, w: FloatArray) -> float:
        """How far f(w) moves where scores are off by some units in their last place, all to the worst side."""
        z, off = _dot(self.D, w), 4.0 * np.finfo(np.float64).eps * _dot(self.sizes, np.abs(w))
        return (self.c * (self.phi.value(z - off) - self.phi.value(z + off))).sum()

    def minimum(self) -> Optimum:
        """Its minimum, by Newton's method where phi is smooth."""
        with np.errstate(all="ignore"):  # an interior point method ends where numbers do
            return self._interior_point() if self.phi.curvature is None else self._newton()

    def _newton(self) -> Optimum:
        """Gradients in extended precision, so that steps solved in double precision mend each other's rounding."""
        assert self.phi.curvature is not None
        D, w = self.D.astype(float), np.zeros(self.D.shape[1], dtype=np.longdouble)
        value = self.value(w)
        for _ in range(MOST):
            g = self.gradient(w)
            weight = (self.c * self.phi.curvature(_dot(self.D, w))).astype(float)
            d = -_solve(D.T @ (weight[:, None] * D), float(self.alpha), g.astype(float))
            t, least = 1.0, value
            while t > 1e-12 and not self.value(w + t * d) < value:
                t *= 0.5
            w, value = (w + t * d, self.value(w + t * d)) if t > 1e-12 else (w, value)
            if not value < least:
                break
        g = self.gradient(w)
        return Optimum(w, value, max(value - (g * g).sum() / (2 * self.alpha), 0.0))

    def _interior_point(self) -> Optimum:
        """The hinge: slacks xi of the pairs and s = xi - 1 + D w, with multipliers b = c - a and a."""
        D, c, alpha = self.D.astype(float), self.c.astype(float), float(self.alpha)
        w, xi, s, a, b = np.zeros(D.shape[1]), np.full(c.size, 2.0), np.ones(c.size), c / 2, c / 2
        best = Optimum(w, self.value(w), 0.0)
        for _ in range(MOST):
            mu = LEFT * float(s @ a + xi @ b) / (2 * c.size)
            theta = 1.0 / (s / a + xi / b)
            right = theta * (mu / a - mu / b + 1.0 - D @ w)
            dw = _solve(D.T @ (theta[:, None] * D), alpha, D.T @ a - alpha * w + D.T @ right)
            da = right - theta * (D @ dw)
            dxi, ds = (mu - xi * b + xi * da) / b, (mu - s * a - s * da) / a
            t = min(1.0, *(NEAR * _reach(x, dx) for x, dx in ((a, da), (b, -da), (xi, dxi), (s, ds))))
            w, xi, s, a, b = w + t * dw, xi + t * dxi, s + t * ds, a + t * da, b - t * da
            found = best._replace(lower=max(best.lower, self._dual(a)))
            for point in (w, (D.T @ np.clip(a, 0, c)) / alpha):
                if np.all(np.isfinite(point)) and self.value(point) < found.value:
                    found = found._replace(w=point, value=self.value(point))
            if mu < 1e-17 or not np.all(np.isfinite(w)):
                break
            best = found
        return best

    def _dual(self, a: FloatArray) -> float:
        """sum(a) - |D^T a|^2 / (2 alpha), for 0 <= a <= c."""
        a = np.clip(a.astype(np.longdouble), 0, self.c)
        v = _dot(self.D.T, a)
        return a.sum() - (v * v).sum() / (2 * self.alpha)


def _extended(loss: Loss) -> Phi:
    """Phi in extended precision, but for erfc."""
    phi = naive_phi(loss)
    assert phi is not None
    if loss.name == "logistic":  # scipy's, of large numbers, are in double precision
        tail = lambda z: np.exp(-np.logaddexp(np.longdouble(0), z))  # noqa: E731
        return Phi(phi.value, lambda z: -tail(z), lambda z: tail(z) * tail(-z))
    if loss.name == "logistic_erfc":
        return Phi(*(lambda z, f=f: f(z.astype(float)) for f in phi))
    return phi


def _dot(A: FloatArray, x: FloatArray) -> Any:
    """A x, in the precision of both: BLAS knows none beyond double."""
    return np.einsum("ij,j->i", A, x)


def _reach(x: FloatArray, dx: FloatArray) -> float:
    """The t at which x + t dx meets 0; infinite where it does not."""
    falling = dx < 0
    return float(np.min(x[falling] / -dx[falling], initial=np.inf))


def _solve(H: FloatArray, alpha: float, r: FloatArray) -> NDArray[np.float64]:
    """(H + alpha)^-1 r, by eigenvalues: H is positive semidefinite but for rounding."""
    size, Q = np.linalg.eigh(H)
    return Q @ ((Q.T @ r) / (np.maximum(size, 0.0) + alpha))
