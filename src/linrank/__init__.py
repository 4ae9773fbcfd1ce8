"""linrank: linear learning to rank at the cost of a sort."""

from ._lazy import from_stub

__version__ = "0.1.0"
__all__, __getattr__, __dir__ = from_stub(__name__, __file__)
