"""A stochastic model beside the exact one on every set of `defaults`: what 1e4, 1e5 and 1e6 steps cost and reach."""

from __future__ import annotations

import time
import warnings

import numpy as np

from linrank import ConvergenceWarning, LinearRanker, SGDRanker
from measure import few, quick
from problems import Problem
from questions._stochastic import FIGURES, pyplot
from questions.defaults import REPORTING, TUNING, part, splits
from results import STOCHASTIC, report

SOURCES = STOCHASTIC
STEPS = few([10**4, 10**5, 10**6], 1)


def measure(name: str, problem: Problem) -> dict[str, object]:
    """Of the first fold: held-out accuracy and CPU seconds, all by default."""
    fold = next(iter(splits(problem)))
    train, test = part(problem, fold.train), part(problem, fold.test)
    row: dict[str, object] = {"data": name, "rows": train.y.size}
    SGDRanker(n_steps=10, random_state=0).fit(*train)  # compiled and loaded
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LinearRanker("hinge", max_iter=3).fit(*train)
        begin = time.process_time()
        exact = LinearRanker("hinge").fit(*train)
    row |= {"exact s": time.process_time() - begin, "exact": f"{exact.score(*test):.4f}"}
    for n in STEPS:
        begin = time.process_time()
        ranker = SGDRanker(n_steps=n, random_state=0).fit(*train)
        row |= {f"{n} s": time.process_time() - begin, f"{n}": f"{ranker.score(*test):.4f}"}
        row[f"{n} objective"] = ranker.objective_ / exact.objective_
    return row


def main() -> None:
    rows = [measure(name, make()) for name, make in few(list({**TUNING, **REPORTING}.items()))]
    report("sgd_steps", rows)
    report("sgd_steps_summary", summary(rows))
    if not quick():
        draw(rows)


def summary(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    found = []
    for n in STEPS:
        less = np.array([float(row["exact"]) - float(row[f"{n}"]) for row in rows])  # type: ignore[arg-type]
        times = np.array([float(row["exact s"]) / float(row[f"{n} s"]) for row in rows])  # type: ignore[arg-type]
        found.append({
            "steps": n, "sets": len(rows), "median less": f"{np.median(less):.4f}", "most": f"{less.max():.4f}",
            "where": rows[int(np.argmax(less))]["data"], "exact / stochastic s": float(np.exp(np.log(times).mean())),
            "objective, median": float(np.median([float(row[f"{n} objective"]) for row in rows])),  # type: ignore
        })  # fmt: skip
    return found


def draw(rows: list[dict[str, object]]) -> None:
    if (plt := pyplot()) is None:
        return
    figure, axes = plt.subplots(1, len(STEPS), figsize=(9, 5.5), sharey=True, layout="constrained")
    place = np.arange(len(rows))
    for axis, n in zip(axes, STEPS, strict=True):
        less = [float(row["exact"]) - float(row[f"{n}"]) for row in rows]  # type: ignore[arg-type]
        times = [float(row["exact s"]) / float(row[f"{n} s"]) for row in rows]  # type: ignore[arg-type]
        axis.barh(place, less, color=["tab:green" if x <= 0.002 else "tab:orange" for x in less])
        for k, (x, ratio) in enumerate(zip(less, times, strict=True)):
            axis.text(max(x, 0) + 0.001, k, f"{ratio:.2g}x", va="center", fontsize=6)
        axis.set(title=f"{n:,} steps", xlim=(-0.02, 0.06))
        axis.axvline(0, color="black", lw=0.6)
    axes[0].set_yticks(place, [f"{row['data']} ({row['rows']:,})" for row in rows], fontsize=6)
    axes[0].invert_yaxis()
    figure.supxlabel("accuracy less than the exact solution's; beside the bar: its CPU seconds over ours", fontsize=8)
    figure.savefig(FIGURES / "sgd_steps.png", dpi=110)
