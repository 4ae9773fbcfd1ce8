"""What standard errors cost, in exact Hessians; and a figure of weights with their intervals on real data.

`outer` is the sum of psi psi^T over queries, or over the rows of one query; `inference` all of it, from the weights of
a fit at the default tol: solved to the optimum, a Hessian and an outer. CPU seconds on one thread, in turns within one
run.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine
from linrank.losses import LOSSES
from measure import best_times, in_fresh_process, quick, report
from problems import Problem, load
from results import FIT, ROOT

SOURCES = (*FIT, "inference/**/*.py")
FIGURE = ROOT / "docs" / "figures" / "inference.png"
SMOOTH = ("squared_hinge", "logistic")


def one_query(rows: int = 100_000, features: int = 20) -> Problem:
    """One query, all utilities different."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000 if quick() else rows, features))
    return Problem(X, X @ rng.standard_normal(features) + 3 * rng.logistic(size=len(X)))


def problems() -> dict[str, Any]:
    return {
        "webis": lambda: load("webis"),
        "MSLR's shape, a tenth": lambda: load("web30k", 227_030, 1892),
        "one query of 1e5 rows": one_query,
    }


def cost_of(name: str, loss: str) -> dict[str, Any]:
    """One row."""
    X, y, qid = problems()[name]()
    ranker = LinearRanker(loss).fit(X, y, qid)
    data, units = RankingData(X, y, qid), "queries" if qid is not None else "rows"
    with LocalEngine(data) as engine:
        at = engine.evaluate(LOSSES[loss], engine.scores(ranker.coef_))
        at.hessian_product(ranker.coef_)
        times = best_times(
            {
                "hessian": lambda: at.hessian(ranker.scale_),
                "outer": lambda: at.outer(units, ranker.scale_),
                "inference": lambda: ranker.inference(X, y, qid),
            },
            3,
        )
    shape = {"data": name, "loss": loss, "rows": X.shape[0], "features": X.shape[1], "units": units}
    hessian = times["hessian"]
    return shape | {
        "Hessian s": hessian,
        "outer / Hessian": times["outer"] / hessian,
        "inference / Hessian": times["inference"] / hessian,
    }


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)  # of the small stand-ins' few queries
    report("inference", [in_fresh_process(cost_of, name, loss) for name in problems() for loss in SMOOTH])
    X, y, qid = load("mq2008", 1, 2, 3)
    weights(X, y, qid)


def weights(X: Any, y: Any, qid: Any) -> None:
    """Weights and intervals of MQ2008's first fold, as a table and as a figure."""
    found = LinearRanker("logistic").fit(X, y, qid).inference(X, y, qid)
    low, high = found.interval().T * found.deviations
    middle = found.coef * found.deviations
    rows = [
        {"feature": j + 1, "weight": float(middle[j]), "low": float(low[j]), "high": float(high[j]),
         "information": float(found.information[j])}
        for j in np.argsort(-middle) if np.isfinite(low[j])
    ]  # fmt: skip
    report("inference_weights", rows)
    if quick():
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 6), layout="constrained")
    place = np.arange(len(rows))[::-1]
    for row, at in zip(rows, place, strict=True):
        clear = row["low"] > 0 or row["high"] < 0
        axis.plot([row["low"], row["high"]], [at, at], color="C0" if clear else "0.7", linewidth=1.5)
        axis.plot(row["weight"], at, "o", color="C0" if clear else "0.7", markersize=3)
    axis.axvline(0.0, color="black", linewidth=0.6)
    axis.set_yticks(place, [f"feature {row['feature']}" for row in rows], fontsize=6)
    axis.set_xlabel("weight times the column's deviation, with its 95 % interval")
    axis.set_title(f"MQ2008, fold 1: {found.n_units} queries, logistic loss", fontsize=9)
    figure.savefig(FIGURE, dpi=110)
