"""512,000 sparse documents ranked by similarity to a removed one: TreeRSVM's largest experiment, made synthetically."""

from __future__ import annotations

import time

from linrank import LinearRanker
from measure import PeakMemory, few, in_fresh_process
from problems import load
from results import FIT, report

SOURCES = FIT


def measure(m: int, n_jobs: int) -> dict[str, object]:
    LinearRanker("hinge", 2e-5, scale=False).fit(*load("documents", 2000))  # compiled and loaded
    X, y, _ = load("documents", m)
    with PeakMemory() as memory:
        begin = time.perf_counter()
        ranker = LinearRanker("hinge", 2e-5, scale=False, n_jobs=n_jobs).fit(X, y)
        seconds = time.perf_counter() - begin
    return {
        "rows": m,
        "non-zeros": X.nnz,
        "pairs": ranker.n_pairs_,
        "threads": n_jobs,
        "seconds": seconds,
        "iterations": ranker.n_iter_,
        "gap": ranker.gap_,
        "accuracy": ranker.score(X, y),
        "peak memory MB": memory.peak / 2**20,
        "grown by MB": memory.grown,
        "X MB": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20,
    }


def main() -> None:
    rows = [in_fresh_process(measure, m, n_jobs) for m in few((32_000, 128_000, 512_000), 1) for n_jobs in (1, 2)]
    report("documents", rows)
