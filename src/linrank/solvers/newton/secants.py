"""A preconditioner corrected by what the last steps have shown: the two loops of limited-memory BFGS."""

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
