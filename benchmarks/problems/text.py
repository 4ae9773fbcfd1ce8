"""Texts whose words follow Zipf's law, as tf-idf, in 1,000 queries of 5 grades. Made from a seed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem
from problems.words import weighed

ABOUT = About("synthetic, seed 0", rows=100_000, features=100_000, queries=1000, levels=5, pairs=3_575_430)


def make(seed: int = 0, rows: int = 100_000, features: int = 100_000, queries: int = 1000) -> Problem:
    """About 70 words a text; a fifth of them say something of its grade."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, features + 1)
    length = 1 + rng.poisson(110, rows)
    words = rng.choice(features, size=int(length.sum()), p=chance / chance.sum())
    row = np.repeat(np.arange(rows), length)
    X = weighed(sp.csr_matrix((np.ones(words.size), (row, words)), shape=(rows, features)), "tf-idf")
    utility = X @ (rng.normal(size=features) * (rng.random(features) < 0.2))
    utility += utility.std() * rng.normal(size=rows)
    grade = np.digitize(utility, np.quantile(utility, [0.4, 0.7, 0.85, 0.95])).astype(float)
    return Problem(X, grade, rng.integers(0, queries, rows))


def small(seed: int = 0, *_: object) -> Problem:
    """Fewer texts of fewer words."""
    return make(seed, 400, 300, 8)
