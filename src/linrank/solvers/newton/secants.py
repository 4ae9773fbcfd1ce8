"""A preconditioner, or a Hessian itself, corrected by what the last steps have shown: limited-memory BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._typing import FloatArray


class Secant(NamedTuple):
    """A step s, and what it did to the mean loss's gradient, y: with c s added it serves for any penalty."""

    s: FloatArray
    y: FloatArray


def corrected(
    precondition: Callable[[FloatArray], FloatArray], secants: tuple[Secant, ...], c: float, r: FloatArray
) -> FloatArray:
    """The preconditioner times r, corrected so that each y + c s is taken to s, the last ones exactly.

    `precondition` takes vectors as columns, too.
    """
    if not secants:
        return precondition(r)
    pairs = [(s, y + c * s) for s, y in secants]
    sizes = [float(s @ y) for s, y in pairs]
    parts = []
    for (s, y), sy in zip(reversed(pairs), reversed(sizes), strict=True):
        parts.append(float(s @ r) / sy)
        r = r - parts[-1] * y
    z, Py = precondition(np.array([r, pairs[-1][1]]).T).T
    z = z * (sizes[-1] / float(pairs[-1][1] @ Py))  # the preconditioner may be too large or too small as a whole
    for (s, y), sy, part in zip(pairs, sizes, reversed(parts), strict=True):
        z = z + (part - float(y @ z) / sy) * s
    return z


#: A step that turns the gradient by less than this says nothing of the curvature.
FLAT = 1e-10
#: How far the matrix as a whole is scaled at most.
FARTHEST = 100.0


def corrected_matrix(H: FloatArray, secants: tuple[Secant, ...], c: float) -> FloatArray:
    """H corrected so that each (H + c) s is y + c s, the last ones exactly; c itself is left to the penalty.

    The compact form of BFGS: one product of d x 2n matrices for n steps (Byrd, Nocedal and Schnabel, theorem 2.3).
    """
    told = [(s, y + c * s) for s, y in secants]
    told = [(s, y) for s, y in told if float(s @ y) > FLAT * float(np.linalg.norm(s) * np.linalg.norm(y))]
    if not told:
        return H
    s, y = told[-1][0], told[-1][1] - c * told[-1][0]
    along = float(s @ H @ s)
    whole = min(max(float(s @ y) / along, 1.0 / FARTHEST), FARTHEST) if along > 0.0 else 1.0
    S, Y = (np.array(vectors).T for vectors in zip(*told, strict=True))
    BS, SY = whole * (H @ S) + c * S, S.T @ Y
    L = np.tril(SY, -1)
    middle = np.block([[S.T @ BS, L], [L.T, -np.diag(np.diag(SY))]])
    sides = np.hstack([BS, Y])
    try:
        correction = sides @ np.linalg.solve(middle, sides.T)
    except np.linalg.LinAlgError:  # steps that repeat each other
        return whole * H
    B: FloatArray = whole * H - 0.5 * (correction + correction.T)
    return B if np.all(np.isfinite(B)) else whole * H
