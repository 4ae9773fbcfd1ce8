"""Where rows live and work runs: `base` is the contract, `open` chooses."""

from ..data.parts import split_queries
from .base import Columns, Engine, Evaluation, Facts, Outer, Scores
from .local import LocalEngine
from .open import open_engine
from .place import Torch
from .sum import SumEngine

__all__ = [
    "Columns",
    "Engine",
    "Evaluation",
    "Facts",
    "LocalEngine",
    "Outer",
    "Scores",
    "SumEngine",
    "Torch",
    "open_engine",
    "split_queries",
]
