"""The shape of LETOR's hp2003: homepage finding, 150 queries of 1,000 documents, one of them relevant, 64 features."""

from __future__ import annotations

import numpy as np

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=150_000, features=64, queries=150, levels=2, pairs=177_766)


def make(n_queries: int = 150, per_query: int = 1000, n_features: int = 64, seed: int = 0) -> Problem:
    """Features scaled to [0, 1] within queries, as LETOR's are; now and then a second homepage is relevant."""
    rng = np.random.default_rng(seed)
    rows = n_queries * per_query
    qid = np.repeat(np.arange(n_queries), per_query)
    loadings = rng.standard_normal((8, n_features))
    Z = rng.standard_normal((rows, 8)) @ loadings / 3 + rng.standard_normal((rows, n_features))
    w = rng.standard_normal(n_features) * (rng.random(n_features) < 0.4)
    utility = (Z @ w / np.linalg.norm(w) + 0.7 * rng.standard_normal(rows)).reshape(n_queries, per_query)
    relevant = np.zeros_like(utility)
    order = np.argsort(-utility, axis=1)
    relevant[np.arange(n_queries), order[:, 0]] = 1.0
    second = np.flatnonzero(rng.random(n_queries) < 0.23)
    relevant[second, order[second, 1]] = 1.0
    X = np.exp(0.8 * Z).reshape(n_queries, per_query, n_features)
    low, high = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
    return Problem(((X - low) / (high - low)).reshape(rows, n_features), relevant.ravel(), qid)


def small(*_: int) -> Problem:
    """The same with few rows."""
    return make(20, 50, 12)
