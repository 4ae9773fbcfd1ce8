"""Steps of limited-memory BFGS and of conjugate gradients over vectors of the features.

Vectors of many features do not stay in the cache, so each sweep does all that can be done while an entry is at hand.
"""

from __future__ import annotations

from typing import Any

from ._jit import summing_kernel


@summing_kernel
def take_change(r: Any, a: float, y: Any, c: float, s: Any, following: Any) -> float:
    """Take a (y + c s) off r; then following.r. O(d)."""
    total = 0.0
    for j in range(r.size):
        r[j] -= a * (y[j] + c * s[j])
        total += following[j] * r[j]
    return total


@summing_kernel
def add_step(z: Any, a: float, s: Any, y: Any, c: float, t: Any) -> float:
    """Add a s to z; then (y + c t).z. O(d)."""
    total = 0.0
    for j in range(z.size):
        z[j] += a * s[j]
        total += (y[j] + c * t[j]) * z[j]
    return total


@summing_kernel
def divide(r: Any, diagonal: Any, y: Any, c: float, s: Any, z: Any) -> float:
    """Divide r by the diagonal into z; then the sum of (y + c s)^2 / diagonal. O(d)."""
    total = 0.0
    for j in range(r.size):
        inverse = 1.0 / diagonal[j]
        change = y[j] + c * s[j]
        z[j] = r[j] * inverse
        total += change * change * inverse
    return total


@summing_kernel
def advance(x: Any, r: Any, p: Any, Hp: Any, step: float, diagonal: Any, least: Any) -> tuple[float, float, float]:
    """Add step p to x, take step H p off r; then r.r / diagonal, |r - least|^2 and least.(r - least). O(d).

    A diagonal that is None stands for ones.
    """
    size, square, along = 0.0, 0.0, 0.0
    for j in range(r.size):
        x[j] += step * p[j]
        r[j] -= step * Hp[j]
        change = r[j] - least[j]
        size += r[j] * r[j] if diagonal is None else r[j] * r[j] / diagonal[j]
        square += change * change
        along += least[j] * change
    return size, square, along


@summing_kernel
def turn(best: Any, x: Any, least: Any, r: Any, t: float, p: Any, diagonal: Any, more: float) -> None:
    """Move best and least by t towards x and r; p = r / diagonal + more p. O(d)."""
    for j in range(r.size):
        best[j] += t * (x[j] - best[j])
        least[j] += t * (r[j] - least[j])
        p[j] = (r[j] if diagonal is None else r[j] / diagonal[j]) + more * p[j]
