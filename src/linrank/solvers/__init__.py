"""Solvers: each sees an objective and d-vectors only."""

from ._base import Iteration, Solution, Status
from .bundle import Bundle, Planes
from .newton import Newton

__all__ = ["Bundle", "Iteration", "Newton", "Planes", "Solution", "Status"]
