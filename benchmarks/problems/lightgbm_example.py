"""LightGBM's ranking example, its training part: 201 queries, 5 grades, as it comes."""

from __future__ import annotations

from linrank.io import read
from problems import About, Problem, folder, graded

ABOUT = About("lightgbm-lambdarank/rank.train.gz", rows=3005, features=300, queries=201, levels=5, pairs=13_543)


def make() -> Problem:
    """Read it, with the sizes of its queries from the file beside it."""
    data = read(folder() / "lightgbm-lambdarank" / "rank.train.gz")
    return Problem(data.X.toarray() if hasattr(data.X, "toarray") else data.X, data.y, data.qid)


def small() -> Problem:
    """Few rows for the columns."""
    return graded.make(120, 40, 10, 5, seed=5)
