"""Products with X: ours against numpy's and scipy's; what a float32 and a column-ordered copy of a sparse X gain."""

from __future__ import annotations

import numpy as np

from evaluate import dot, transpose_dot
from linrank import RankingData
from linrank.engines import LocalEngine
from measure import best_times, quick
from problems import load
from results import report

SOURCES = ("kernels/products.py", "engines/**/*.py")


def main() -> None:
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((4_000 if quick() else 200_000, 100))
    matrices = {
        "dense float64 C": dense,
        "dense float64 F": np.asfortranarray(dense),
        "dense float32 C": dense.astype(np.float32),
        "dense float32 F": np.asfortranarray(dense.astype(np.float32)),
        "imdb": load("imdb").X,
        "128,000 documents": load("documents", 128_000).X,
    }
    rows = []
    for name, X in matrices.items():
        w, g = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[0])
        with LocalEngine(RankingData(X, rng.random(X.shape[0]))) as engine:
            contestants = {
                "X w": lambda: dot(engine, w),
                "X^T g": lambda: transpose_dot(engine, g),
                "theirs X w": lambda: X @ w,
                "theirs X^T g": lambda: X.T @ g,
            }
            if not isinstance(X, np.ndarray):
                with_columns = X.T.tocsr()  # the column-ordered copy: rows of X^T
                columns = LocalEngine(RankingData(with_columns, rng.random(X.shape[1])))
                contestants["X^T g by columns"] = lambda: dot(columns, g)
                rounded = engine.fast.matrix  # what conjugate gradients read; a small X itself
                if rounded is not engine.matrix:
                    contestants["rounded X w"] = lambda: dot(engine, w, rounded)
                    contestants["rounded X^T g"] = lambda: transpose_dot(engine, g, rounded)
            times = best_times(contestants, 9)
        rows.append({"X": name} | {f"{what} ms": 1e3 * times.get(what, float("nan")) for what in [*contestants]})
        for what in ("X^T g by columns", "rounded X w", "rounded X^T g"):
            rows[-1].setdefault(f"{what} ms", "")
    report("products", rows)
