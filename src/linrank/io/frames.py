"""Dataframes of any kind as ranking data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._typing import FloatArray
from ..data.dataset import Dataset
from ..data.frames import Frame, part_names
from ._columns import Columns, warn_of_no_queries
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


class FrameTable(Frame):
    """The columns of a dataframe. One of lists, all of a length, stands for as many columns: ``emb_0``, ``emb_1``, ...

    `widths` tells their lengths where the frame is a part of a larger one.
    """

    def __init__(self, frame: Any, widths: Mapping[str, int] | None = None) -> None:
        super().__init__(frame)
        known = {name: self.width(name) for name in self.columns} if widths is None else widths
        self.lists = {str(name): part_names(str(name), width) for name, width in known.items() if width}
        self.names = [part for name in self.names for part in self.lists.get(name, [name])]
        self._place = {part: (name, j) for name, parts in self.lists.items() for j, part in enumerate(parts)}
        self._spread: dict[str, NDArray[Any]] = {}

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where one is missing."""
        if name not in self._place:
            return super().numbers(name)
        column, j = self._place[name]
        if column not in self._spread:
            self._spread[column] = self.vectors(column, len(self.lists[column]))
        return np.asarray(self._spread[column][:, j], dtype=np.float64)
