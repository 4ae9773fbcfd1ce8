"""Thirty fields of one value each, hashed into 2^18 columns: as for advertisements. Queries of 20. From a seed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=300_000, features=262_144, queries=15_000, levels=2, pairs=911_328)


def make(seed: int = 0, rows: int = 300_000, bits: int = 18, fields: int = 30, per_query: int = 20) -> Problem:
    """Fields of 10 to 50,000 values by Zipf's law; a fifth of the rows are clicked."""
    rng = np.random.default_rng(seed)
    columns = np.empty((rows, fields), dtype=np.int64)
    for field, size in enumerate(np.geomspace(10, 50_000, fields).astype(int)):
        chance = 1.0 / np.arange(1, size + 1)
        value = rng.choice(size, size=rows, p=chance / chance.sum())
        columns[:, field] = (value * 2_654_435_761 + field * 320_749_977) % (1 << bits)
    indptr = np.arange(0, rows * fields + 1, fields)
    X = sp.csr_matrix((np.ones(rows * fields), columns.ravel(), indptr), shape=(rows, 1 << bits))
    X.sum_duplicates()
    utility = X @ rng.normal(size=1 << bits)
    utility += utility.std() * rng.normal(size=rows)
    return Problem(X, (utility > np.quantile(utility, 0.8)).astype(float), np.arange(rows) // per_query)


def small(seed: int = 0, *_: object) -> Problem:
    """Fewer rows, columns and fields."""
    return make(seed, 400, 9, 8)
