"""Film reviews as tf-idf of their words: sparse, one query, 8 grades."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem, folder, graded
from problems.words import weighed

ABOUT = About("imdb/imdb-train.npz", rows=25_000, features=44_798, queries=1, levels=8, pairs=268_925_719)


def make(kind: str = "tf-idf") -> Problem:
    """Read the counts and weigh them; or as they are ("counts"), or whether there are any ("binary")."""
    arrays = np.load(folder() / "imdb" / "imdb-train.npz")
    counts = sp.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=arrays["shape"])
    return Problem(weighed(counts.astype(float), kind), arrays["rating"].astype(float))


def small(*given: str) -> Problem:
    """Sparse, one query."""
    return graded.make(600, 400, 1, 8, per_row=12, seed=3)
