"""What an exact Hessian costs in passes over X (X v and X^T u), beside the cost model that Newton's method uses."""

from __future__ import annotations

import numpy as np

from evaluate import dot, transpose_dot
from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import SquaredHinge
from linrank.testing import make_ranking
from measure import best_times, quick
from results import FIT, report

SOURCES = FIT

SHAPES = [
    (20_000, 8, 1, None),
    (26_000, 42, 60, 5),
    (100_000, 42, 1000, 5),
    (50_000, 136, 400, 5),
    (20_000, 400, 160, 5),
]


def main() -> None:
    rows = []
    for m, d, n_queries, n_levels in SHAPES:
        m = m // 20 if quick() else m
        X, y, qid = make_ranking(m, d, n_queries, n_levels)
        w = np.full(d, 0.3 / np.sqrt(d))
        with LocalEngine(RankingData(X, y, qid)) as engine:
            evaluation = engine.evaluate(SquaredHinge(), engine.scores(w))
            times = best_times(
                {
                    "pass": lambda: transpose_dot(engine, dot(engine, w)),
                    "product": lambda: evaluation.hessian_product(w),
                    "hessian": lambda: evaluation.hessian(None),
                },
                7,
            )
            model = engine.hessian_cost(SquaredHinge())
        rows.append(
            {
                "rows": m,
                "features": d,
                "queries": n_queries,
                "pass ms": 1e3 * times["pass"],
                "Hessian in passes": times["hessian"] / times["pass"],
                "in steps of conjugate gradients": times["hessian"] / times["product"],
                "cost model": float(model),
            }
        )
    report("hessian", rows)
