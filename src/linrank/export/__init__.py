"""Models for other systems: each target is a function of the weights to text, and an independent reader of it."""

from .._lazy import from_stub

__all__, __getattr__, __dir__ = from_stub(__name__, __file__)
