"""Everything linrank raises or warns with.

LinrankError
├── ClusterError                         a cluster does not answer: its workers or its scheduler are gone or silent
├── DataError (also a ValueError)        the data cannot be used as given
│   ├── FileFormatError                  a data file is not what it should be, at a line and column
│   └── NoPairsError                     the data holds no preference at all
├── ModelFileError (also a ValueError)   a model file cannot be read, or a model not be written
├── OutOfMemoryError (also a MemoryError) there is not enough memory for this data
└── ParameterError (also a ValueError)   a parameter has a value that is not understood
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ._text import printable

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

__all__ = [
    "ClusterError",
    "ConvergenceWarning",
    "DataError",
    "FileFormatError",
    "LinrankError",
    "ModelFileError",
    "NoPairsError",
    "OutOfMemoryError",
    "ParameterError",
    "UndefinedMetricWarning",
]


def __getattr__(name: str) -> Any:
    """scikit-learn's warnings, imported when asked for: `linrank predict` starts in half the time without."""
    if name in ("ConvergenceWarning", "UndefinedMetricWarning"):
        from sklearn import exceptions

        return getattr(exceptions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class LinrankError(Exception):
    """Base of every error raised by linrank itself; what it cites of the data is spelled out where not printable."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ClusterError(LinrankError):
    """A cluster does not answer; the message says who is gone or silent, and what to do."""


class DataError(LinrankError, ValueError):
    """The data cannot be used as given; the message says what to do."""


class FileFormatError(DataError):
    """A data file is not what it should be.

    Attributes
    ----------
    path : str
        The file.
    line, column : int or None
        Where, counted from 1; columns are bytes.
    expected : str
        What should be there.
    """

    def __init__(
        self, message: str, path: str = "", line: int | None = None, column: int | None = None, expected: str = ""
    ) -> None:
        super().__init__(message)
        self.path, self.line, self.column, self.expected = path, line, column, expected


class NoRowsError(DataError):
    """A table without rows: among several files, one to pass over."""


class NoPairsError(DataError):
    """No preference is left: every query has a single level (or zero weight)."""


class ModelFileError(LinrankError, ValueError):
    """A model file is damaged, foreign or newer than this linrank; the message says which, and what to do."""


class OutOfMemoryError(LinrankError, MemoryError):
    """There is not enough memory for this data; the message says what takes less."""


class ParameterError(LinrankError, ValueError):
    """A parameter has a value that is not understood."""


@contextmanager
def memory_in_words() -> Iterator[None]:
    """Memory that runs out in its body is told in a sentence; also a decorator."""
    try:
        yield
    except OutOfMemoryError:
        raise
    except MemoryError as error:
        asked = re.match(r"Unable to allocate ([\d.]+ \w+)", str(error))
        more = f" ({asked[1]} more were asked for)" if asked else ""
        raise OutOfMemoryError(
            f"There is not enough memory{more}: give X as float32, use fewer threads (n_jobs) or rows, train from disk "
            "(linrank.scan), or by SGDRanker.fit_stream, which takes least."
        ) from error


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line outside of linrank that led here, however deep inside the reason was found."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "linrank":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def overflow_ignored() -> AbstractContextManager[None]:
    """No warnings of overflow while solvers run: they look at what they get, and say what to do about it."""
    import numpy as np

    return np.errstate(over="ignore", invalid="ignore", divide="ignore")
