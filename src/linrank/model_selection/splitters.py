"""Splitters that never split a query."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..data.checks import check_choice, check_utilities
from ..data.labels import split_labels
from ..data.queries import encode_queries
from .folds import Fold, balanced, rows_of

BALANCES = ("rows", "pairs")


class _QuerySplitter(BaseCrossValidator):
    """What splitters by query share: they read the queries from qid, from y=labels(y, qid), or from groups."""

    # Queries are asked for by default, under both names, so that search.fit(X, y, qid=...) needs no set_split_request.
    __metadata_request__split = {"groups": True, "qid": True}  # noqa: RUF012

    n_splits: int
    balance: str

    def split(
        self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Iterator[Fold]:
        """Training and test rows of each split; `groups`, scikit-learn's word, and `qid` mean the same."""
        if isinstance(self.n_splits, bool) or not isinstance(self.n_splits, (int, np.integer)) or self.n_splits < 1:
            raise ParameterError(f"n_splits={self.n_splits!r} must be a whole number above 0.")
        check_choice("balance", self.balance, BALANCES)
        y, qid = split_labels(y, qid)
        ids = qid if qid is not None else groups
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if ids is None:
            raise DataError("There are no queries to split by: pass qid (or groups), or let y be labels(y, qid).")
        query, names = encode_queries(ids, n_rows)
        if names.size < 2:
            raise DataError("All rows are one query, which is never split: use scikit-learn's KFold to split its rows.")
        yield from self._folds(query, _loads(self.balance, query, names.size, y))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Number of splits."""
        return int(self.n_splits)

    @abstractmethod
    def _folds(self, query: NDArray[np.int64], load: FloatArray) -> list[Fold]:
        """Rows of each split, by the rows' queries and the queries' loads."""


class QueryKFold(_QuerySplitter):
    """K folds that never split a query.

    In scikit-learn's tools: ``cross_val_score(ranker, X, labels(y, qid), cv=QueryKFold(5))``. `groups=qid` alone would
    reach only the splitter, and the ranker would be fitted to all rows as one query, and judged so.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at most the number of queries.
    balance : {"rows", "pairs"}, default="rows"
        What the folds have about equally much of: rows, or pairs of rows that differ in y.
    shuffle : bool, default=False
        Deal queries of about equal size out at random. Otherwise the same data always gives the same folds.
    random_state : int, Generator or None, default=None
        Seed of the shuffle.
    """

    def __init__(
        self, n_splits: int = 5, *, balance: str = "rows", shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.balance = balance
        self.shuffle = shuffle
        self.random_state = random_state

    def _folds(self, query: NDArray[np.int64], load: FloatArray) -> list[Fold]:
        if not 2 <= self.n_splits <= load.size:
            raise DataError(f"n_splits={self.n_splits} folds of {load.size} queries: use 2 to {load.size} folds.")
        rng = np.random.default_rng(self.random_state) if self.shuffle else None
        return rows_of(balanced(load, int(self.n_splits), rng)[query])


class QueryShuffleSplit(_QuerySplitter):
    """Random splits that never split a query.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, each drawn anew.
    test_size : float, default=0.2
        The share of rows (or pairs) to test on, as nearly as whole queries allow; each side has at least one query.
    balance : {"rows", "pairs"}, default="rows"
        What `test_size` is a share of.
    random_state : int, Generator or None, default=None
        Seed.
    """

    def __init__(
        self, n_splits: int = 5, test_size: float = 0.2, *, balance: str = "rows", random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.balance = balance
        self.random_state = random_state

    def _folds(self, query: NDArray[np.int64], load: FloatArray) -> list[Fold]:
        if not 0 < self.test_size < 1:
            raise ParameterError(f"test_size={self.test_size!r} must be a share between 0 and 1.")
        rng = np.random.default_rng(self.random_state)
        folds = []
        for _ in range(int(self.n_splits)):
            order = rng.permutation(load.size)
            filled = np.cumsum(load[order])[:-1]
            n_test = int(np.argmin(np.abs(filled - self.test_size * load.sum()))) + 1
            test = np.zeros(load.size, dtype=bool)
            test[order[:n_test]] = True
            folds.append((np.flatnonzero(~test[query]), np.flatnonzero(test[query])))
        return folds


def _loads(balance: str, query: NDArray[np.int64], n_queries: int, y: Any) -> FloatArray:
    """What to balance: rows of each query, or its pairs (and, where these are equal, rows)."""
    rows = np.bincount(query, minlength=n_queries).astype(np.float64)
    if balance == "rows":
        return rows
    if y is None:
        raise DataError("balance='pairs' needs y, to know which rows differ: pass y, or use balance='rows'.")
    values = check_utilities(y, query.size)
    order = np.lexsort((values, query))
    level = np.cumsum(np.r_[True, (np.diff(values[order]) != 0) | (np.diff(query[order]) != 0)]) - 1
    size = np.bincount(level).astype(np.float64)
    tied = np.bincount(query[order][np.r_[True, np.diff(level) > 0]], size**2, minlength=n_queries)
    return (rows**2 - tied) / 2 + rows / (1.0 + query.size)
