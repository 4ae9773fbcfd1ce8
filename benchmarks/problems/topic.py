"""Documents of which one in 500 is of a topic, one query: the shape of RCV1's E311 in Sculley (2009), synthetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from problems import About, Problem

ABOUT = About("synthetic, seed 1", rows=781_265, features=47_236, queries=1, levels=2, pairs=1_222_564_896)


def make(
    n_rows: int = 781_265, seed: int = 1, features: int = 47_236, per_row: int = 75, rare: float = 2e-3
) -> Problem:
    """Zipf-distributed words, rows of unit length.

    One in 500 has the topic's label, and an eighth of its words are of the topic; of the others one in 100 has 6 %.
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < rare).astype(np.int64)
    share = np.where(y == 1, 0.125, np.where(rng.random(n_rows) < 0.01, 0.06, 0.0))
    words = np.minimum((features ** rng.random((n_rows, per_row), dtype=np.float32)).astype(np.int32), features) - 1
    own = rng.random((n_rows, per_row), dtype=np.float32) < share[:, None]
    chosen = np.random.default_rng(0).integers(1, 400, 10**6)[rng.integers(0, 10**6, int(own.sum()))]
    words[own] = 7919 * chosen % features
    X = sp.csr_matrix(
        (np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, per_row)), shape=(n_rows, features)
    )
    X.sum_duplicates()
    weight = np.log(2 + np.arange(features)) / np.log(features)  # rare words weigh more
    X.data = (1 + np.log(X.data)) * weight[X.indices]
    length: Any = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(length, np.diff(X.indptr))
    return Problem(X, y)


def small(n_rows: int = 4000, seed: int = 1) -> Problem:
    """The same with few rows and words, and one in 20 of the topic."""
    return make(min(n_rows, 4000), seed, 500, 20, 0.05)
