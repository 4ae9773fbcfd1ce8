"""Theorem 3: the bundle method's iterations do not depend on the number of rows; against alpha and tol they do."""

from __future__ import annotations

import warnings

from linrank import ConvergenceWarning, LinearRanker
from linrank.solvers import Bundle
from linrank.testing import make_ranking
from measure import report


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for m in (1_000, 4_000, 16_000, 64_000, 256_000):
        X, y, _ = make_ranking(m, 20, noise=3.0)
        for alpha, tol in ((1e-2, 1e-3), (1e-4, 1e-3), (1e-4, 1e-5), (1e-6, 1e-3)):
            row = {"rows": m, "alpha": alpha, "tol": tol}
            for name, search in (("bundle", True), ("algorithm 1", False)):
                solver = Bundle(tol=tol, max_iter=2000, line_search=search)
                row[f"{name} iterations"] = LinearRanker("hinge", alpha, solver=solver).fit(X, y).n_iter_
            rows.append(row)
    report("iterations", rows)
