"""Conjugate gradients for a Newton direction, which end as soon as the certificate cannot ask for more.

They are preconditioned by a diagonal, and their residuals are smoothed: of all combinations of the last iterate and the
best one so far, that of the least residual is kept (Schoenauer's minimal residual smoothing). The certificate looks at
the norm of the residual, which plain conjugate gradients let rise and fall.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..._typing import FloatArray


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

    `diagonal` stands for H (None: the identity). O(d) a product, beside it.
    """
    x, r = b * 0.0, b
    best, least = x, r  # the smoothed iterate, and its residual
    p = z = r if diagonal is None else r / diagonal
    rz = float(r @ z)
    for n in range(1, limit + 1):
        Hp = product(p)
        curvature = float(p @ Hp)
        if not curvature > 0:
            return Solved(best, n, False)
        step = rz / curvature
        x, r = x + step * p, r - step * Hp
        best, least = _smoothed(best, least, x, r)
        if enough(least):
            return Solved(best, n, True)
        z = r if diagonal is None else r / diagonal
        rz, before = float(r @ z), rz
        p = z + (rz / before) * p
    return Solved(best, limit, False)


def _smoothed(best: FloatArray, least: FloatArray, x: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The point between two iterates whose residual is least, and that residual."""
    change = r - least
    size = float(change @ change)
    t = -float(least @ change) / size if size > 0 else 0.0
    if not t > 0:
        return best, least
    if t >= 1:
        return x, r
    return best + t * (x - best), least + t * change
