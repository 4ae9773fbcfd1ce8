"""Squared hinge against scikit-survival's FastSurvivalSVM, same objective, and LinearSVC on all pairs: memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from contest import contest, ratio
from measure import PeakMemory, few, in_fresh_process, quick
from opponents import fast_survival_svm, linear_svc, linrank, opponent
from problems import Problem, graded
from results import FIT, report

SOURCES = FIT
ALPHA = 1e-3


def main() -> None:
    report("survival", [against_survival(n) for n in ([300] if quick() else [2_000, 20_000])])
    report("linear_svc", [against_pairs(n) for n in few((500, 1_000, 2_000), 1)])


def make(n_rows: int) -> Problem:
    """One query, utilities all different."""
    return graded.make(n_rows, 50, 1, None)


def against_survival(n_rows: int) -> dict[str, Any]:
    there = fast_survival_svm.available()
    contestants = {
        "ours": partial(linrank.fit, tol=1e-10),
        "scikit-survival": partial(fast_survival_svm.fit, tol=1e-7) if there else None,
    }
    judged = contest(make(n_rows), "squared_hinge", ALPHA, contestants)
    row: dict[str, Any] = {"rows": n_rows, "ours s": judged["ours"].seconds}
    row |= {"scikit-survival s": judged["scikit-survival"].seconds, "ratio": ratio(judged, "scikit-survival", "ours")}
    row["scikit-survival / ours"] = row.pop("ratio")
    for who, title in (("ours", "our objective"), ("scikit-survival", "scikit-survival's objective")):
        value = judged[who].objective
        row[title] = None if value is None else f"{value:.10f}"
    return row


def against_pairs(n_rows: int) -> dict[str, Any]:
    ours, theirs = (in_fresh_process(fit, which, n_rows) for which in ("linrank", "linear_svc"))
    return {
        "rows": n_rows,
        "pairs": n_rows * (n_rows - 1) // 2,
        "ours s": ours[1],
        f"{linear_svc.TITLE} s": theirs[1],
        "ours MB": ours[2],
        f"{linear_svc.TITLE} MB": theirs[2],
        "memory ratio": theirs[2] / max(ours[2], 0.1),
        "largest difference of weights": float(np.abs(ours[0] - theirs[0]).max()),
    }


def fit(which: str, n_rows: int) -> tuple[np.ndarray, float, float]:
    """Weights, seconds and megabytes of one system; making the differences counts."""
    problem = make(n_rows)
    linrank.fit(make(50), "squared_hinge", ALPHA)
    with PeakMemory() as memory:
        found = opponent(which).fit(problem, "squared_hinge", ALPHA, tol=1e-9)
    return found.weights, found.seconds, memory.grown
