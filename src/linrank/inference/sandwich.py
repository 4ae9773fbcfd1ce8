"""The sandwich H^-1 B H^-1 at the penalised optimum.

    psi_u = g_u + c_u grad P(w),      B = U / (U - 1) * sum of psi_u psi_u^T / N^2 ,

over U independent units u, g_u the gradient of their summed loss and c_u its weight: at the optimum the psi_u sum to 0.
Without the penalty's part B would count how far the units' gradients are from 0 rather than from their mean.

The weights are first brought so close to the optimum that what is left does not matter: to a gap of 1e-3 of
tr(B H^-1)/2, by how much sampling is expected to raise the objective. That is about .03 standard errors.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from .._errors import ConvergenceWarning, DataError, ParameterError
from .._typing import FloatArray, IntArray
from ..engines.outer import Outer
from ..objective import Objective, Point
from ..solvers import Callback, Newton, Solution
from ..solvers.newton.conjugate_gradients import conjugate_gradients

#: Most features of which an exact Hessian is made.
MAX_HESSIAN = 1000
#: The gap wanted, as a part of tr(B H^-1)/2, and how often the optimum is sought anew for it.
PART, ATTEMPTS = 1e-3, 4
#: The gap of the first attempt, relative to f(0), with exact Hessians and with products alone.
FIRST_EXACT, FIRST_PRODUCTS = 1e-9, 1e-6
#: Units whose psi are this part of the penalty's gradient, or less, differ by rounding alone.
ALIKE = 1e-5
#: Relative residual of conjugate gradients, and iterations at most.
RESIDUAL, ITERATIONS = 1e-9, 5000


@dataclass(frozen=True)
class Estimate:
    """Weights and their covariance in scaled units; of the chosen features alone, but for the solution."""

    solution: Solution
    covariance: FloatArray  # (k, k)
    information: FloatArray  # (k,): the part of each weight's information that is the data's
    free: NDArray[np.bool_]  # (k,): whether a weight is
    units: int
    largest: float  # share of the sum of |psi|^2 that is one unit's
    data_hessian: FloatArray | None  # of the mean loss


def sandwich(
    objective: Objective, start: FloatArray, units: str, features: IntArray | None, callback: Callback | None = None
) -> Estimate:
    """The optimum, from weights nearby, and the covariance of its weights."""
    d, known = objective.n_features, objective.hessian_cost is not None
    if features is None and d > MAX_HESSIAN:
        raise ParameterError(
            f"There are {d:,} features, and a covariance of more than {MAX_HESSIAN:,} is not built: name those that "
            "matter by features=."
        )
    exact = d <= MAX_HESSIAN
    chosen = np.arange(d) if features is None else features
    f0, w = objective.value_at_zero, start
    tol = FIRST_EXACT if known else FIRST_PRODUCTS
    for _ in range(ATTEMPTS):
        solution = Newton(tol=tol, samples=False, float32=False).minimise(objective, w, callback)
        point = objective.at(solution.w)
        estimate, target = (_exact if exact else _by_products)(point, solution, units, chosen)
        if not target > 0 or solution.gap <= target or tol < np.finfo(float).eps:
            break
        w, tol = solution.w, 0.5 * target / f0
    if solution.gap > max(target, 0.0) and target > 0:
        off = np.sqrt(PART * solution.gap / target)
        warnings.warn(
            f"The weights could not be brought closer to the optimum than a gap of {solution.gap:.2g}: they may be "
            f"{off:.2g} standard errors off.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return estimate


def _exact(point: Point, solution: Solution, units: str, chosen: IntArray) -> tuple[Estimate, float]:
    """By the Hessian, and the gap wanted."""
    objective, penalty = point.objective, point.objective.penalty
    data_hessian = _risk_hessian(point)
    free = penalty.free(point.w)
    gradient = penalty.gradient(point.w)
    found = point.evaluation.outer(units, objective.scale, gradient)
    B = _meat(found, point)
    _check_differ(B[np.ix_(free, free)], gradient[free], found.units)
    H = data_hessian[np.ix_(free, free)] + penalty.curvature * np.eye(int(free.sum()))
    inverse = np.full((free.size, free.size), np.nan)
    covariance = inverse.copy()
    inside = np.ix_(free, free)
    try:
        inverse[inside] = cho_solve(cho_factor(H), np.eye(len(H)))
    except np.linalg.LinAlgError:
        raise DataError("The Hessian is singular to rounding: raise alpha, or drop collinear columns.") from None
    covariance[inside] = inverse[inside] @ B[inside] @ inverse[inside]
    target = 0.5 * PART * float(np.sum(inverse[inside] * B[inside]))
    information = 1.0 - penalty.curvature * np.diag(inverse)
    share = _share(found)
    here = np.ix_(chosen, chosen)
    return Estimate(
        solution, covariance[here], information[chosen], free[chosen], found.units, share, data_hessian
    ), target  # fmt: skip


def _risk_hessian(point: Point) -> FloatArray:
    """The Hessian of the mean loss; by a product a column where the engine has none, as of sparse features."""
    if point.objective.hessian_cost is not None:
        return point.risk_hessian()
    c, d = point.objective.penalty.curvature, point.objective.n_features
    columns = np.array([point.hessian_product(e) - c * e for e in np.eye(d)])
    return 0.5 * (columns + columns.T)


def _meat(found: Outer, point: Point) -> FloatArray:
    """B."""
    B = found.units / (found.units - 1.0) * (found.total / point.sums.weight**2)
    if not np.all(np.isfinite(B)):
        raise DataError("The units' gradients overflow: bring features and weights to sizes around 1.")
    return B


def _check_differ(B: FloatArray, pull: FloatArray, units: int) -> None:
    """Refuse units whose gradients balance the penalty's one by one, as the two rows of a single pair do."""
    if B.size and units * float(np.trace(B)) <= ALIKE**2 * float(pull @ pull):
        raise DataError(
            f"All {units} independent units say the same, so nothing tells how far the weights may be off: standard "
            "errors need units that differ."
        )


def _share(found: Outer) -> float:
    total = float(np.trace(found.total))
    return found.largest / total if total > 0 else np.nan


def _by_products(point: Point, solution: Solution, units: str, chosen: IntArray) -> tuple[Estimate, float]:
    """Of a few features, by conjugate gradients: a system for each, and the psi projected onto the answers."""
    objective, penalty = point.objective, point.objective.penalty
    free = penalty.free(point.w)
    Z = np.zeros((point.w.size, chosen.size))
    for k, j in enumerate(chosen):
        Z[:, k] = _solve(point, int(j), free) if free[j] else np.nan
    solved = np.all(np.isfinite(Z), axis=0)
    covariance = np.full((chosen.size, chosen.size), np.nan)
    gradient = penalty.gradient(point.w)
    found = point.evaluation.outer(units, objective.scale, gradient, np.ascontiguousarray(Z[:, solved]))
    meat = _meat(found, point)
    _check_differ(meat, gradient @ Z[:, solved], found.units)
    covariance[np.ix_(solved, solved)] = meat
    inverse = np.where(solved, Z[chosen, np.arange(chosen.size)], np.nan)
    ratio = np.diag(covariance) / inverse
    target = 0.5 * PART * float(np.nanmin(ratio, initial=np.inf))
    information = 1.0 - penalty.curvature * inverse
    share = _share(found)
    return Estimate(solution, covariance, information, free[chosen], found.units, share, None), target


def _solve(point: Point, j: int, free: NDArray[np.bool_]) -> FloatArray:
    """H^-1 e_j over the free weights, by conjugate gradients; NaN where they do not converge."""

    def product(p: FloatArray) -> FloatArray:
        return np.where(free, point.hessian_product(p), 0.0)

    def enough(residual: FloatArray) -> bool:
        return float(residual @ residual) <= RESIDUAL**2

    unit = np.zeros(free.size)
    unit[j] = 1.0
    found = conjugate_gradients(product, unit, None, enough, ITERATIONS)
    return found.x if found.good else np.full(free.size, np.nan)
