"""Dataframes of any kind as ranking data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError
from .._typing import FloatArray
from ..data.dataset import Dataset
from ._columns import Columns, warn_of_no_queries
from ._lists import spread, width_of
from ._tables import OneTable, whole


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
    them and their order. A column of lists, all of a length (an embedding, say), stands for as many: ``emb_0``, ...
    Null and NaN are missing values: see `read_svmlight` for `missing`.

    Where no query column is found all rows are one query, which is logged; and a column of whole numbers or texts that
    is constant over runs of rows, as the id of a query is, is refused, until `query` says what it is ("": a feature).
    """
    columns = Columns(label, query, id, weight, features, drop)
    table = FrameTable(frame)
    return warn_of_no_queries(whole(OneTable(table, table.lists), columns, missing, dtype))


class FrameTable:
    """The columns of a dataframe. One of lists, all of a length, stands for as many columns: ``emb_0``, ``emb_1``, ...

    `widths` tells their lengths where the frame is a part of a larger one.
    """

    def __init__(self, frame: Any, widths: Mapping[str, int] | None = None) -> None:
        try:
            self._frame = nw.from_native(frame, eager_only=True)
        except DuplicateError as error:
            twice = " ".join(str(error).split())
            raise DataError(f"Two columns have one name ({twice}): rename one of them.") from None
        except TypeError:
            kind = type(frame).__name__
            raise DataError(f"{kind} is not a dataframe: give one of pandas, polars or pyarrow.") from None
        names, self.n_rows = [str(name) for name in self._frame.columns], len(self._frame)
        known = {name: width_of(self._frame[name]) for name in names} if widths is None else widths
        self.lists = {name: [f"{name}_{j}" for j in range(width)] for name, width in known.items() if width}
        self.names = [part for name in names for part in self.lists.get(name, [name])]
        self._place = {part: (name, j) for name, parts in self.lists.items() for j, part in enumerate(parts)}
        self._spread: dict[str, FloatArray] = {}

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where one is missing."""
        if name in self._place:
            column, j = self._place[name]
            if column not in self._spread:
                self._spread[column] = spread(self._frame[column], len(self.lists[column]))
            return self._spread[column][:, j]
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
