"""Theorem 3: the bundle method's iterations do not depend on the number of rows; against alpha and tol they do."""

from __future__ import annotations

from linrank import LinearRanker
from linrank.solvers import Bundle
from linrank.testing import make_ranking
from measure import few
from results import FIT, report

SOURCES = FIT


def main() -> None:
    rows = []
    for m in few((1_000, 4_000, 16_000, 64_000, 256_000), 1):
        X, y, _ = make_ranking(m, 20, noise=3.0)
        for alpha, tol in ((1e-2, 1e-3), (1e-4, 1e-3), (1e-4, 1e-5), (1e-6, 1e-3)):
            row = {"rows": m, "alpha": alpha, "tol": tol}
            for name, search in (("bundle", True), ("algorithm 1", False)):
                solver = Bundle(tol=tol, max_iter=2000, line_search=search)
                ranker = LinearRanker("hinge", alpha, scale=True, solver=solver).fit(X, y)
                row[f"{name} iterations"] = ranker.n_iter_ if ranker.status_ == "converged" else None
            rows.append(row)
    report("iterations", rows)
