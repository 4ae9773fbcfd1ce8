"""linrank: linear learning to rank at the cost of a sort."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import losses, metrics, solvers, testing
    from ._cv import LinearRankerCV
    from ._data import RankingData
    from ._errors import ConvergenceWarning, DataError, LinrankError, NoPairsError, ParameterError
    from ._sgd import SGDRanker
    from .rankers import LinearRanker

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "LinearRanker",
    "LinearRankerCV",
    "LinrankError",
    "NoPairsError",
    "ParameterError",
    "RankingData",
    "SGDRanker",
    "losses",
    "metrics",
    "solvers",
    "testing",
]

# Where each public name lives. Nothing is imported before it is asked for: `linrank --help` answers at once.
_HOMES = {
    "ConvergenceWarning": "._errors",
    "DataError": "._errors",
    "LinearRanker": ".rankers",
    "LinearRankerCV": "._cv",
    "LinrankError": "._errors",
    "NoPairsError": "._errors",
    "ParameterError": "._errors",
    "RankingData": "._data",
    "SGDRanker": "._sgd",
}
_MODULES = ("losses", "metrics", "solvers", "testing")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name], __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
