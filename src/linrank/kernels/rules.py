"""What a step does: w <- c w + d x, section 3.2 of Sculley, Large Scale Learning to Rank, 2009. O(1) each.

    step(i, z, xx, ww, alpha, p) -> (c, d)     i: the step's number, from 1; z = w.x; xx = |x|^2; ww = |w|^2
    projection(ww, alpha, p) -> factor         by which w is multiplied after a step; ww = |w|^2 after it

p holds the rule's own parameters. xx is 0 where the rule has said that it does not need it. The loops of
`kernels/stochastic.py` call these by their address, so that one compiled loop serves every rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel

PARALLEL = 1e-12  # relative; below it the determinant of x and w is rounding
LONGEST, SHORTEN = 1e120, 1e-30  # of ROMMA's |w|^2, and by what w is multiplied there


@inlined
def step_size(i: Any, alpha: Any, decay: Any) -> Any:
    """(c, eta) of a gradient step: eta = 1/(alpha i), or with a decay > 0 decay/(decay + i), but at most 1/alpha."""
    if decay == 0.0:
        return 1.0 - 1.0 / i, 1.0 / (alpha * i)
    eta = min(decay / (decay + i), 1.0 / alpha)
    return 1.0 - eta * alpha, eta


@kernel
def hinge_step(i: Any, z: Any, xx: Any, ww: Any, alpha: Any, p: Any) -> tuple[float, float]:
    """A subgradient step on alpha/2 |w|^2 + max(0, 1 - z): w shrinks whether the pair has loss or not."""
    c, eta = step_size(i, alpha, p[0])
    return c, eta if z < 1.0 else 0.0


@kernel
def squared_hinge_step(i: Any, z: Any, xx: Any, ww: Any, alpha: Any, p: Any) -> tuple[float, float]:
    """The same for max(0, 1 - z)^2, whose slope grows with its error, and the first steps are long.

    So d is bounded: no step carries its pair beyond the margin.
    """
    c, eta = step_size(i, alpha, p[0])
    d = 2.0 * eta * (1.0 - z) if z < 1.0 else 0.0
    if d * xx > 1.0 - c * z and z < 1.0:
        d = (1.0 - c * z) / xx
    return c, d


@kernel
def logistic_step(i: Any, z: Any, xx: Any, ww: Any, alpha: Any, p: Any) -> tuple[float, float]:
    """The same for log(1 + e^-z)."""
    c, eta = step_size(i, alpha, p[0])
    return c, eta / (1.0 + np.exp(z))


@kernel
def sgd_svm_step(i: Any, z: Any, xx: Any, ww: Any, alpha: Any, p: Any) -> tuple[float, float]:
    """The paper's SGD SVM: the hinge's step where the pair has loss, none where it has not."""
    if z >= 1.0:
        return 1.0, 0.0
    return step_size(i, alpha, p[0])


@kernel
def ball(ww: Any, alpha: Any, p: Any) -> float:
    """Pegasos: back to |w| <= 1/sqrt(alpha)."""
    return 1.0 / np.sqrt(alpha * ww) if alpha * ww > 1.0 else 1.0


@kernel
def passive_aggressive_step(i: Any, z: Any, xx: Any, ww: Any, alpha: Any, p: Any) -> tuple[float, float]:
    """PA-I: d = min(C, loss / |x|^2)."""
    loss = max(0.0, 1.0 - z)
    if p[0] * xx < loss:
        return 1.0, p[0]
    return 1.0, loss / xx if loss > 0.0 else 0.0


@kernel
def perceptron_step(i: Any, z: Any, xx: Any, ww: Any, alpha: Any, p: Any) -> tuple[float, float]:
    """Add x where z <= margin; a margin of 0 is the plain perceptron."""
    return 1.0, 1.0 if z <= p[0] else 0.0


@kernel
def romma_step(i: Any, z: Any, xx: Any, ww: Any, alpha: Any, p: Any) -> tuple[float, float]:
    """Aggressive ROMMA: the shortest w' with w'.x >= 1 and w'.w >= |w|^2.

    Both bounds are met by the paper's formula. The first alone is met by x/|x|^2, which is the answer where w = 0,
    where it meets the second as well, and where x is parallel to w.
    """
    if z >= 1.0 or xx == 0.0:
        return 1.0, 0.0
    product = xx * ww
    determinant = product - z * z
    if product <= z or determinant <= PARALLEL * product:
        return 0.0, 1.0 / xx
    return (product - z) / determinant, ww * (1.0 - z) / determinant


@kernel
def shortening(ww: Any, alpha: Any, p: Any) -> float:
    """ROMMA's weights only ever grow, without bound where no w is right on all pairs.

    Once so long that the margin is nothing beside them they are shortened, before they overflow: no ranking depends on
    it.
    """
    return SHORTEN if ww > LONGEST else 1.0


@kernel
def no_projection(ww: Any, alpha: Any, p: Any) -> float:
    """W stays as it is."""
    return 1.0
