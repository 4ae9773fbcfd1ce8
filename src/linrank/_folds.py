"""Folds that never split a query, balanced by rows."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._data import RankingData
from ._errors import DataError, ParameterError

logger = logging.getLogger("linrank")

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]  # training rows, test rows


def make_folds(cv: Any, data: RankingData) -> list[Fold]:
    """Training and test rows from a number of folds, a scikit-learn splitter, or pairs of row numbers."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise ParameterError(f"cv={cv!r}: at least 2 folds are needed.")
        return _by_number(int(cv), data)
    if hasattr(cv, "split"):
        cv = cv.split(np.zeros(data.n_rows), data.y, data.query)
    if not isinstance(cv, Iterable):
        raise ParameterError(f"cv={cv!r} is neither a number of folds, a splitter nor pairs of row numbers.")
    return [(np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)) for train, test in cv]


def _by_number(n_folds: int, data: RankingData) -> list[Fold]:
    used = np.unique(data.query[data.preferences.row])
    if used.size == 1:
        logger.info("There is one query with pairs: its rows are split into folds")
        fold = np.random.default_rng(0).permutation(data.n_rows) % n_folds
    else:
        fold = _balanced(np.bincount(data.query, minlength=data.n_queries), used, min(n_folds, used.size))[data.query]
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(fold.max()) + 1)]


def _balanced(rows: NDArray[np.int64], used: NDArray[np.int64], n_folds: int) -> NDArray[np.int64]:
    """The fold of each query: the longest first, each into the fold with the fewest rows so far."""
    fold, load = np.zeros(rows.size, dtype=np.int64), np.zeros(n_folds, dtype=np.int64)
    for query in used[np.argsort(-rows[used], kind="stable")]:
        fold[query] = np.argmin(load)
        load[fold[query]] += rows[query]
    return fold


def with_pairs(folds: list[Fold], data: RankingData) -> list[tuple[RankingData, RankingData]]:
    """Training and test data of the folds that have pairs on both sides; others are counted in a message."""
    parts = [(data.part(train), data.part(test)) for train, test in folds]
    kept = [(train, test) for train, test in parts if train is not None and test is not None]
    if not kept:
        raise DataError("No fold has pairs for both training and testing: use fewer folds, or give more data.")
    if len(kept) < len(folds):
        logger.warning("%d of %d folds have no pair on one side: they are left out", len(folds) - len(kept), len(folds))
    return kept
