"""Dataframes of any kind as ranking data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..data.dataset import Dataset
from ..data.frames import FrameTable
from ._columns import Columns, dataset, warn_of_no_queries


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
    says so in `description`. All other columns, less `drop`, are features, which must be numbers, or lists of as many
    numbers in every row (embeddings: the k-th number of a list in column "e" is the feature "e_k"); `features` names
    them and their order. Null and NaN are missing values: see `read_svmlight` for `missing`.

    Where no query column is found all rows are one query, which is logged; and a column of whole numbers or texts that
    is constant over runs of rows, as the id of a query is, is refused, until `query` says what it is ("": a feature).
    """
    columns = Columns(label, query, id, weight, features, drop)
    return warn_of_no_queries(dataset(FrameTable(frame), columns, missing, dtype))
