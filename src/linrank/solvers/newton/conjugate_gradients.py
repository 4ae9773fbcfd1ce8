"""Conjugate gradients for a Newton direction, which end as soon as the certificate cannot ask for more.

They are preconditioned by a diagonal, and their residuals are smoothed: of all combinations of the last iterate and the
best one so far, that of the least residual is kept (Schoenauer's minimal residual smoothing). The certificate looks at
the norm of the residual, which plain conjugate gradients let rise and fall.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._typing import FloatArray
from ._vectors import add


class Solved(NamedTuple):
    """An approximate solution of H x = b, the products it took, and whether it is good enough."""

    x: FloatArray
    products: int
    good: bool


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    b: FloatArray,
    diagonal: FloatArray | None,
    enough: Callable[[FloatArray], bool],
    limit: int,
) -> Solved:
    """Solve H x = b until `enough` says so of the residual b - H x, with at most `limit` products H p.

    `diagonal` stands for H (None: the identity). The vectors that `product` and `enough` are given change afterwards.
    O(d) a product, beside it.
    """
    x, r = np.zeros_like(b), b.copy()
    best, least = x.copy(), b.copy()  # the smoothed iterate, and its residual
    p = b.copy() if diagonal is None else b / diagonal
    z, rz = np.empty_like(b), float(r @ p)
    for n in range(1, limit + 1):
        Hp = product(p)
        curvature = float(p @ Hp)
        if not curvature > 0:
            return Solved(best, n, False)
        add(rz / curvature, p, x)
        add(-rz / curvature, Hp, r)
        _smooth(best, least, x, r, z)
        if enough(least):
            return Solved(best, n, True)
        z = r.copy() if diagonal is None else np.divide(r, diagonal, out=z)
        rz, before = float(r @ z), rz
        p *= rz / before
        p += z
    return Solved(best, limit, False)


def _smooth(best: FloatArray, least: FloatArray, x: FloatArray, r: FloatArray, change: FloatArray) -> None:
    """Move the best iterate towards another one as far as its residual falls; `change` is room for a vector."""
    np.subtract(r, least, out=change)
    size = float(change @ change)
    t = min(-float(least @ change) / size, 1.0) if size > 0 else 0.0
    if not t > 0:  # or not a number
        return
    best *= 1.0 - t
    add(t, x, best)
    add(t, change, least)
