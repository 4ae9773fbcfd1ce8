"""Folds of explicit pairs: where pairs are all there is, they are what is split."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import BaseCrossValidator

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..data.checks import check_choice
from ..data.given import rows_of_pairs
from ..data.labelled import LabelledRows
from .folds import Fold, Halves, balanced, folds_by, kept_halves, rows_of

logger = logging.getLogger("linrank")

BY = ("pairs", "items")


class PairKFold(BaseCrossValidator):
    """K folds of explicit pairs: `split(pairs)` gives numbers of training and test pairs.

    For ``LinearRankerCV(cv=PairKFold(by="items")).fit(X, pairs=pairs)``, where numbers of folds mean pairs as well.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    by : {"pairs", "items"}, default="pairs"
        "pairs": pairs of the same two items, in either order, share a fold; the items themselves occur on both sides.
        "items": items that pairs connect, however far, share a fold, so that no item of a test pair was trained on.
    shuffle : bool, default=True
        Deal the pairs (or connected items of about as many pairs) out at random.
    random_state : int, Generator or None, default=0
        Seed of the shuffle.
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(self, n_splits: int = 5, *, by: str = "pairs", shuffle: bool = True, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.by = by
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: ArrayLike, y: Any = None, groups: Any = None) -> Iterator[Fold]:
        """Training and test pairs of each fold; X are the pairs, (n, 2) or (n, 3), by numbers of their items."""
        whole = isinstance(self.n_splits, (int, np.integer)) and not isinstance(self.n_splits, bool)
        if not whole or self.n_splits < 2:
            raise ParameterError(f"n_splits={self.n_splits!r} must be a whole number above 1.")
        check_choice("by", self.by, BY)
        pairs = rows_of_pairs(X, None, 0)
        if len(pairs) == 0:
            raise DataError("There are no pairs to split: give pairs as X.")
        unit = _meetings(pairs) if self.by == "pairs" else _components(pairs)
        n_units = int(unit.max()) + 1
        if n_units < self.n_splits:
            raise DataError(self._too_few(n_units, np.unique(pairs[:, :2]).size))
        rng = np.random.default_rng(self.random_state) if self.shuffle else None
        yield from rows_of(balanced(np.bincount(unit), int(self.n_splits), rng)[unit])

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return int(self.n_splits)

    def _too_few(self, n_units: int, n_items: int) -> str:
        if self.by == "pairs":
            return f"n_splits={self.n_splits} folds of {n_units} different pairs: use 2 to {n_units} folds."
        if n_units == 1:
            return (
                f"The pairs connect all {n_items:,} items, so that none can be held out with all of its pairs: use "
                "PairKFold(by='pairs')."
            )
        return (
            f"n_splits={self.n_splits}, but the pairs connect the {n_items:,} items in {n_units} sets, which are never "
            f"split: use 2 to {n_units} folds, or by='pairs'."
        )


def _meetings(pairs: FloatArray) -> NDArray[np.int64]:
    """The number of each pair's two items, whatever their order."""
    ends = np.sort(pairs[:, :2], axis=1)
    return np.unique(ends, axis=0, return_inverse=True)[1].ravel()


def _components(pairs: FloatArray) -> NDArray[np.int64]:
    """The number of each pair's set of connected items. O(pairs log pairs)."""
    items, end = np.unique(pairs[:, :2], return_inverse=True)
    ends = end.reshape(-1, 2)
    graph = sp.coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(items.size, items.size))
    component = connected_components(graph, directed=False)[1]
    return np.unique(component[ends[:, 0]], return_inverse=True)[1]


def split_pairs(cv: Any, pairs: FloatArray, query: NDArray[np.int64], ids: NDArray[Any]) -> list[Fold]:
    """Numbers of training and test pairs of each fold; `query` is that of each row, by number, and `ids` their names.

    A number of folds deals the pairs out, those of one query together where there are several; a splitter gets the
    pairs as X and their queries as groups; an iterable names pairs by number.
    """
    query = query[pairs[:, 0].astype(np.int64)]
    used = np.zeros(ids.size, dtype=bool)
    used[query] = True
    number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if number and cv >= 2 and used.sum() == 1:
        logger.info("Pairs are all there is: they are split into folds")
        cv = PairKFold(min(int(cv), max(2, len(np.unique(_meetings(pairs))))))
    if hasattr(cv, "split") and not isinstance(cv, str):
        cv = list(cv.split(pairs, None, query if used.sum() > 1 else None))
    return folds_by(cv, query, ids, used, None)


def pair_folds(cv: Any, rows: LabelledRows) -> list[Halves]:
    """Training and test data of folds of pairs: all rows, with some of the pairs each."""
    pairs = rows_of_pairs(rows.pairs, None, rows.n_rows)
    folds = split_pairs(cv, pairs, rows.grades.query, rows.grades.ids)
    return kept_halves([(rows.with_pairs(pairs[train]), rows.with_pairs(pairs[test])) for train, test in folds])
