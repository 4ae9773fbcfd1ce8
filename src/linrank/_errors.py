"""Everything linrank raises or warns with.

LinrankError
├── DataError (also a ValueError)        the data cannot be used as given
│   └── NoPairsError                     the data holds no preference at all
└── ParameterError (also a ValueError)   a parameter has a value that is not understood
"""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "LinrankError",
    "NoPairsError",
    "ParameterError",
    "UndefinedMetricWarning",
]


class LinrankError(Exception):
    """Base of every error raised by linrank itself."""


class DataError(LinrankError, ValueError):
    """The data cannot be used as given; the message says what to do."""


class NoPairsError(DataError):
    """No preference is left: every query has a single level (or zero weight)."""


class ParameterError(LinrankError, ValueError):
    """A parameter has a value that is not understood."""
