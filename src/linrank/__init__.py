"""linrank: linear learning to rank at the cost of a sort."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import engines, io, losses, metrics, model_selection, penalties, solvers, summation, testing
    from ._classifier import AUCClassifier
    from ._cv import LinearRankerCV
    from ._data import RankingData
    from ._errors import (
        ConvergenceWarning,
        DataError,
        FileFormatError,
        LinrankError,
        ModelFileError,
        NoPairsError,
        ParameterError,
        UndefinedMetricWarning,
    )
    from ._labels import labels
    from ._scaling import QueryScaler
    from ._sgd import SGDRanker
    from .io.model import load, save
    from .io.svmlight import read_svmlight
    from .io.write import write_svmlight
    from .metrics._compare import compare
    from .rankers import LinearRanker

__all__ = [
    "AUCClassifier",
    "ConvergenceWarning",
    "DataError",
    "FileFormatError",
    "LinearRanker",
    "LinearRankerCV",
    "LinrankError",
    "ModelFileError",
    "NoPairsError",
    "ParameterError",
    "QueryScaler",
    "RankingData",
    "SGDRanker",
    "UndefinedMetricWarning",
    "compare",
    "engines",
    "io",
    "labels",
    "load",
    "losses",
    "metrics",
    "model_selection",
    "penalties",
    "read_svmlight",
    "save",
    "solvers",
    "summation",
    "testing",
    "write_svmlight",
]

# Where each public name lives. Nothing is imported before it is asked for: `linrank --help` answers at once.
_HOMES = {
    "AUCClassifier": "._classifier",
    "ConvergenceWarning": "._errors",
    "DataError": "._errors",
    "FileFormatError": "._errors",
    "LinearRanker": ".rankers",
    "LinearRankerCV": "._cv",
    "LinrankError": "._errors",
    "ModelFileError": "._errors",
    "NoPairsError": "._errors",
    "ParameterError": "._errors",
    "QueryScaler": "._scaling",
    "RankingData": "._data",
    "SGDRanker": "._sgd",
    "UndefinedMetricWarning": "._errors",
    "compare": ".metrics._compare",
    "labels": "._labels",
    "load": ".io.model",
    "read_svmlight": ".io.svmlight",
    "save": ".io.model",
    "write_svmlight": ".io.write",
}
_MODULES = ("engines", "io", "losses", "metrics", "model_selection", "penalties", "solvers", "summation", "testing")


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
