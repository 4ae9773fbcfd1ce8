"""Files of LETOR: <grade> qid:<id> 1:<value> 2:<value> ... [# comment], dense, gzipped."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from problems import Problem


def read(*paths: Path) -> Problem:
    """Rows of all files, one after the other."""
    y, qid, rows = [], [], []
    for path in paths:
        with gzip.open(path, "rt") as lines:
            for line in lines:
                fields = line.split("#")[0].split()
                y.append(float(fields[0]))
                qid.append(fields[1].removeprefix("qid:"))
                rows.append([float(field.split(":")[1]) for field in fields[2:]])
    return Problem(np.array(rows), np.array(y), np.array(qid))
