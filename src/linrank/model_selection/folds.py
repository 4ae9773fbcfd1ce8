"""Folds that never split a query: the arithmetic behind `model_selection` and LinearRankerCV."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError, ParameterError
from ..data.ranking_data import RankingData

logger = logging.getLogger("linrank")

ROWS_AT_ONCE = 1 << 14  # hashed in one go

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]  # training rows (or pairs), test rows
Halves = tuple[RankingData, RankingData]  # of a fold: training and test data


def make_folds(cv: Any, data: RankingData) -> list[Fold]:
    """Training and test rows from a number of folds, a scikit-learn splitter, or pairs of row numbers."""
    used = np.zeros(data.n_queries, dtype=bool)
    used[data.query[data.preferences.row]] = True
    return folds_by(cv, data.query, data.query_ids, used, data.y)


def folds_by(cv: Any, query: NDArray[np.int64], ids: NDArray[Any], used: NDArray[np.bool_], y: Any) -> list[Fold]:
    """As `make_folds`, for queries by number; a number of folds balances the rows of the queries that are `used`."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise ParameterError(f"cv={cv!r}: at least 2 folds are needed.")
        return _by_number(int(cv), query, used)
    splitter = hasattr(cv, "split") and not isinstance(cv, str)
    if splitter:
        cv = cv.split(np.zeros(query.size), y, query if used.size > 1 else None)  # KFold warns of groups
    if not isinstance(cv, Iterable) or isinstance(cv, str):
        raise ParameterError(f"cv={cv!r} is neither a number of folds, a splitter nor pairs of row numbers.")
    folds = [(np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)) for train, test in cv]
    cut = _describe_cut(folds, query, ids, used)
    if cut is not None and splitter:
        raise DataError(f"{cut}: use QueryKFold or GroupKFold, or give the folds as rows if that is what you want.")
    if cut is not None:
        logger.warning("%s: its score is that of a part of the query", cut)
    return folds


def _describe_cut(
    folds: list[Fold], query: NDArray[np.int64], ids: NDArray[Any], used: NDArray[np.bool_]
) -> str | None:
    """The first fold that tests a part of a query, said in words; a single query can only be split by rows."""
    size = np.bincount(query, minlength=ids.size)
    for number, (_, test) in enumerate(folds if used.sum() > 1 else [], 1):
        held = np.bincount(query[test], minlength=ids.size)
        cut = np.flatnonzero(used & (held > 0) & (held < size))
        if cut.size:
            return f"Fold {number} tests {held[cut[0]]} of the {size[cut[0]]} rows of query {ids[cut[0]]}"
    return None


def _by_number(n_folds: int, query: NDArray[np.int64], used: NDArray[np.bool_]) -> list[Fold]:
    n_used = int(used.sum())
    if n_used == 1:
        logger.info("There is one query with pairs: its rows are split into folds")
        fold = np.random.default_rng(0).permutation(query.size) % n_folds
    else:
        load = np.where(used, np.bincount(query, minlength=used.size), 0)
        fold = balanced(load, min(n_folds, n_used))[query]
    return rows_of(fold)


def rows_of(fold: NDArray[np.int64]) -> list[Fold]:
    """Training and test rows from each row's fold."""
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(fold.max()) + 1)]


def balanced(load: NDArray[Any], n_folds: int, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """The fold of each query: the heaviest first, each into the fold with the least load so far.

    With `rng`, the queries are taken by falling load, n_folds at a time, and dealt out at random: still balanced to
    within the heaviest query.
    """
    order = np.argsort(-load, kind="stable")
    fold = np.zeros(load.size, dtype=np.int64)
    if rng is not None:
        hands = rng.permuted(np.tile(np.arange(n_folds), (-(-load.size // n_folds), 1)), axis=1)
        fold[order] = hands.ravel()[: load.size]
        return fold
    held = np.zeros(n_folds, dtype=load.dtype)
    for query in order[: np.count_nonzero(load)]:
        fold[query] = np.argmin(held)
        held[fold[query]] += load[query]
    return fold


def with_pairs(folds: list[Fold], data: RankingData) -> list[Halves]:
    """Training and test data of the folds that have pairs on both sides; others are counted in a message."""
    return kept_halves([(data.part(train), data.part(test)) for train, test in folds])


def kept_halves(halves: list[Halves]) -> list[Halves]:
    """Those folds that have pairs on both sides."""
    kept = [fold for fold in halves if all(side.preferences.n_rankings for side in fold)]
    if not kept:
        raise DataError("No fold has pairs for both training and testing: use fewer folds, or give more data.")
    if len(kept) < len(halves):
        left_out = len(halves) - len(kept)
        logger.warning("%d of %d folds have no pair on one side: they are left out", left_out, len(halves))
    return kept


def content_folds(X: Any, positive: NDArray[np.bool_], used: NDArray[np.bool_], n_folds: int) -> list[Fold]:
    """Folds of the rows that are `used`, by what they hold, with like shares of both classes; none if 2 are too many.

    Equal rows of a class share a fold: none is held out while its copy is trained on, a row of weight 2 is the same as
    two rows, and the order of the rows does not matter.
    """
    content = row_hashes(X)
    classes = [np.flatnonzero(used & positive), np.flatnonzero(used & ~positive)]
    numbers = [np.unique(content[rows], return_inverse=True)[1] for rows in classes]
    n_folds = min(n_folds, *(int(number.max(initial=-1)) + 1 for number in numbers))
    if n_folds < 2:
        return []
    fold = np.full(positive.size, -1)
    for rows, number in zip(classes, numbers, strict=True):
        fold[rows] = number % n_folds
    return [(np.flatnonzero((fold != k) & used), np.flatnonzero(fold == k)) for k in range(n_folds)]


def row_hashes(X: Any) -> NDArray[np.uint64]:
    """A hash of each row's values: sum of (bits of the value) * (a random odd number of its column), then mixed.

    Zeros add nothing, so sparse and dense rows hash alike. O(entries).
    """
    factor = np.random.default_rng(0).integers(0, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    out = np.zeros(X.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            terms = _bits(X.data) * factor[X.indices]
            sums = np.r_[np.uint64(0), np.cumsum(terms, dtype=np.uint64)]  # wraps around, and so do the differences
            out = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
        else:
            for start in range(0, X.shape[0], ROWS_AT_ONCE):
                rows = slice(start, start + ROWS_AT_ONCE)
                out[rows] = (_bits(X[rows]) * factor).sum(axis=1, dtype=np.uint64)
        out ^= out >> np.uint64(32)
        return out * np.uint64(0x9E3779B97F4A7C15)


def _bits(values: Any) -> NDArray[np.uint64]:
    """The bits of float64 numbers, -0.0 being 0.0."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)
