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

#: By the names rankers take; all but "bundle" and "newton" need a smooth loss.
SOLVERS: dict[str, type[Bundle | Newton | ConjugateGradients | Tron]] = {
    "bundle": Bundle,
    "newton": Newton,
    "cg": ConjugateGradients,
    "tron": Tron,
}
