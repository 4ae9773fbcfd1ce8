"""Where data lives and work runs."""

from ._columns import Columns
from .local import LocalEngine

__all__ = ["Columns", "LocalEngine"]
