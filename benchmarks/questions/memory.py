"""imdb (sparse, 44,798 features, 2.7e8 pairs): trains without X being densified; peak memory above the data."""

from __future__ import annotations

import time

from linrank import LinearRanker
from measure import PeakMemory, in_fresh_process
from problems import load
from results import FIT, report

SOURCES = FIT


def measure(alpha: float) -> dict[str, object]:
    X, y, _ = load("imdb")
    LinearRanker("hinge", 1e-4, scale=False).fit(X[:1000], y[:1000])  # compiled and loaded
    with PeakMemory() as memory:
        begin = time.perf_counter()
        ranker = LinearRanker("hinge", alpha, scale=False).fit(X, y)
        seconds = time.perf_counter() - begin
    return {
        "alpha": alpha,
        "seconds": seconds,
        "iterations": ranker.n_iter_,
        "objective": f"{ranker.objective_:.6f}",
        "gap": ranker.gap_,
        "memory grown by MB": memory.grown,
        "X sparse MB": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20,
        "X dense would be MB": 8 * X.shape[0] * X.shape[1] / 2**20,
    }


def main() -> None:
    report("memory", [in_fresh_process(measure, alpha) for alpha in (1e-2, 1e-4)])
