"""Solvers: each sees an objective and d-vectors only."""

from ._base import Iteration, Solution, Status
from .bundle import Bundle, Planes
from .newton import Newton
from .tron import Tron

__all__ = ["SOLVERS", "Bundle", "Iteration", "Newton", "Planes", "Solution", "Solver", "Status", "Tron"]

Solver = Bundle | Newton | Tron

#: By the names rankers take; all but "bundle" and "newton" need a smooth loss.
SOLVERS: dict[str, type[Solver]] = {"bundle": Bundle, "newton": Newton, "tron": Tron}
