"""Makers of ranking problems."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray


def make_ranking(
    n_rows: int = 200,
    n_features: int = 5,
    n_queries: int = 1,
    n_levels: int | None = None,
    *,
    noise: float = 0.5,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Return X, y, qid of a noisy linear ranking problem; n_levels None: real-valued utilities."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    y = X @ rng.standard_normal(n_features) + noise * rng.standard_normal(n_rows)
    if n_levels is not None:
        y = np.floor(n_levels * np.argsort(np.argsort(y)) / n_rows)
    return X, y, np.sort(rng.integers(0, n_queries, n_rows))
