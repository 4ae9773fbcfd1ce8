"""Solvers: each sees an objective and d-vectors only."""

from ._base import Iteration, Solution, Status
from .bundle import Bundle, Planes

__all__ = ["Bundle", "Iteration", "Planes", "Solution", "Status"]
