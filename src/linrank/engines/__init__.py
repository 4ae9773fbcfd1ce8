"""Where rows live and work runs: `base` is the contract, `open` chooses."""

from .._errors import ClusterError
from ..data.parts import split_queries
from .base import Columns, Engine, Evaluation, Facts, Outer, Scores
from .dask import Dask
from .local import LocalEngine
from .open import open_engine
from .place import Torch
from .sum import SumEngine

__all__ = [
    "ClusterError",
    "Columns",
    "Dask",
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
