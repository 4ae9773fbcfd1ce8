"""What a fit is given beside its features, brought to one form: queries per row, pairs by row.

Queries may be a frame's column by name, or the sizes of groups that follow one another; pairs may name rows by an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError
from .._typing import FloatArray
from .checks import refuse_masked
from .frames import column_of, drop_columns


class Given(NamedTuple):
    """Features without the columns that are none, queries and pairs."""

    X: Any
    qid: Any  # one id per row, or None
    pairs: FloatArray | None  # (winner row, loser row, weight)
    aside: tuple[str, ...]  # columns of the frame that are no features


def gather(X: Any, qid: Any = None, *, group: Any = None, pairs: Any = None, ids: Any = None) -> Given:
    """Queries from qid, a column or group sizes; pairs by row, or by the id of each row."""
    aside = tuple(name for name in (qid, ids) if isinstance(name, str))
    if isinstance(qid, str):
        qid = column_of(X, qid, "qid")
    if group is not None:
        if qid is not None:
            raise DataError("qid and group both name the queries: give one of them.")
        qid = from_sizes(group, count_rows(X))
    if isinstance(ids, str):
        ids = column_of(X, ids, "ids")
    if ids is not None and pairs is None:
        raise DataError("ids name the rows that pairs speak of, but there are no pairs: give pairs, or leave ids out.")
    rows = None if pairs is None else rows_of_pairs(pairs, ids, 0 if ids is None else count_rows(X))
    return Given(drop_columns(X, aside), qid, rows, aside)


def count_rows(X: Any) -> int:
    """Rows of whatever holds features."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def from_sizes(group: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    """The query of each row, from the sizes of groups that follow one another, as in LightGBM and XGBoost."""
    refuse_masked("group", group)
    try:
        sizes = np.asarray(group, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"group must hold the sizes of the queries: {error}.") from None
    if sizes.ndim != 1 or not np.all(np.isfinite(sizes)) or np.any(sizes < 0) or np.any(sizes != np.floor(sizes)):
        raise DataError("group must hold the sizes of the queries, whole numbers from 0 on, in the order of the rows.")
    if sizes.sum() != n_rows:
        cure = "they look like one id per row: pass them as qid" if sizes.size == n_rows else "check the sizes"
        raise DataError(f"group adds up to {sizes.sum():,.0f} rows, but X has {n_rows:,}: {cure}.")
    return np.repeat(np.arange(sizes.size), sizes.astype(np.int64))


def rows_of_pairs(pairs: Any, ids: ArrayLike | None, n_rows: int) -> FloatArray:
    """Explicit pairs as (winner row, loser row, weight), by row number or by id; some may come without a weight."""
    given = _triples(pairs, ids is not None)
    if ids is None:
        try:
            return given.astype(np.float64)
        except (ValueError, TypeError, OverflowError) as error:
            raise DataError(
                f"pairs must hold numbers, (winner row, loser row[, weight]): {error}. Pairs of ids need ids=, one per "
                "row."
            ) from None
    row = _rows_by_id(ids, n_rows)
    found = np.empty((len(given), 3))
    for k in (0, 1):
        found[:, k] = _look_up(given[:, k], row)
    try:
        found[:, 2] = given[:, 2].astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"The third column of pairs must hold weights: {error}.") from None
    return found


def _triples(pairs: Any, by_id: bool) -> NDArray[Any]:
    """Pairs as an array of three columns; lists may mix those with and without weights."""
    if isinstance(pairs, (list, tuple)) and len(pairs) and all(map(_is_pair, pairs)):
        pairs = [tuple(pair) if len(pair) == 3 else (*pair, 1.0) for pair in pairs]
        if by_id:  # numpy would make texts of the weights
            table = np.empty((len(pairs), 3), dtype=object)
            table[:] = pairs
            return table
    try:
        p = np.asarray(pairs)
    except ValueError:
        wrong = next(pair for pair in pairs if not _is_pair(pair))
        raise DataError(f"pairs holds {wrong!r}: give (winner, loser) or (winner, loser, weight).") from None
    if p.size == 0:
        p = p.reshape(0, 2).astype(np.float64)
    if p.ndim != 2 or p.shape[1] not in (2, 3):
        raise DataError(f"pairs has shape {p.shape}: give (n, 2), or (n, 3) with weights.")
    if p.shape[1] == 3:
        return p
    return np.column_stack([p.astype(object) if p.dtype.kind in "US" else p, np.ones(len(p))])


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, (list, tuple, np.ndarray)) and len(pair) in (2, 3)


def _rows_by_id(ids: ArrayLike, n_rows: int) -> dict[Any, int]:
    """The row of each id; -1 where several have it."""
    refuse_masked("ids", ids)
    names = np.asarray(ids, dtype=object) if isinstance(ids, (list, tuple)) else np.asarray(ids)
    if names.shape != (n_rows,):
        raise DataError(f"ids has shape {names.shape}, but X has {n_rows} rows: give one id per row.")
    row: dict[Any, int] = {}
    for k, name in enumerate(names.tolist()):
        row[name] = -1 if name in row else k
    return row


def _look_up(names: NDArray[Any], row: Mapping[Any, int]) -> list[int]:
    found = []
    for k, name in enumerate(names.tolist()):
        place = row.get(name)
        if place is None and isinstance(name, float) and name.is_integer():
            place = row.get(int(name))  # beside a column of weights whole numbers become floats
        if place is None:
            raise DataError(f"pairs names {name!r} (pair {k}), which is none of the ids: check that their types agree.")
        if place < 0:
            raise DataError(
                f"pairs names {name!r} (pair {k}), and several rows have this id: give rows ids of their own."
            )
        found.append(place)
    return found
