"""Sparse documents ranked by their similarity to a removed one: TreeRSVM, section 5.1, made synthetically.

Words follow Zipf's law within and across topics; rows are tf-idf weighted and of unit length.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem

ABOUT = About("synthetic, seed 0", rows=512_000, features=50_000, queries=1, levels=512_000, pairs=131_071_744_000)


def make(n_rows: int = 512_000, n_features: int = 50_000, per_row: int = 60, seed: int = 0) -> Problem:
    """A third of the words are of the document's topic: a Zipf law over the topic's own shuffled vocabulary."""
    from sklearn.feature_extraction.text import TfidfTransformer

    rng = np.random.default_rng(seed)
    m = n_rows + 1
    topics, nnz = 100, m * per_row
    topic = rng.integers(0, topics, m)
    shift = rng.integers(0, n_features, topics)
    rank = np.minimum((n_features ** rng.random(nnz)).astype(np.int64) - 1, n_features - 1)
    rows = np.repeat(np.arange(m), per_row)
    own = rng.random(nnz) < 1 / 3
    words = np.where(own, (7919 * rank + shift[topic[rows]]) % n_features, rank)
    X = sp.csr_matrix((np.ones(nnz), (rows, words)), shape=(m, n_features))
    X = sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(X))
    y = np.asarray((X[:-1] @ X[-1].T).todense()).ravel()
    y += 1e-9 * rng.random(n_rows)  # distinct utilities
    return Problem(X[:-1], y)


def small(n_rows: int = 8000) -> Problem:
    """The same with few documents and words."""
    return make(min(n_rows, 8000), 2000, 30)
