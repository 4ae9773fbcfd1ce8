"""Where one kernel overtakes another, counting (hinge) and summing (squared hinge, logistic): data/active.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evaluate import Evaluator
from linrank import RankingData
from linrank.data import active
from linrank.losses import Hinge, Logistic, Loss, SquaredHinge
from measure import best_times, few, quick
from results import LOSS, report

SOURCES = LOSS

ALWAYS, NEVER = 10**9, 0
#: The field of `active.Tuning` that each loss goes by, for short rankings and for few levels.
SHORT: dict[Loss, str] = {Hinge(): "short", SquaredHinge(): "short_to_sum", Logistic(): "short_logistic"}
LEVELS: dict[Loss, str] = {Hinge(): "few_levels", SquaredHinge(): "few_levels_to_sum"}


def forced(run: Callable[[], object], **fields: int) -> Callable[[], None]:
    """Run with other crossovers."""

    def wrapped() -> None:
        kept, active.TUNING = active.TUNING, replace(active.TUNING, **fields)
        try:
            run()
        finally:
            active.TUNING = kept

    return wrapped


def short_rankings(loss: Loss, field: str, rng: np.random.Generator) -> list[dict[str, object]]:
    """Pair by pair against sorted, for queries of five levels."""
    rows = []
    for n in few((100, 200, 400, 500, 600, 800, 1200, 1600, 1800, 2000)):
        m = n * ((2000 if quick() else 100_000) // n)
        scores = rng.standard_normal(m)
        data = RankingData(np.zeros((m, 1)), rng.integers(0, 5, m), np.arange(m) // n)
        evaluator = Evaluator(data)
        run = lambda: evaluator.at(loss, scores)
        times = best_times({"direct": forced(run, **{field: ALWAYS}), "sorted": forced(run, **{field: NEVER})}, 9)
        pairs = data.preferences.n_pairs / m
        row = {
            "loss": loss.name,
            "rows a query": n,
            "pairs a row": pairs,
            "crossing set": getattr(active.TUNING, field),
        }
        rows.append(row | {f"{name} ns a row": 1e9 * t / m for name, t in times.items()})
    return rows


def level_counts(loss: Loss, field: str, rng: np.random.Generator) -> list[dict[str, object]]:
    """Taken anew for each level against a tree, in one query."""
    rows, m = [], 2000 if quick() else 200_000
    scores, sorted_ = rng.standard_normal(m), {SHORT[loss]: NEVER}
    for k in few((2, 8, 12, 16, 20, 24, 32, 128, 512, 1024, 1500, 2048)):
        data = RankingData(np.zeros((m, 1)), rng.integers(0, k, m))
        evaluator = Evaluator(data)
        run = lambda: evaluator.at(loss, scores)
        ways = {"recounted": {field: ALWAYS}, "tree": {field: NEVER}}
        times = best_times({name: forced(run, **sorted_, **way) for name, way in ways.items()}, 5)
        row = {"loss": loss.name, "levels": k, "crossing set": getattr(active.TUNING, field)}
        rows.append(row | {f"{name} ns a row": 1e9 * t / m for name, t in times.items()})
    return rows


def main() -> None:
    rng = np.random.default_rng(0)
    report("crossover_short", [row for loss, field in SHORT.items() for row in short_rankings(loss, field, rng)])
    report("crossover_levels", [row for loss, field in LEVELS.items() for row in level_counts(loss, field, rng)])
