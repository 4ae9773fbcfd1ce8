"""A preconditioner, or a Hessian itself, corrected by what the last steps have shown: limited-memory BFGS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..._once import cached_property
from ..._typing import FloatArray
from ._vectors import add


@dataclass(frozen=True, eq=False)
class Secant:
    """A step s, and what it did to the mean loss's gradient, y: with c s added it serves for any penalty."""

    s: FloatArray
    y: FloatArray
    _changes: dict[float, FloatArray] = field(default_factory=dict, repr=False)

    def __iter__(self) -> Iterator[FloatArray]:
        return iter((self.s, self.y))

    @cached_property
    def curvature(self) -> float:
        """Of the mean loss along the step: s.y."""
        return float(self.s @ self.y)

    @cached_property
    def square(self) -> float:
        """|s|^2."""
        return float(self.s @ self.s)

    def change(self, c: float) -> FloatArray:
        """What it did to the gradient of f, y + c s; kept, as a fit has one c."""
        if c not in self._changes:
            self._changes.clear()
            self._changes[c] = self.y + c * self.s
        return self._changes[c]


#: From r and a change y: P r, P the preconditioner, and y.P y, which tells how large P is.
Precondition = Callable[[FloatArray, FloatArray], tuple[FloatArray, float]]


def by_diagonal(diagonal: FloatArray) -> Precondition:
    """A diagonal that stands for the Hessian."""

    def precondition(r: FloatArray, change: FloatArray) -> tuple[FloatArray, float]:
        z = change / diagonal
        size = float(change @ z)
        return np.divide(r, diagonal, out=z), size

    return precondition


def by_solving(solve: Callable[[FloatArray], FloatArray]) -> Precondition:
    """A matrix by which `solve` divides vectors, given as columns."""

    def precondition(r: FloatArray, change: FloatArray) -> tuple[FloatArray, float]:
        z, Pc = solve(np.array([r, change]).T).T
        return np.ascontiguousarray(z), float(change @ Pc)

    return precondition


def corrected(precondition: Precondition, secants: tuple[Secant, ...], c: float, r: FloatArray) -> FloatArray:
    """The preconditioner times r, corrected so that each y + c s is taken to s, the last ones exactly.

    The two loops of limited-memory BFGS.
    """
    pairs = [(one.s, one.change(c), one.curvature + c * one.square) for one in secants]
    parts, r = [], r.copy()
    for s, y, sy in reversed(pairs):
        parts.append(float(s @ r) / sy)
        add(-parts[-1], y, r)
    _, y, sy = pairs[-1]
    z, size = precondition(r, y)
    z *= sy / size  # the preconditioner may be too large or too small as a whole
    for (s, y, sy), part in zip(pairs, reversed(parts), strict=True):
        add(part - float(y @ z) / sy, s, z)
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
