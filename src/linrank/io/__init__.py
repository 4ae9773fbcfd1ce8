"""Data in, models out."""

from .._lazy import from_stub

__all__, __getattr__, __dir__ = from_stub(__name__, __file__)
