"""The paper's figure 2 on MQ2008, fold 1: objective on training and test parts after 1e2 to 1e8 steps of each rule."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from linrank.stochastic.run import Run

from evaluate import evaluate_all
from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine
from linrank.losses import Hinge
from linrank.stochastic.descent import RULES, StepRule
from measure import few, quick
from questions._letor import ALPHAS, choose, folds
from results import STOCHASTIC, report

SOURCES = STOCHASTIC

MARKS = [round(10 ** (k / 2)) for k in range(4, 17)]
FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "sgd_path.png"


def objective(data: RankingData, coef: np.ndarray, scale: np.ndarray, alpha: float) -> float:
    w = coef * scale
    return evaluate_all(Hinge(), data.X @ coef, data).value + alpha / 2 * float(w @ w)


def main() -> None:
    train, validation, test = next(iter(folds()))
    exact = choose(lambda alpha: LinearRanker("hinge", alpha, scale=True, tol=1e-5), train, validation, ALPHAS)
    alpha, scale = exact.alpha, exact.scale_
    data, test_data = RankingData(*train), RankingData(*test)
    rows = []
    for rule in RULES:
        C = 1e-2 if rule == "passive_aggressive_then_pegasos" else 1.0
        with LocalEngine(data):
            run = Run(StepRule(rule, alpha=alpha, C=C), data, scale, "uniform")
            descent = run.begin(np.zeros(data.n_features), 0, 0, False)
            for mark in few(MARKS, 6):
                run.steps(descent, mark - descent.t)
                both = [objective(part, descent.coef, scale, alpha) for part in (data, test_data)]
                rows.append({"rule": rule, "alpha": alpha, "steps": mark, "training": both[0], "test": both[1]})
    both = [objective(part, exact.coef_, scale, alpha) for part in (data, test_data)]
    rows.append({"rule": "exact", "alpha": alpha, "steps": "", "training": both[0], "test": both[1]})
    report("sgd_path", rows)
    if not quick():
        draw(rows)


def draw(rows: list[dict[str, object]]) -> None:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt
    except ImportError:
        sys.exit("The figure needs matplotlib; the numbers are written.")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, part in zip(axes, ("training", "test"), strict=True):
        for rule in RULES:
            here = [row for row in rows if row["rule"] == rule]
            axis.loglog([row["steps"] for row in here], [row[part] for row in here], label=rule)
        axis.axhline(rows[-1][part], color="black", lw=0.8, ls=":", label="exact")
        axis.set(title=f"{part} part", xlabel="steps", ylim=(0.3, 300))
    axes[0].set_ylabel("objective")
    axes[1].legend(fontsize=7)
    figure.savefig(FIGURE, dpi=110)
