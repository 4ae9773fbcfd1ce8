"""Problems by chance: shapes, kinds of X and of preferences, weights and oddities mixed; pairs can be listed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import NoPairsError
from .cases import STORED, Problem, problem
from .problems import make_ranking


def random_problem(rng: np.random.Generator, most_rows: int = 50) -> Problem:
    """A problem of at most so many rows, and of some hundred pairs as a rule."""
    while True:
        found = _drawn(rng, most_rows)
        try:
            assert found.data.n_features
        except NoPairsError:
            continue
        return found


def _drawn(rng: np.random.Generator, most_rows: int) -> Problem:
    m, d, q = int(rng.integers(2, most_rows + 1)), int(rng.choice([1, 2, 4, 8, 16])), int(rng.choice([1, 1, 2, 5]))
    n_levels, noise = [None, 2, 3, 6][rng.integers(4)], float(rng.choice([0.0, 0.5, 3.0]))
    X, y, qid = make_ranking(m, d, q, n_levels, noise=noise, seed=int(rng.integers(2**32)))
    order = rng.permutation(m)
    stored = STORED[str(rng.choice(list(STORED)))](_features(rng, X[order]))
    return problem(stored, y[order], qid[order], **_options(rng, y[order], qid[order]))


def _features(rng: np.random.Generator, X: Any) -> Any:
    """Now and then whole numbers, zeros, columns of different sizes, offsets, equal rows, a constant column."""
    kind = rng.random(6)
    if kind[0] < 0.2:
        X = np.round(X)
    if kind[1] < 0.3:
        X = X * (rng.random(X.shape) < 0.4)
    if kind[2] < 0.2:
        X = X * 10.0 ** rng.uniform(-3, 3, X.shape[1])
    if kind[3] < 0.2:
        X = X + 10.0 ** rng.uniform(0, 6, X.shape[1])
    if kind[4] < 0.1:
        X = X[rng.integers(0, X.shape[0], X.shape[0])]
    if kind[5] < 0.1:
        X = X.copy()
        X[:, rng.integers(X.shape[1])] = 3.0
    return X


def _options(rng: np.random.Generator, y: Any, qid: Any) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.2:
        options["sample_weight"] = rng.uniform(0.1, 3.0, y.size) * (rng.random(y.size) < 0.8)
    if rng.random() < 0.2:
        options["query_weight"] = {int(q): float(rng.choice([0.2, 1.0, 30.0])) for q in np.unique(qid)}
    if rng.random() < 0.2:
        options["query_weighting"] = "queries"
    if rng.random() < 0.2:
        options["preferences"] = "chain"
    elif rng.random() < 0.1 and (levels := np.unique(y)).size > 1:
        options["preferences"] = [(*rng.choice(levels, 2, replace=False), rng.uniform(0.1, 2.0)) for _ in levels[1:]]
    if rng.random() < 0.2:
        listed = [(i, j) for i, j in rng.integers(0, y.size, (20, 2)) if qid[i] == qid[j] and i != j]
        if listed:
            options["pairs"] = np.column_stack([listed, rng.uniform(0.1, 3.0, len(listed))])
    return options
