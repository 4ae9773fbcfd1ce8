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
from ...kernels.vectors import advance, turn


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
    rz = float(r @ p)
    for n in range(1, limit + 1):
        Hp = product(p)
        curvature = float(p @ Hp)
        if not curvature > 0:
            return Solved(best, n, False)
        before = rz
        rz, square, along = advance(x, r, p, Hp, rz / curvature, diagonal, least)
        # Between the best iterate and this one, the residual is least at t.
        t = min(max(-along / square, 0.0), 1.0) if square > 0 else 0.0
        turn(best, x, least, r, t, p, diagonal, rz / before)
        if enough(least):
            return Solved(best, n, True)
    return Solved(best, limit, False)
