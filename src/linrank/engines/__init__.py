"""Where data lives and work runs."""

from ._facts import Columns
from .local import LocalEngine

__all__ = ["Columns", "LocalEngine"]
