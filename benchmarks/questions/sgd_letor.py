"""Figure 1 of the paper: 100,000 steps of each rule against the exact solution on MQ2008 and a shape like hp2003."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from linrank import LinearRanker, SGDRanker
from questions._letor import ALPHAS, choose, folds, hp2003_folds, per_query
from results import STOCHASTIC, report

#: The paper's: nothing is averaged unless it says so.
descent = partial(SGDRanker, alpha=1e-4, scale=True, average=False)
SOURCES = STOCHASTIC

Make = Callable[[float], Any]
Folds = Callable[[], Any]

CONTESTANTS: dict[str, tuple[Make, list[float]]] = {
    "exact (LinearRanker)": (lambda alpha: LinearRanker("hinge", alpha, scale=True), ALPHAS),
    "sgd_svm": (lambda alpha: descent(alpha=alpha, rule="sgd_svm", random_state=0), ALPHAS),
    "sgd": (lambda alpha: descent(alpha=alpha, rule="sgd", random_state=0), ALPHAS),
    "pegasos": (lambda alpha: descent(alpha=alpha, random_state=0), ALPHAS),
    "pegasos, balanced": (lambda alpha: descent(alpha=alpha, sampling="balanced", random_state=0), ALPHAS),
    "pegasos, averaged": (lambda alpha: descent(alpha=alpha, average=True, random_state=0), ALPHAS),
    "passive_aggressive": (lambda C: descent(C=C, rule="passive_aggressive", random_state=0), ALPHAS),
    "passive_aggressive, averaged": (
        lambda C: descent(C=C, rule="passive_aggressive", average=True, random_state=0),
        ALPHAS,
    ),
    "passive_aggressive_then_pegasos": (
        lambda alpha: descent(alpha=alpha, C=1e-2, rule="passive_aggressive_then_pegasos", random_state=0),
        ALPHAS,
    ),
    "romma": (lambda _: descent(rule="romma", random_state=0), [0.0]),
}


def evaluate(make: Make, grid: list[float], parts: Folds = folds) -> tuple[np.ndarray, np.ndarray, float]:
    """Average precision and accuracy of all test queries, and the mean seconds of the fit that was chosen."""
    precision, accuracy, seconds = [], [], []
    make(grid[0]).fit(*next(iter(parts()))[0])  # compiled and loaded
    for train, validation, test in parts():
        ranker = choose(make, train, validation, grid)
        begin = time.process_time()
        ranker.fit(*train)
        seconds.append(time.process_time() - begin)
        both = per_query(test, ranker.predict(test.X))
        precision.append(both[0])
        accuracy.append(both[1])
    return np.concatenate(precision), np.concatenate(accuracy), float(np.mean(seconds))


def compare(contestants: dict[str, tuple[Make, list[float]]], parts: Folds = folds) -> list[dict[str, object]]:
    """A row for each contestant; p-values of paired t-tests over queries against the first one."""
    rows: list[dict[str, object]] = []
    base: tuple[np.ndarray, np.ndarray] | None = None
    for name, (make, grid) in contestants.items():
        precision, accuracy, seconds = evaluate(make, grid, parts)
        known = ~np.isnan(accuracy)
        row: dict[str, object] = {"ranker": name, "MAP": f"{precision.mean():.4f}", "p (MAP)": ""}
        row |= {"accuracy": f"{accuracy[known].mean():.4f}", "p (accuracy)": "", "seconds a fit": seconds}
        if base is not None:
            row["p (MAP)"] = float(ttest_rel(precision, base[0]).pvalue)
            row["p (accuracy)"] = float(ttest_rel(accuracy[known], base[1][known]).pvalue)
        base = base or (precision, accuracy)
        rows.append(row)
    return rows


def main() -> None:
    report("sgd_letor", compare(CONTESTANTS))
    report("sgd_hp2003", compare(CONTESTANTS, hp2003_folds))
