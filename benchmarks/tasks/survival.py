"""Squared hinge against scikit-survival's FastSurvivalSVM, same objective, and against LinearSVC on all pairs: memory.

scikit-survival is GPL and no dependency of linrank: install it beside (pip install scikit-survival) to run this.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from linrank import LinearRanker
from linrank.testing import enumerate_pairs, make_ranking
from measure import PeakMemory, best_times, in_fresh_process, report

ALPHA = 1e-3


def main() -> None:
    report("survival", [against_survival(2_000), against_survival(20_000)])
    report("linear_svc", [against_pairs(n) for n in (500, 1_000, 2_000)])


def against_survival(n_rows: int) -> dict[str, Any]:
    from sksurv.svm import FastSurvivalSVM
    from sksurv.util import Surv

    X, y, _ = make_ranking(n_rows, 50, 1, None)
    n_pairs = n_rows * (n_rows - 1) // 2
    # Theirs ranks survival times with a risk that falls: the same problem with the sign of the weights turned.
    label = Surv.from_arrays(np.ones(n_rows, dtype=bool), y - y.min() + 1.0)
    svm = FastSurvivalSVM(
        alpha=2 / (ALPHA * n_pairs), rank_ratio=1, fit_intercept=False, optimizer="rbtree", max_iter=100, tol=1e-7
    )
    ranker = LinearRanker(alpha=ALPHA, scale=False, tol=1e-10)
    begin = time.perf_counter()
    svm.fit(X, label)
    theirs = time.perf_counter() - begin
    ours = best_times({"ours": lambda: ranker.fit(X, y)}, 5)["ours"]
    return {
        "rows": n_rows,
        "ours s": ours,
        "scikit-survival s": theirs,
        "ratio": theirs / ours,
        "our objective": f"{ranker.objective_:.10f}",
        "their objective": f"{min(objective(X, y, sign * svm.coef_) for sign in (1, -1)):.10f}",
    }


def objective(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """The squared hinge's objective at w, in our units."""
    from linrank import RankingData
    from linrank.losses import SquaredHinge

    return SquaredHinge().at(X @ w, RankingData(X, y)).value + ALPHA / 2 * float(w @ w)


def against_pairs(n_rows: int) -> dict[str, Any]:
    ours, theirs = (in_fresh_process(fit, which, n_rows) for which in ("linrank", "LinearSVC"))
    return {
        "rows": n_rows,
        "pairs": n_rows * (n_rows - 1) // 2,
        "ours s": ours[1],
        "LinearSVC s": theirs[1],
        "ours MB": ours[2],
        "LinearSVC MB": theirs[2],
        "memory ratio": theirs[2] / max(ours[2], 0.1),
        "largest difference of weights": float(np.abs(ours[0] - theirs[0]).max()),
    }


def fit(which: str, n_rows: int) -> tuple[np.ndarray, float, float]:
    """Weights, seconds and megabytes of one system; making the differences counts."""
    X, y, _ = make_ranking(n_rows, 50, 1, None)
    LinearRanker().fit(X[:50], y[:50])
    with PeakMemory() as memory:
        begin = time.perf_counter()
        if which == "linrank":
            w = LinearRanker(alpha=ALPHA, scale=False, tol=1e-12).fit(X, y).coef_
        else:
            pairs = enumerate_pairs(y, None)
            sign = np.where(np.arange(pairs.winner.size) % 2, 1.0, -1.0)
            differences = (X[pairs.winner] - X[pairs.loser]) * sign[:, None]
            svc = LinearSVC(loss="squared_hinge", C=1 / (ALPHA * sign.size), fit_intercept=False, dual=False, tol=1e-9)
            w = svc.fit(differences, sign).coef_.ravel()
        seconds = time.perf_counter() - begin
    return w, seconds, memory.grown
