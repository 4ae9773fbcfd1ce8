"""Which method `solver="auto"` takes: the one place that chooses.

Newton's method where the factor of a Hessian is cheap, on all rows or on a sample of them; else the bundle method, at
once for a loss that is not smooth, and for a smooth one when conjugate gradients take long for a direction. On sparse
data Newton's method ends what the bundle method could not in some cuts. A penalty with kinks or bounds is for Newton's
method, whatever it costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..objective import Objective
from .bundle import Bundle
from .newton import Newton
from .newton.method import sample_of
from .relay import Relay


@dataclass(frozen=True)
class Tuning:
    """Numbers that steer the choice; ``benchmarks/run.py auto`` holds it against every choice that can be forced."""

    #: Most Hessian products that a cheap Hessian costs.
    cheap: float = 50.0
    #: The width of smoothing at which the hinge's Hessian is asked for: about that at the end of a fit.
    width: float = 0.2
    #: Cuts of the bundle method after which Newton's takes over on sparse data: easy fits take fewer, others hundreds.
    cuts: int = 30


TUNING = Tuning()


def choose(objective: Objective, tol: float, max_iter: int) -> Newton | Bundle | Relay:
    """The method for an objective."""
    loss, newton, bundle = objective.loss, Newton(tol, max_iter), Bundle(tol, max_iter)
    smooth = loss if loss.smooth else loss.smoothed(TUNING.width)
    if not objective.penalty.smooth:
        return newton
    if smooth is None:
        return bundle
    if _cheap(objective if loss.smooth else replace(objective, loss=smooth)):
        return newton
    if loss.smooth:  # directions from a sample's factor take no products, and are not given up
        return Relay(replace(newton, max_products=math.isqrt(objective.n_features)), bundle)
    part = sample_of(replace(objective, loss=smooth))
    if part is not None and part.hessian_cost is not None:
        return newton
    sparse = 2 * objective.entries_a_row < objective.n_features
    return Relay(replace(bundle, max_cuts=TUNING.cuts), newton) if sparse else bundle


def _cheap(objective: Objective) -> bool:
    """Whether the Hessian of all rows costs few products."""
    cost = objective.hessian_cost
    return cost is not None and cost <= TUNING.cheap
