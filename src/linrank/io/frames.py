"""Dataframes of any kind as ranking data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError
from .._typing import FloatArray
from ..data.dataset import Dataset
from ._columns import Columns, warn_of_no_queries
from ._tables import dataset


def from_frame(
    frame: Any,
    *,
    label: str | None = None,
    query: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    missing: str = "error",
    dtype: DTypeLike = np.float64,
) -> Dataset:
    """Ranking data from any dataframe that narwhals knows: pandas, polars, pyarrow and others.

    Columns are named by `label`, `query`, `id` and `weight`; "" is none of them, None guesses by name (`GUESSES`) and
    says so in `description`. All other columns, less `drop`, are features, which must be numbers; `features` names
    them and their order. Null and NaN are missing values: see `read_svmlight` for `missing`.

    Where no query column is found all rows are one query, which is logged; and a column of whole numbers or texts that
    is constant over runs of rows, as the id of a query is, is refused, until `query` says what it is ("": a feature).
    """
    columns = Columns(label, query, id, weight, features, drop)
    return warn_of_no_queries(dataset(FrameTable(frame), columns, missing, dtype))


class FrameTable:
    """The columns of a dataframe."""

    def __init__(self, frame: Any) -> None:
        try:
            self._frame = nw.from_native(frame, eager_only=True)
        except DuplicateError as error:
            twice = " ".join(str(error).split())
            raise DataError(f"Two columns have one name ({twice}): rename one of them.") from None
        except TypeError:
            kind = type(frame).__name__
            raise DataError(f"{kind} is not a dataframe: give one of pandas, polars or pyarrow.") from None
        self.names = [str(name) for name in self._frame.columns]
        self.n_rows = len(self._frame)

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where one is missing."""
        series = self._frame[name]
        if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            raise DataError(f"Column {name!r} holds {series.dtype}, not numbers: drop={[name]!r}, or encode it first.")
        if series.dtype.is_integer() and not series.null_count():
            return np.asarray(series.to_numpy()).astype(np.float64)  # the nearest: a cast may refuse those above 2^53
        if series.dtype.is_integer():
            return np.array([float(value) if isinstance(value, int) else np.nan for value in series.to_list()])
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)

    def ids(self, name: str) -> NDArray[Any]:
        """A column of integers or strings."""
        series = self._frame[name]
        if series.null_count():
            raise DataError(f"Column {name!r} is missing in {series.null_count()} rows: fill it in or drop them.")
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
        return ("" if value is None else str(value) for value in self._frame[name].to_list())
