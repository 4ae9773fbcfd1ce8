"""Webis ClueWeb09: TREC Web Track judgements, rows grouped by query, columns divided by their standard deviation."""

from __future__ import annotations

import numpy as np

from problems import About, Problem, folder, graded, letor, standardised

ABOUT = About("webis-clueweb09/part*.txt.gz", rows=26_646, features=42, queries=61, levels=5, pairs=1_616_674)


def make() -> Problem:
    """Read the five parts."""
    X, y, qid = letor.read(*sorted((folder() / "webis-clueweb09").glob("part*.gz")))
    assert qid is not None
    order = np.argsort(qid, kind="stable")
    return Problem(standardised(X)[order], y[order], qid[order])


def small() -> Problem:
    """A few long queries of five grades."""
    return graded.make(800, 12, 8, 5, seed=1)
