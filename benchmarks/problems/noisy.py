"""Linear utilities of columns in different units, with as much noise as is asked for. Made from a seed."""

from __future__ import annotations

import numpy as np

from problems import About, Problem

ABOUT = About("synthetic, seed 1", rows=500, features=40, queries=1, levels=500, pairs=124_750)


def make(seed: int = 1, rows: int = 500, features: int = 40, noise: float = 0.3, queries: int | None = None) -> Problem:
    """The noise is in standard deviations of the utility; real-valued utilities, or five grades of several queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) * np.exp(rng.normal(size=features))
    utility = X @ (rng.normal(size=features) / X.std(axis=0))
    utility = utility / utility.std() + noise * rng.normal(size=rows)
    if queries is None:
        return Problem(X, utility)
    qid = rng.integers(0, queries, rows)
    return Problem(X, np.digitize(utility, [-1.0, 0.0, 1.0, 1.8]).astype(float), qid)


def small(*given: object) -> Problem:
    """Fewer rows."""
    return make(1, 60, 6)
