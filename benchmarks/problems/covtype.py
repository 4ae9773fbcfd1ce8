"""The shape of the covtype data, made synthetically: 10 correlated measures and 44 indicators, 7 levels, one query."""

from __future__ import annotations

import numpy as np

from problems import About, Problem, standardised

ABOUT = About("synthetic, seed 0", rows=581_012, features=54, queries=1, levels=7, pairs=105_061_860_530)


def make(n_rows: int = 581_012, seed: int = 0) -> Problem:
    """Indicators are of 4 areas and 40 soils of very unequal size, which the measures depend on."""
    rng = np.random.default_rng(seed)
    area = rng.choice(4, n_rows, p=[0.45, 0.05, 0.44, 0.06])
    share = 1.0 / np.arange(1, 41)
    soil = rng.choice(40, n_rows, p=share / share.sum())
    common = rng.standard_normal((n_rows, 3))
    measures = common @ rng.standard_normal((3, 10)) + 0.5 * rng.standard_normal((n_rows, 10))
    measures += rng.standard_normal((4, 10))[area] + 0.5 * rng.standard_normal((40, 10))[soil]
    measures[:, 5:] = np.expm1(0.7 * measures[:, 5:])  # distances are skewed
    X = np.zeros((n_rows, 54))
    X[:, :10] = measures
    X[np.arange(n_rows), 10 + area] = 1.0
    X[np.arange(n_rows), 14 + soil] = 1.0
    X = standardised(X)
    utility = X @ rng.standard_normal(54) / 7 + 0.3 * np.sin(2 * X[:, 0]) + rng.standard_normal(n_rows)
    shares = np.array([0.365, 0.488, 0.062, 0.005, 0.016, 0.030, 0.034])
    y = np.searchsorted(np.quantile(utility, np.cumsum(shares)[:-1]), utility).astype(float)
    return Problem(X, y)


def small(*_: int) -> Problem:
    """The same with few rows."""
    return make(3000)
