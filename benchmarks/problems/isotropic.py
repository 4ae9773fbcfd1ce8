"""Independent normal features, 5 grades: conjugate gradients need a handful of steps."""

from __future__ import annotations

import numpy as np

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=250_000, features=136, queries=2500, levels=5, pairs=8_492_283)


def make(n_rows: int = 250_000, n_features: int = 136, n_queries: int = 2_500, seed: int = 0) -> Problem:
    """Utilities are linear with as much noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    utility = X @ rng.standard_normal(n_features) / np.sqrt(n_features) + rng.standard_normal(n_rows)
    y = np.searchsorted([0.0, 0.6, 1.3, 2.0], utility).astype(float)
    return Problem(X, y, np.sort(rng.integers(0, n_queries, n_rows)))


def small(*_: int) -> Problem:
    """The same with few rows and features."""
    return make(1500, 16, 15)
