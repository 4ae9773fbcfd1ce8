"""Where one counting kernel overtakes another: the constants SHORT and FEW_LEVELS of kernels/active.py."""

from __future__ import annotations

import numpy as np

from linrank import RankingData
from linrank.kernels import active
from linrank.losses import Hinge
from measure import best_times, report


def with_limits(short: int, few: int, run: object) -> object:
    """Run with other crossovers."""

    def wrapped() -> None:
        kept = active.SHORT, active.FEW_LEVELS
        active.SHORT, active.FEW_LEVELS = short, few
        try:
            run()
        finally:
            active.SHORT, active.FEW_LEVELS = kept

    return wrapped


def main() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for n in (50, 100, 200, 300, 400, 600, 800, 1600):
        m = n * (200_000 // n)
        scores = rng.standard_normal(m)
        data = RankingData(np.zeros((m, 1)), rng.integers(0, 5, m), np.arange(m) // n)
        run = lambda data=data, scores=scores: Hinge().at(scores, data)
        times = best_times({"direct": with_limits(10**9, 512, run), "sorted": with_limits(0, 512, run)}, 15)
        rows.append({"rows a query": n, **{f"{k} ns a row": 1e9 * t / m for k, t in times.items()}})
    report("crossover_short", rows)
    rows = []
    m = 300_000
    scores = rng.standard_normal(m)
    for k in (2, 16, 128, 256, 512, 1024, 2048):
        data = RankingData(np.zeros((m, 1)), rng.integers(0, k, m))
        run = lambda data=data: Hinge().at(scores, data)
        times = best_times({"recounted": with_limits(0, 10**9, run), "tree": with_limits(0, 0, run)}, 15)
        rows.append({"levels": k, **{f"{name} ns a row": 1e9 * t / m for name, t in times.items()}})
    report("crossover_levels", rows)
