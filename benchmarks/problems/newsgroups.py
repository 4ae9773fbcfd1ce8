"""Messages of 20 newsgroups as tf-idf of their words: sparse, one query; sci.space over other sci.* over the rest."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from problems import About, Problem, folder, graded
from problems.words import weighed

ABOUT = About("newsgroups/newsgroups.npz", rows=19_997, features=74_206, queries=1, levels=3, pairs=66_988_000)


def make(kind: str = "tf-idf") -> Problem:
    """Read the counts and weigh them; or as they are ("counts"), or whether there are any ("binary")."""
    arrays = np.load(folder() / "newsgroups" / "newsgroups.npz")
    counts = sp.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=arrays["shape"])
    grade = np.array([2.0 if name == "sci.space" else float(name.startswith("sci.")) for name in arrays["names"]])
    return Problem(weighed(counts.astype(float), kind), grade[arrays["group"]])


def small(*given: str) -> Problem:
    """Sparse, one query, three grades."""
    return graded.make(600, 500, 1, 3, per_row=10, seed=4)
