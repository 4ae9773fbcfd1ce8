"""Regression sets of the RankNCG paper, standardised, their targets cut into bins of equal width; two are artificial.

`make(file, bins, target, rows)`: the target is the last attribute unless one is named; `rows` sizes an artificial set.
"""

from __future__ import annotations

import gzip

import numpy as np

from problems import About, Problem, folder, graded, standardised

#: Of `make()`.
ABOUT = About("torgo/*.arff.gz", rows=20_640, features=8, queries=1, levels=3, pairs=128_769_183)


def make(file: str = "cal.housing", bins: int = 3, target: str | None = None, rows: int = 1000) -> Problem:
    """One of the sets by its file's name, or "randnet" and "randpoly"."""
    if file.startswith("rand"):
        X, values = artificial(file, rows)
    else:
        names, table = read_arff(file)
        k = len(names) - 1 if target is None else names.index(target)
        X, values = np.delete(table, k, axis=1), table[:, k]
    low, high = values.min(), values.max()
    return Problem(
        standardised(X - X.mean(axis=0)), np.minimum(np.floor((values - low) / (high - low) * bins), bins - 1)
    )


def small(file: str = "", bins: int = 3, target: str | None = None, rows: int = 0) -> Problem:
    """As many levels, few rows."""
    return graded.make(150, 6, 1, bins, seed=len(file))


def read_arff(name: str) -> tuple[list[str], np.ndarray]:
    """Names and values of the attributes; rows with a missing one are left out."""
    with gzip.open(folder() / "torgo" / f"{name}.arff.gz", "rt") as lines:
        head, body = lines.read().lower().split("@data")
    declared = [line.split(None, 2) for line in head.splitlines() if line.startswith("@attribute")]
    codes = [_codes(kind) for _, _, kind in declared]
    whole = [line.replace(" ", "").strip(",") for line in body.splitlines() if line.strip() and "?" not in line]
    rows = [line.split(",") for line in whole]
    values = [[float(v) if code is None else code[v] for v, code in zip(row, codes, strict=True)] for row in rows]
    return [name.strip("'\"") for _, name, _ in declared], np.array(values)


def _codes(kind: str) -> dict[str, float] | None:
    """Numbers of nominal values: their own where they are numbers, else by the alphabet (which fits the paper best)."""
    if not kind.startswith("{"):
        return None
    values = [value.strip() for value in kind.strip(" {}\t").split(",")]
    try:
        return {value: float(value) for value in values}
    except ValueError:
        return {value: float(i) for i, value in enumerate(sorted(values))}


def artificial(kind: str, n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """50 features; the utility a random net of 10 hidden units, or a random quadratic polynomial."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_rows, 50))
    if kind == "randnet":
        return X, np.tanh(X @ rng.standard_normal((50, 10)) / 3 + rng.standard_normal(10)) @ rng.standard_normal(10)
    return X, np.einsum("ij,jk,ik->i", X, rng.standard_normal((50, 50)), X) + X @ rng.standard_normal(50)
