"""Some 12 of 300 binary features a row, one query, 3 % relevant: as w8a. Made from a seed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=50_000, features=300, queries=1, levels=2, pairs=72_750_000)


def make(seed: int = 0, rows: int = 50_000, features: int = 300) -> Problem:
    """Features occur by a power law."""
    rng = np.random.default_rng(seed)
    chance = np.arange(1, features + 1) ** -0.7
    length = 1 + rng.poisson(14, rows)
    column = rng.choice(features, size=int(length.sum()), p=chance / chance.sum())
    row = np.repeat(np.arange(rows), length)
    X = sp.csr_matrix((np.ones(column.size), (row, column)), shape=(rows, features))
    X.sum_duplicates()
    X.data[:] = 1.0
    utility = X @ rng.normal(size=features) + 3.0 * rng.normal(size=rows)
    return Problem(X, (utility > np.quantile(utility, 0.97)).astype(float))


def small(seed: int = 0, *_: object) -> Problem:
    """Fewer of both."""
    return make(seed, 400, 40)
