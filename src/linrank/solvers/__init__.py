"""Solvers: each sees an objective and d-vectors only."""

from ._base import Callback, Iteration, Solution, Solver, Status
from .bundle import Bundle, Planes
from .cg import ConjugateGradients
from .newton import Newton
from .tron import Tron

__all__ = [
    "SOLVERS",
    "Bundle",
    "Callback",
    "ConjugateGradients",
    "Iteration",
    "Newton",
    "Planes",
    "Solution",
    "Solver",
    "Status",
    "Tron",
]

#: By the names rankers take.
SOLVERS: dict[str, type[Bundle | Newton | ConjugateGradients | Tron]] = {
    "bundle": Bundle,
    "newton": Newton,
    "cg": ConjugateGradients,
    "tron": Tron,
}
#: Those that need a smooth loss; Newton's method also takes one that can be smoothed.
NEED_SMOOTH = (ConjugateGradients, Tron)
