"""Where one kernel overtakes another, counting (hinge) and summing (squared hinge): constants of kernels/active.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluate import Evaluator
from linrank import RankingData
from linrank.kernels import active
from linrank.losses import Hinge, Loss, SquaredHinge
from measure import best_times, few, quick
from results import LOSS, report

SOURCES = LOSS

ALWAYS, NEVER = 10**9, 0
COUNTING, SUMMING = ("SHORT", "FEW_LEVELS"), ("SHORT_TO_SUM", "FEW_LEVELS_TO_SUM")


def forced(short: int, few: int, run: Callable[[], object]) -> Callable[[], None]:
    """Run with other crossovers."""

    def wrapped() -> None:
        kept = {name: getattr(active, name) for name in COUNTING + SUMMING}
        for names in (COUNTING, SUMMING):
            setattr(active, names[0], short)
            setattr(active, names[1], few)
        try:
            run()
        finally:
            for name, value in kept.items():
                setattr(active, name, value)

    return wrapped


def short_rankings(loss: Loss, rng: np.random.Generator) -> list[dict[str, object]]:
    rows = []
    for n in few((100, 200, 400, 600, 800, 1200, 1600)):
        m = n * ((2000 if quick() else 100_000) // n)
        scores = rng.standard_normal(m)
        data = RankingData(np.zeros((m, 1)), rng.integers(0, 5, m), np.arange(m) // n)
        evaluator = Evaluator(data)
        run = lambda: evaluator.at(loss, scores)
        times = best_times({"direct": forced(ALWAYS, 32, run), "sorted": forced(NEVER, 32, run)}, 9)
        row = {"loss": loss.name, "rows a query": n, "pairs a row": data.preferences.n_pairs / m}
        rows.append(row | {f"{name} ns a row": 1e9 * t / m for name, t in times.items()})
    return rows


def level_counts(loss: Loss, rng: np.random.Generator) -> list[dict[str, object]]:
    rows, m = [], 2000 if quick() else 200_000
    scores = rng.standard_normal(m)
    for k in few((2, 8, 32, 64, 128, 512, 1024, 2048)):
        data = RankingData(np.zeros((m, 1)), rng.integers(0, k, m))
        evaluator = Evaluator(data)
        run = lambda: evaluator.at(loss, scores)
        times = best_times({"recounted": forced(NEVER, ALWAYS, run), "tree": forced(NEVER, 0, run)}, 5)
        rows.append({"loss": loss.name, "levels": k, **{f"{name} ns a row": 1e9 * t / m for name, t in times.items()}})
    return rows


def main() -> None:
    rng, losses = np.random.default_rng(0), (Hinge(), SquaredHinge())
    report("crossover_short", [row for loss in losses for row in short_rankings(loss, rng)])
    report("crossover_levels", [row for loss in losses for row in level_counts(loss, rng)])
