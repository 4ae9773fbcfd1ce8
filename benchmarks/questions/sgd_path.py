"""Figure 2 of the paper, on MQ2008 and a shape like hp2003: objectives after 1e2 to 1e7 steps, alpha and C tuned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluate import evaluate_all
from linrank import LinearRanker, RankingData, SGDRanker
from linrank.losses import Hinge
from measure import few, quick
from problems import Problem
from questions._letor import ALPHAS, choose, folds, hp2003_folds
from questions._stochastic import FIGURES, begin, pyplot, run_on
from results import STOCHASTIC, report

SOURCES = STOCHASTIC

MARKS = [round(10 ** (k / 2)) for k in range(4, 15)]
#: Rules, and whether C is tuned: MAP on the validation part after 100,000 steps.
CURVES = {
    "sgd_svm": ("sgd_svm", False),
    "sgd": ("sgd", False),
    "pegasos": ("pegasos", False),
    "passive_aggressive": ("passive_aggressive", True),
    "passive_aggressive, C = 1": ("passive_aggressive", False),
    "romma": ("romma", False),
    "passive_aggressive_then_pegasos": ("passive_aggressive_then_pegasos", True),
}


def objective(data: RankingData, coef: np.ndarray, scale: np.ndarray, alpha: float) -> float:
    w = coef * scale
    return evaluate_all(Hinge(), data.X @ coef, data).value + alpha / 2 * float(w @ w)


def choose_longest(train: Problem, validation: Problem) -> float:
    given = {"rule": "passive_aggressive", "alpha": 1e-4, "scale": True, "average": False, "random_state": 0}
    return choose(lambda C: SGDRanker(C=C, **given), train, validation, [1.0, *ALPHAS]).C


def curves(name: str, train: Problem, validation: Problem, test: Problem) -> Iterator[dict[str, object]]:
    exact = choose(lambda alpha: LinearRanker("hinge", alpha, scale=True, tol=1e-4), train, validation, ALPHAS)
    alpha, scale, C = exact.alpha, exact.scale_, choose_longest(train, validation)
    parts = RankingData(*train), RankingData(*test)
    for title, (rule, tuned) in CURVES.items():
        run = run_on(train, rule, alpha, scale, C=C if tuned else 1.0)
        descent = begin(run)
        for mark in few(MARKS, 6):
            run.steps(descent, mark - descent.t)
            both = [objective(part, descent.coef, scale, alpha) for part in parts]
            yield {"data": name, "rule": title, "alpha": alpha, "C": C if tuned else 1.0, "steps": mark,
                   "training": both[0], "test": both[1]}  # fmt: skip
    both = [objective(part, exact.coef_, scale, alpha) for part in parts]
    yield {"data": name, "rule": "exact", "alpha": alpha, "C": "", "steps": "", "training": both[0], "test": both[1]}


def overtaken(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Up to which of the marks a curve is below that of Pegasos on the training part, and how far it rises after."""
    found = []
    for data in dict.fromkeys(row["data"] for row in rows):
        here = {(row["rule"], row["steps"]): float(row["training"]) for row in rows if row["data"] == data}  # type: ignore
        marks = sorted({int(row["steps"]) for row in rows if row["steps"]})  # type: ignore[call-overload]
        for rule in CURVES:
            values = np.array([here[rule, mark] for mark in marks])
            pegasos = np.array([here["pegasos", mark] for mark in marks])
            ahead = [mark for mark, less in zip(marks, values < pegasos, strict=True) if less]
            least, at, end = values.min(), marks[int(values.argmin())], values[-1]
            row = {"data": data, "rule": rule, "ahead up to": max(ahead, default=0), "least": least, "at": at}
            found.append({**row, "end": end, "exact": here["exact", ""]})
    return found


def main() -> None:
    rows = list(curves("MQ2008", *next(iter(folds()))))
    rows += curves("like hp2003", *next(iter(hp2003_folds())))
    report("sgd_path", rows)
    report("sgd_overtaken", overtaken(rows))
    if not quick():
        draw(rows)


def draw(rows: list[dict[str, object]]) -> None:
    if (plt := pyplot()) is None:
        return
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, axes = plt.subplots(len(names), 2, figsize=(9, 6.6), sharex=True, sharey="row", layout="constrained")
    for line, data in zip(axes, names, strict=True):
        for axis, part in zip(line, ("training", "test"), strict=True):
            for rule in CURVES:
                here = [row for row in rows if row["rule"] == rule and row["data"] == data]
                axis.loglog([row["steps"] for row in here], [row[part] for row in here], label=rule)
            exact = next(row for row in rows if row["rule"] == "exact" and row["data"] == data)
            axis.axhline(exact[part], color="black", lw=0.8, ls=":", label="exact")
            axis.set(title=f"{data}, {part} part", ylim=(exact["training"] / 2, 300))
    for axis in axes[-1]:
        axis.set_xlabel("steps")
    axes[0][1].legend(fontsize=7)
    figure.savefig(FIGURES / "sgd_path.png", dpi=110)
