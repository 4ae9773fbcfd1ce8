"""One evaluation of the logistic loss beside the hinge's, and its Hessian product beside the squared hinge's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evaluate import Evaluator
from linrank import RankingData
from linrank.losses import Hinge, Logistic, SquaredHinge
from measure import best_times, quick
from questions.evaluation import SHAPES
from results import LOSS, report

SOURCES = LOSS

ALL_SHAPES = {
    **SHAPES,
    "1 query, 2 levels": lambda m, rng: (rng.integers(0, 2, m), None),
    "queries of 1,000 rows, 5 levels": lambda m, rng: (rng.integers(0, 5, m), np.arange(m) // 1000),
}


def main() -> None:
    m = 10_000 if quick() else 1_000_000
    rows = []
    for name, make in ALL_SHAPES.items():
        rng = np.random.default_rng(0)
        scores = rng.standard_normal(m)
        evaluator = Evaluator(RankingData(np.zeros((m, 1)), *make(m, rng)))
        squared, logistic = (evaluator.at(loss, scores) for loss in (SquaredHinge(), Logistic()))
        runs: dict[str, Callable[[], Any]] = {
            "hinge": lambda e=evaluator, s=scores: e.at(Hinge(), s),
            "logistic": lambda e=evaluator, s=scores: e.at(Logistic(), s),
            "squared hinge, Hessian product": lambda e=evaluator, p=squared, s=scores: e.product(p, s),
            "logistic, Hessian product": lambda e=evaluator, p=logistic, s=scores: e.product(p, s),
        }
        times = best_times(runs, 15)
        rows.append({"shape": name, "rows": m, **{f"{what} ms": 1e3 * t for what, t in times.items()}})
        rows[-1]["logistic / hinge"] = times["logistic"] / times["hinge"]
        products = (times[f"{loss}, Hessian product"] for loss in ("logistic", "squared hinge"))
        rows[-1]["logistic / squared hinge, Hessian product"] = next(products) / next(products)
    report("logistic_hinge", rows)
