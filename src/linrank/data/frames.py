"""Dataframes as features: each column a number a row, or a list of as many numbers in every row.

The one check for all frames, of pandas, polars, pyarrow and whatever else narwhals knows: what cannot be a feature is
refused in a sentence that names the column and the cure. Narwhals is imported for frames alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, LinrankError
from .._text import repeated
from .._typing import FloatArray
from .buffers import is_arrow, numbers_of

#: How to get rid of a column in X itself.
LEAVE_OUT = "leave it out of X"
ENCODE = "encode it first, as scikit-learn's ColumnTransformer does"
#: What to do with columns that hold no numbers, by the name of their type.
CURES = {
    "Datetime": "give a number instead, such as the days since some day",
    "Date": "give a number instead, such as the days since some day",
    "Duration": "give a number instead, such as its seconds",
    "Time": "give a number instead, such as the seconds since midnight",
    "Categorical": f"{ENCODE} (OneHotEncoder, OrdinalEncoder)",
    "Enum": f"{ENCODE} (OneHotEncoder, OrdinalEncoder)",
    "String": f"{ENCODE} (OneHotEncoder, TfidfVectorizer)",
    **dict.fromkeys(("Struct", "Binary"), ENCODE),
}

#: Types of numpy's numbers that need no look.
PLAIN = frozenset("?bBhHiIlLqQfd")


def is_frame(X: Any) -> bool:
    """Whether X is a dataframe, or the promise of one; dask's are collections of them, and none."""
    kind = type(X)
    return hasattr(kind, "columns") and not hasattr(kind, "__dask_graph__")


@dataclass(frozen=True, eq=False)
class WideRows:
    """Features of a frame that has columns of lists: the numbers, and a frame without rows that names them all."""

    values: NDArray[Any]
    header: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and features."""
        return self.values.shape


def header_of(X: Any) -> Any:
    """What tells the names and the number of the features: X itself, but for columns of lists."""
    return X.header if isinstance(X, WideRows) else X


def check_frame(X: Any) -> Any:
    """A dataframe whose columns can be features, those of lists as `WideRows`; what is no dataframe comes back as is.

    O(columns), but for columns of objects and lists.
    """
    if not is_frame(X) or is_plain(X):
        return X
    table = Frame(X)
    if not table.columns:
        raise DataError("X has no column: give at least one feature.")
    widths = {name: table.width(name) for name in table.columns}
    for name, width in widths.items():
        if not width:
            table.refuse_other_than_numbers(name, LEAVE_OUT)
    return table.widened(widths) if any(widths.values()) else X


def is_plain(X: Any) -> bool:
    """Whether X is a dataframe of pandas that holds numbers alone, in columns of different names.

    There is nothing to refuse in it, and to find that out by narwhals takes longer than to predict some rows.
    """
    if type(X).__name__ != "DataFrame" or type(X).__module__.partition(".")[0] != "pandas" or not len(X.columns):
        return False
    kinds = all(isinstance(dtype, np.dtype) and dtype.char in PLAIN for dtype in X.dtypes)
    return kinds and X.columns.is_unique and all(type(name) is str for name in X.columns)


def plain_values(X: Any) -> NDArray[Any] | None:
    """The array that scikit-learn makes of a plain dataframe of one type of floats; None of any other."""
    kinds = {dtype.char for dtype in X.dtypes} if is_plain(X) else set()
    return np.asarray(X) if kinds in ({"d"}, {"f"}) else None


def frame_of(columns: Mapping[str, Any]) -> Any:
    """Columns as a dataframe of pandas or, where that is not installed, of polars."""
    for library in ("pandas", "polars"):
        try:
            return importlib.import_module(library).DataFrame(dict(columns))
        except ImportError:
            continue
    raise LinrankError("A dataframe needs pandas or polars: pip install pandas.")


def drop_columns(X: Any, names: Sequence[str]) -> Any:
    """A dataframe without some of its columns; those that it does not have are no matter."""
    if not names or not is_frame(X):
        return X
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X)
    here = [name for name in names if name in frame.columns]
    return nw.to_native(frame.drop(here)) if here else X


def column_of(X: Any, name: str, what: str) -> NDArray[Any]:
    """A column of ids of a dataframe, given by its name as the parameter `what`."""
    if not is_frame(X):
        raise DataError(f"{what}={name!r} names a column, but X is no dataframe: give one value per row.")
    table = Frame(X)
    if name not in table.columns:
        known = ", ".join(map(repr, table.columns[:8])) + (", ..." if len(table.columns) > 8 else "")
        raise DataError(f"{what}={name!r}: X has no such column; it has {known}.")
    return table.ids(name)


def part_names(name: str, width: int) -> list[str]:
    """The names of the features that a column of lists stands for."""
    return [f"{name}_{j}" for j in range(width)]


def describe_missing(X: Any) -> str | None:
    """The first column of a frame with a value that is missing or infinite, said in words; None if all are numbers."""
    table = Frame(header_of(X))
    for j, name in enumerate(table.columns):
        try:
            numbers = X.values[:, j] if isinstance(X, WideRows) else table.numbers(name)
        except DataError as error:
            return str(error)
        except (ValueError, TypeError) as error:
            return f"Column {name!r} holds something that is no number ({error}): {LEAVE_OUT}, or {ENCODE}."
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if wrong.size and np.isnan(numbers[wrong[0]]):
            return missing_in(name, int(wrong[0]), int(np.count_nonzero(np.isnan(numbers))))
        if wrong.size:
            return infinite_in(name, int(wrong[0]))
    return None


def missing_in(name: str, row: int, count: int) -> str:
    """A sentence on a missing value, and what to do about it."""
    values = "value" if count == 1 else "values"
    return (
        f"Column {name!r} is missing in row {row + 1} (NaN; of {count:,} missing {values}): missing='zero' or 'mean' "
        "fills it in."
    )


def infinite_in(name: str, row: int, kind: str = "float64") -> str:
    """A sentence on a value that is too large, and what to do about it."""
    return f"Column {name!r} is infinite (in {kind}) in row {row + 1}: drop the row or cap the value."


class Frame:
    """The columns of a dataframe, by narwhals."""

    def __init__(self, frame: Any) -> None:
        import narwhals.stable.v1 as nw
        from narwhals.exceptions import DuplicateError

        self._nw = nw
        kind = type(frame).__name__
        try:
            found = nw.from_native(frame)
        except DuplicateError as error:
            twice = " ".join(str(error).split())
            raise DataError(f"Two columns have one name ({twice}): rename one of them.") from None
        except TypeError:
            raise DataError(f"{kind} is not a dataframe: give one of pandas, polars or pyarrow.") from None
        if not isinstance(found, nw.DataFrame):
            raise DataError(f"A {kind} holds no rows yet: call its collect() first, and give what that returns.")
        self._frame = found
        self.columns = list(found.columns)  # pandas may name columns by numbers
        self.names = [str(name) for name in self.columns]
        if (name := repeated(self.names)) is not None:
            raise DataError(f"Two columns are named {name!r}: rename one of them.")
        self.n_rows = len(found)
        self._dtypes = dict(found.schema)

    def width(self, name: Any) -> int:
        """The length of the first list in a column, 0 if it is no column of lists."""
        dtype = self._dtypes[name]
        if not (dtype in (self._nw.List, self._nw.Array) or dtype == self._nw.Object):
            return 0
        first = _first(self._frame.get_column(name))
        return len(first) if isinstance(first, (list, tuple, np.ndarray)) and np.ndim(first) == 1 else 0

    def refuse_other_than_numbers(self, name: str, leave_out: str) -> None:
        """A sentence on a column that holds no numbers; `leave_out` says how to do without it."""
        dtype = self._dtypes[name]
        kind = type(dtype).__name__
        if dtype == self._nw.Object and isinstance(_first(self._frame.get_column(name)), (str, bytes)):
            kind = "String"
        if kind in CURES:
            told = kind if kind == "String" else dtype
            raise DataError(f"Column {name!r} holds {told}, not numbers: {leave_out}, or {CURES[kind]}.")

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where one is missing."""
        series = self._frame.get_column(name)
        if is_arrow(series.to_native()) and (series.dtype.is_integer() or series.dtype.is_float()):
            return numbers_of(series.to_native().cast("float64", safe=False), np.float64)
        if series.dtype.is_integer() and not series.null_count():
            return np.asarray(series.to_numpy()).astype(np.float64)  # the nearest: a cast may refuse those above 2^53
        if series.dtype.is_integer():
            return np.array([float(value) if isinstance(value, int) else np.nan for value in series.to_list()])
        if series.dtype.is_numeric() or series.dtype == self._nw.Boolean:
            return np.asarray(series.cast(self._nw.Float64).to_numpy(), dtype=np.float64)
        self.refuse_other_than_numbers(name, f"drop={[name]!r}")
        if series.dtype in (self._nw.List, self._nw.Array):
            raise DataError(f"Column {name!r} holds {series.dtype}, not numbers: drop={[name]!r}, or {ENCODE}.")
        values = np.asarray(series.to_numpy())
        if values.dtype.kind == "c":
            raise DataError(f"Column {name!r} holds complex numbers: give real ones.")
        return values.astype(np.float64)

    def vectors(self, name: Any, width: int) -> NDArray[Any]:
        """A column of lists as a matrix; a list that is missing is a row of NaN, one of another length an error."""
        series = self._frame.get_column(name)
        here = ~np.asarray(series.is_null().to_numpy())
        there = series.drop_nulls()
        try:
            lengths, flat = _flat(there.to_native(), there)
            if flat.dtype not in (np.float32, np.float64):
                flat = flat.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise DataError(f"Column {name!r} holds lists of something else than numbers ({error}).") from None
        other = np.flatnonzero(lengths != width)
        if other.size:
            row, found = np.flatnonzero(here)[other[0]] + 1, lengths[other[0]]
            raise DataError(
                f"Column {name!r} holds lists of {width} numbers, but one of {found} in row {row} of these: make them "
                "equally long."
            )
        if here.all():
            return flat.reshape(-1, width)
        matrix = np.full((here.size, width), np.nan, dtype=flat.dtype)
        matrix[here] = flat.reshape(-1, width)
        return matrix

    def widened(self, widths: Mapping[Any, int]) -> WideRows:
        """All columns as features; those of lists are as wide as told."""
        both = list(zip(self.columns, self.names, strict=True))
        names = [part for name, text in both for part in (part_names(text, widths[name]) if widths[name] else [text])]
        parts = [self.vectors(name, widths[name]) if widths[name] else self.numbers(name)[:, None] for name, _ in both]
        twice = repeated(names)
        if twice is not None:
            raise DataError(f"Two features are named {twice!r}, one of them a part of a list: rename that column.")
        single = all(part.dtype == np.float32 for part in parts)
        kind = np.float32 if single else np.float64
        values = parts[0].astype(kind, copy=False) if len(parts) == 1 else np.hstack([p.astype(kind) for p in parts])
        library = self._nw.get_native_namespace(self._frame)
        frame = library.table if library.__name__ == "pyarrow" else library.DataFrame
        return WideRows(values, frame({name: np.empty(0) for name in names}))

    def ids(self, name: str) -> NDArray[Any]:
        """A column of integers or strings."""
        series = self._frame.get_column(name)
        if series.null_count():
            raise DataError(f"Column {name!r} is missing in {series.null_count()} rows: fill it in or drop them.")
        native = series.to_native()
        if series.dtype.is_integer() and is_arrow(native):
            return numbers_of(native, native.type.to_pandas_dtype())
        if series.dtype.is_integer():
            return np.asarray(series.to_numpy())
        if series.dtype.is_numeric():
            values = self.numbers(name)
            if not np.all(values == np.floor(values)) or np.any(np.abs(values) > 2.0**53):
                raise DataError(f"Column {name!r} holds fractions, NaN or huge numbers: give integers or texts as ids.")
            return values.astype(np.int64)
        ids = np.empty(self.n_rows, dtype=object)
        ids[:] = list(self.texts(name))
        return ids

    def texts(self, name: str) -> Iterable[str]:
        """A column as strings, "" where one is missing."""
        return ("" if value is None else str(value) for value in self._frame.get_column(name).to_list())


def _first(series: Any) -> Any:
    """The first value that is there; None if there is none."""
    return next(iter(series.drop_nulls().head(1).to_list()), None)


def _flat(native: Any, series: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Lengths of lists, and their numbers one after another, as the library of the column gives them."""
    library = type(native).__module__.partition(".")[0]
    if library == "polars":
        width = getattr(native.dtype, "size", None)
        lengths = np.full(len(native), width) if width is not None else native.list.len().to_numpy()
        return lengths, native.explode().to_numpy()
    if library == "pyarrow":
        import pyarrow.compute as pc

        return pc.list_value_length(native).to_numpy(), pc.list_flatten(native).to_numpy()
    vectors = [np.asarray(value) for value in series.to_list()]
    return np.array([vector.size for vector in vectors]), np.concatenate([vector.ravel() for vector in vectors])
