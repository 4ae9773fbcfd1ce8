"""Embeddings: columns that share a few directions, more of them than rows. Made from a seed."""

from __future__ import annotations

import numpy as np

from problems import About, Problem

ABOUT = About("synthetic, seed 1", rows=600, features=1500, queries=1, levels=600, pairs=179_700)


def make(
    seed: int = 1, rows: int = 600, features: int = 1500, noise: float = 0.5, queries: int | None = None
) -> Problem:
    """30 directions and some noise; real-valued utilities of one query, or four grades of several."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(rows, 30))
    X = Z @ rng.normal(size=(30, features)) / np.sqrt(30) + 0.3 * rng.normal(size=(rows, features))
    X = X * np.exp(0.3 * rng.normal(size=features))
    utility = Z @ rng.normal(size=30) / np.sqrt(30) + noise * rng.normal(size=rows)
    if queries is None:
        return Problem(X, utility)
    qid = rng.integers(0, queries, rows)
    return Problem(X, np.digitize(utility, [-1, 0, 1]).astype(float), qid)


def small(*given: object) -> Problem:
    """Fewer columns."""
    return make(1, 60, 80)
