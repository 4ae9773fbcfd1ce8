"""Squared hinge with features in float32 and float64, and with columns spanning 12 orders of magnitude."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from linrank import ConvergenceWarning, LinearRanker
from linrank.testing import make_ranking
from problems import Problem, load
from results import FIT, report

SOURCES = FIT


def main() -> None:
    report("precision", [compare(name, load(name)) for name in ("cadata", "webis")])
    report("spans", spans())


def compare(name: str, problem: Problem) -> dict[str, Any]:
    X, y, qid = problem
    row: dict[str, Any] = {"data": name}
    for dtype in (np.float64, np.float32):
        ranker = LinearRanker(alpha=1e-4, scale=True, tol=1e-8).fit(X.astype(dtype), y, qid)
        row[f"objective {dtype.__name__}"] = f"{ranker.objective_:.9f}"
        row[f"accuracy {dtype.__name__}"] = f"{ranker.score(X, y, qid):.6f}"
    return row


def spans() -> list[dict[str, Any]]:
    X, y, qid = make_ranking(20_000, 13, 200, 5)
    spread = X * np.logspace(-6, 6, 13)
    rows = []
    for name, features, scale in (("unit columns", X, True), ("12 orders", spread, True), ("12 orders", spread, False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            ranker = LinearRanker(alpha=1e-4, scale=scale, tol=1e-6).fit(features, y, qid)
        rows.append(
            {
                "features": name,
                "scale": scale,
                "status": ranker.status_,
                "warning": bool(caught),
                "iterations": ranker.n_iter_,
                "objective": f"{ranker.objective_:.9f}",
                "gap": ranker.gap_,
                "accuracy": f"{ranker.score(features, y, qid):.6f}",
            }
        )
    return rows
