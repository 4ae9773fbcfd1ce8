"""Problems by chance: shapes, kinds of X and of preferences, weights and oddities mixed; pairs can be listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._errors import NoPairsError
from .cases import STORED, Problem, problem
from .problems import make_ranking


def random_problem(rng: np.random.Generator, most_rows: int = 50) -> Problem:
    """A problem of at most so many rows, and of some hundred pairs as a rule."""
    return _with_pairs(lambda: _drawn(rng, most_rows))


def random_sparse_problem(rng: np.random.Generator, most_rows: int = 60, most_columns: int = 80) -> Problem:
    """A problem whose X is CSR, of at most so many rows and columns: words, fields or ratings on a small scale."""
    return _with_pairs(lambda: _drawn_sparse(rng, most_rows, most_columns))


def _with_pairs(draw: Callable[[], Problem]) -> Problem:
    """The first of the problems drawn in which a row is better than another."""
    while True:
        found = draw()
        try:
            assert found.data.n_features
        except NoPairsError:
            continue
        return found


def _drawn(rng: np.random.Generator, most_rows: int) -> Problem:
    m, d, q = int(rng.integers(2, most_rows + 1)), int(rng.choice([1, 2, 4, 8, 16])), int(rng.choice([1, 1, 2, 5]))
    n_levels, noise = [None, 2, 3, 6][rng.integers(4)], float(rng.choice([0.0, 0.5, 3.0]))
    X, y, qid = make_ranking(m, d, q, n_levels, noise=noise, seed=int(rng.integers(2**32)))
    order = rng.permutation(m)
    stored = STORED[str(rng.choice(list(STORED)))](_features(rng, X[order]))
    return problem(stored, y[order], qid[order], **_options(rng, y[order], qid[order]))


def _drawn_sparse(rng: np.random.Generator, most_rows: int, most_columns: int) -> Problem:
    m, d = int(rng.integers(5, most_rows + 1)), int(rng.integers(2, most_columns + 1))
    chance = np.arange(1, d + 1) ** -float(rng.choice([0.0, 1.0]))  # columns even, or by Zipf's law
    length = rng.integers(1, int(rng.choice([2, 6, 31])), m)
    row, column = np.repeat(np.arange(m), length), rng.choice(d, int(length.sum()), p=chance / chance.sum())
    value = (
        np.ones(row.size) if rng.random() < 0.4 else rng.gamma(2.0, 0.5, row.size) * rng.choice([-1, 1, 1], row.size)
    )
    if rng.random() < 0.3:
        value *= rng.choice([-1.0, 1.0], row.size)
    X = sp.csr_array((value, (row, column)), shape=(m, d))  # a word that occurs twice counts twice
    if rng.random() < 0.2:
        X = X[rng.integers(0, max(m // 5, 1), m)]  # equal rows
    if rng.random() < 0.2:
        X = sp.csr_array(X.multiply(10.0 ** rng.uniform(-2, 2, d)))
    y = X @ rng.standard_normal(d) + float(rng.choice([0.0, 0.5, 3.0])) * rng.standard_normal(m)
    if (levels := int(rng.choice([0, 2, 2, 5]))) > 0:  # mostly of one grade, now and then
        y = np.floor(levels * (np.argsort(np.argsort(y)) / m) ** float(rng.choice([1.0, 4.0])))
    qid = rng.integers(0, int(rng.choice([1, 1, 3, 10])), m)
    X.sort_indices()
    return problem(X.astype(rng.choice(["f4", "f8", "f8"])), y, qid, **_options(rng, y, qid))


def _features(rng: np.random.Generator, X: Any) -> Any:
    """Now and then whole numbers, zeros, columns of different sizes, offsets, equal rows, a constant column."""
    kind = rng.random(6)
    if kind[0] < 0.2:
        X = np.round(X)
    if kind[1] < 0.3:
        X = X * (rng.random(X.shape) < 0.4)
    if kind[2] < 0.2:
        X = X * 10.0 ** rng.uniform(-3, 3, X.shape[1])
    if kind[3] < 0.2:
        X = X + 10.0 ** rng.uniform(0, 6, X.shape[1])
    if kind[4] < 0.1:
        X = X[rng.integers(0, X.shape[0], X.shape[0])]
    if kind[5] < 0.1:
        X = X.copy()
        X[:, rng.integers(X.shape[1])] = 3.0
    return X


def _options(rng: np.random.Generator, y: Any, qid: Any) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.2:
        options["sample_weight"] = rng.uniform(0.1, 3.0, y.size) * (rng.random(y.size) < 0.8)
    if rng.random() < 0.2:
        options["query_weight"] = {int(q): float(rng.choice([0.2, 1.0, 30.0])) for q in np.unique(qid)}
    if rng.random() < 0.2:
        options["query_weighting"] = "queries"
    if rng.random() < 0.2:
        options["preferences"] = "chain"
    elif rng.random() < 0.1 and (levels := np.unique(y)).size > 1:
        options["preferences"] = [(*rng.choice(levels, 2, replace=False), rng.uniform(0.1, 2.0)) for _ in levels[1:]]
    if rng.random() < 0.2:
        listed = [(i, j) for i, j in rng.integers(0, y.size, (20, 2)) if qid[i] == qid[j] and i != j]
        if listed:
            options["pairs"] = np.column_stack([listed, rng.uniform(0.1, 3.0, len(listed))])
    return options
