"""The size of MSLR-WEB30K in float32: correlated, heavy-tailed columns on very different scales, 5 grades."""

from __future__ import annotations

import numpy as np

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=2_270_296, features=136, queries=18_919, levels=5, pairs=83_060_506)


def make(n_rows: int = 2_270_296, n_queries: int = 18_919, n_features: int = 136, seed: int = 0) -> Problem:
    """Made piece by piece, or the pieces in float64 would not fit."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((12, n_features)).astype(np.float32)
    units = (10.0 ** rng.uniform(-3, 4, n_features)).astype(np.float32)
    w = rng.standard_normal(n_features).astype(np.float32) / 8
    X = np.empty((n_rows, n_features), dtype=np.float32)
    utility = np.empty(n_rows, dtype=np.float32)
    step = 1 << 16
    for first in range(0, n_rows, step):
        rows = slice(first, min(first + step, n_rows))
        count = rows.stop - first
        Z = rng.standard_normal((count, 12), dtype=np.float32) @ loadings / 4
        Z += rng.standard_normal((count, n_features), dtype=np.float32)
        utility[rows] = np.tanh(Z) @ w + rng.standard_normal(count, dtype=np.float32)
        X[rows] = np.sinh(0.8 * Z) * units
    y = np.searchsorted(np.quantile(utility, [0.52, 0.84, 0.97, 0.99]), utility).astype(float)
    return Problem(X, y, np.sort(rng.integers(0, n_queries, n_rows)))


def small(*_: int) -> Problem:
    """The same with few rows and features."""
    return make(2000, 20, 12)
