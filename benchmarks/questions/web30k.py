"""A problem of MSLR-WEB30K's size in float32 (2,270,296 x 136, 18,919 queries): time to gap 1e-3 and peak memory."""

from __future__ import annotations

import time
from typing import Any

from linrank import LinearRanker
from measure import PeakMemory, in_fresh_process
from problems import load
from results import FIT, report

SOURCES = FIT


def measure(loss: str, n_jobs: int) -> dict[str, Any]:
    X, y, qid = load("web30k")
    LinearRanker(loss, 1e-3, scale=True).fit(X[:1000], y[:1000], qid[:1000])  # compiled and loaded
    with PeakMemory() as memory:
        begin = time.perf_counter()
        ranker = LinearRanker(loss, 1e-3, scale=True, n_jobs=n_jobs).fit(X, y, qid)
        seconds = time.perf_counter() - begin
    return {
        "loss": loss,
        "threads": n_jobs,
        "pairs": ranker.n_pairs_,
        "seconds": seconds,
        "iterations": ranker.n_iter_,
        "objective": f"{ranker.objective_:.6f}",
        "gap": ranker.gap_,
        "X MB": X.nbytes / 2**20,
        "memory grown by MB": memory.grown,
        "peak MB": memory.peak / 2**20,
    }


def main() -> None:
    runs = [("squared_hinge", 1), ("squared_hinge", 2), ("hinge", 1)]
    report("web30k", [in_fresh_process(measure, *run) for run in runs])
