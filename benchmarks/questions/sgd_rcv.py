"""781,265 sparse rows, 0.2 % positive (synthetic): the paper's section 5, ROC area and CPU seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from linrank import LinearRanker, SGDRanker
from problems import load
from results import FIT, STOCHASTIC, report

SOURCES = (*FIT, *STOCHASTIC)
TRAIN, TEST = 781_265, 23_149


def measure(name: str, make: Callable[[], Any], train: tuple, test: tuple) -> dict[str, object]:
    begin, cpu = time.perf_counter(), time.process_time()
    fitted = make().fit(*train)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    decide = getattr(fitted, "decision_function", fitted.predict)
    area = roc_auc_score(test[1], decide(test[0]))
    return {"learner": name, "ROC area": f"{area:.4f}", "CPU seconds": cpu, "seconds": seconds}


def chosen(make: Callable[[float], Any], grid: list[float], part: tuple, validation: tuple) -> float:
    """The parameter with the largest ROC area on a held-out part, trained on a fifth of the rows."""
    areas = [
        float(measure("", lambda value=value: make(value), part, validation)["ROC area"])  # type: ignore[arg-type]
        for value in grid
    ]
    return grid[int(np.argmax(areas))]


def main() -> None:
    train, test = (load("topic", rows, seed)[:2] for rows, seed in ((TRAIN, 1), (TEST, 2)))
    fifth = train[0][::5], train[1][::5]
    other = train[0][1::10], train[1][1::10]
    alphas = [1e-3, 1e-4, 1e-5, 1e-6]
    contestants: dict[str, tuple[Callable[[float], Any], list[float]]] = {
        f"SGDRanker, {rule}": (
            lambda alpha, rule=rule: SGDRanker(alpha=alpha, rule=rule, scale=False, average=False, random_state=0),
            alphas,
        )
        for rule in ("pegasos", "sgd")
    }
    contestants["SGDRanker, passive_aggressive"] = (
        lambda C: SGDRanker(alpha=1e-4, C=C, rule="passive_aggressive", scale=False, average=False, random_state=0),
        [10.0, 1.0, 0.1, 0.01],
    )
    contestants["LinearRanker, hinge"] = (lambda alpha: LinearRanker("hinge", alpha, scale=False), alphas)
    contestants["LinearRanker, squared hinge"] = (
        lambda alpha: LinearRanker("squared_hinge", alpha, scale=False),
        alphas,
    )
    contestants["LinearSVC, class-weighted"] = (
        lambda C: LinearSVC(C=C, class_weight="balanced", dual=False),
        [1.0, 0.1, 0.01],
    )
    rows = []
    for name, (make, grid) in contestants.items():
        value = chosen(make, grid, fifth, other)
        rows.append({**measure(name, lambda: make(value), train, test), "chosen": value, "rows": train[1].size})
    report("sgd_rcv", rows)
