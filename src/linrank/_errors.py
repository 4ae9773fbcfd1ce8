"""Everything linrank raises or warns with.

LinrankError
├── DataError (also a ValueError)        the data cannot be used as given
│   └── NoPairsError                     the data holds no preference at all
├── ModelFileError (also a ValueError)   a model file cannot be read, or a model not be written
└── ParameterError (also a ValueError)   a parameter has a value that is not understood
"""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "DataError", "LinrankError", "ModelFileError", "NoPairsError", "ParameterError"]


class LinrankError(Exception):
    """Base of every error raised by linrank itself."""


class DataError(LinrankError, ValueError):
    """The data cannot be used as given; the message says what to do."""


class NoPairsError(DataError):
    """No preference is left: every query has a single level (or zero weight)."""


class ModelFileError(LinrankError, ValueError):
    """A model file is damaged, foreign or newer than this linrank; the message says which, and what to do."""


class ParameterError(LinrankError, ValueError):
    """A parameter has a value that is not understood."""
