"""California housing: one query, real-valued utilities, each column divided by its standard deviation."""

from __future__ import annotations

import gzip

import numpy as np

from problems import About, Problem, folder, graded, standardised

ABOUT = About("torgo/cal.housing.arff.gz", rows=20_640, features=8, queries=1, levels=3842, pairs=212_416_110)


def make() -> Problem:
    """Read the ARFF file; the target is last."""
    with gzip.open(folder() / "torgo" / "cal.housing.arff.gz", "rt") as lines:
        text = lines.read()
    table = np.array([[float(x) for x in line.split(",")] for line in text.lower().split("@data")[1].split()])
    return Problem(standardised(table[:, :-1]), table[:, -1])


def small() -> Problem:
    """One query, utilities all different."""
    return graded.make(600, 8, 1, None)
