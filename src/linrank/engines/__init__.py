"""Where data lives and work runs."""

from .local import LocalEngine

__all__ = ["LocalEngine"]
