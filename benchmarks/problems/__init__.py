"""Problems to measure on, one file each: ABOUT says what it is, `make` reads or makes it, `small` stands in for it.

Real data lies in the folder named by --data or LINRANK_DATA; synthetic data comes from a seed. In a quick check every
problem is its small stand-in, made from a seed, so that nobody needs the real one.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from measure import quick

#: Constants of the library may be chosen on these,
TUNING = (
    "cadata",
    "webis",
    "imdb",
    "covtype",
    "isotropic",
    "onehot",
    "embeddings",
    "noisy",
    "text",
    "hashed",
    "narrow",
    "movies",
)
#: and never on these: only they say what a stranger will see.
REPORTING = ("mq2008", "hp2003", "newsgroups", "documents", "web30k", "topic", "torgo", "lightgbm_example")


class Problem(NamedTuple):
    """Features, utilities, queries (None: one)."""

    X: Any
    y: np.ndarray
    qid: np.ndarray | None = None


@dataclass(frozen=True)
class About:
    """What a problem is, as `make()` gives it: `load` holds it against the data."""

    source: str
    rows: int
    features: int
    queries: int
    levels: int
    pairs: int


def load(name: str, *given: Any) -> Problem:
    """A problem by name: as it is, or its small stand-in in a quick check. Some take a size or a part."""
    module = importlib.import_module(f"problems.{name}")
    if quick():
        return module.small(*given)
    problem = module.make(*given)
    if not given and (found := facts(problem, module.ABOUT.source)) != module.ABOUT:
        raise SystemExit(f"problems/{name}.py says {module.ABOUT}, the data are {found}.")
    return problem


def listed(name: str) -> str:
    """Which of the two lists a problem is on."""
    return "tuning" if name in TUNING else "reporting"


def facts(problem: Problem, source: str = "") -> About:
    """What a problem is, counted."""
    X, y, qid = problem
    query = np.zeros(y.size, np.int64) if qid is None else np.unique(qid, return_inverse=True)[1]
    values, level = np.unique(y, return_inverse=True)
    of_query = np.bincount(query)
    cells = np.unique(query * np.int64(values.size) + level, return_counts=True)[1]
    pairs = (int((of_query.astype(object) ** 2).sum()) - int((cells.astype(object) ** 2).sum())) // 2
    return About(source, int(X.shape[0]), int(X.shape[1]), of_query.size, values.size, pairs)


def folder() -> Path:
    """Where the real data lies."""
    if "LINRANK_DATA" not in os.environ:
        raise SystemExit("This benchmark needs real data: name its folder with --data or LINRANK_DATA.")
    return Path(os.environ["LINRANK_DATA"])


def standardised(X: np.ndarray) -> np.ndarray:
    """Divide each column by its standard deviation, constant ones by 1."""
    deviation = X.std(axis=0)
    return X / np.where(deviation > 0, deviation, 1.0)
