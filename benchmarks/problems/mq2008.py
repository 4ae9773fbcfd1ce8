"""LETOR 4.0 MQ2008, unscaled: all five parts, or some of them. Fold k trains on parts k, k + 1, k + 2."""

from __future__ import annotations

from problems import About, Problem, folder, graded, letor

ABOUT = About("mq2008/S*.txt.gz", rows=15_211, features=46, queries=784, levels=3, pairs=80_925)


def make(*parts: int) -> Problem:
    """Read the given parts 1 ... 5, or all."""
    return letor.read(*(folder() / "mq2008" / f"S{part}.txt.gz" for part in parts or range(1, 6)))


def small(*parts: int) -> Problem:
    """Short queries of three grades; other parts, other rows, of the same utility."""
    whole = graded.make(1000, 8, 50, 3, seed=2)
    assert whole.qid is not None
    keep = [int(query) % 5 + 1 in (parts or range(1, 6)) for query in whole.qid]
    return Problem(whole.X[keep], whole.y[keep], whole.qid[keep].astype(str))
