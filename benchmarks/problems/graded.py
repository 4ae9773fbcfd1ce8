"""Noisy linear utilities, dense or sparse, in any shape: what comparisons of two revisions run on."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=2000, features=10, queries=20, levels=5, pairs=80_148)


def make(
    rows: int = 2000,
    features: int = 10,
    queries: int = 20,
    levels: int | None = 5,
    per_row: int | None = None,
    dtype: type = np.float64,
    seed: int = 0,
) -> Problem:
    """Normal features, or `per_row` non-zeros a row by Zipf's law; levels None: real-valued utilities."""
    rng = np.random.default_rng(seed)
    if per_row is None:
        X = rng.standard_normal((rows, features)).astype(dtype)
        utility = X @ rng.standard_normal(features) + 2.0 * rng.standard_normal(rows)
    else:
        words = np.minimum((features ** rng.random((rows, per_row))).astype(np.int64), features) - 1
        row = np.repeat(np.arange(rows), per_row)
        X = sp.csr_matrix((np.ones(words.size, dtype), (row, words.ravel())), shape=(rows, features))
        X.data /= np.sqrt(per_row)
        utility = 3.0 * (X @ rng.standard_normal(features)) + rng.standard_normal(rows)
    y = utility if levels is None else np.floor(levels * np.argsort(np.argsort(utility)) / rows)
    qid = None if queries == 1 else np.sort(rng.integers(0, queries, rows))
    return Problem(X, y, qid)


def small(*_: object) -> Problem:
    """Small already."""
    return make(200, 5, 4)
