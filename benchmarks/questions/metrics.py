"""Metrics at 10^7 rows, one query and 10^5 queries, in multiples of np.argsort of the same scores."""

from __future__ import annotations

from functools import partial

import numpy as np

from linrank import metrics
from measure import best_times, quick
from results import report

SOURCES = ("kernels/**/*.py", "metrics/**/*.py")

ROWS = 10_000_000
NAMES = (
    "ndcg@10", "ndcg", "mean_ndcg", "map", "mrr", "precision@10", "recall@10", "hit@10", "err@10", "err", "auc",
    "pairwise_accuracy", "c_index", "kendall_tau",
)  # fmt: skip


def main() -> None:
    rng, n = np.random.default_rng(0), 10_000 if quick() else ROWS
    scores, y = rng.standard_normal(n), rng.integers(0, 5, n).astype(np.float64)
    shapes = {"1 query": None, "100,000 queries of 100 rows": np.arange(n) // 100}
    rows = []
    for name in NAMES:
        judge = metrics.parse(name, **({"threshold": 2.0} if name == "auc" else {}))
        for qid in shapes.values():
            judge(y[:1000], scores[:1000], None if qid is None else qid[:1000])  # compile
        contestants = {shape: partial(judge, y, scores, qid) for shape, qid in shapes.items()}
        times = best_times({"np.argsort": partial(np.argsort, scores), **contestants}, repeats=5)
        for shape in shapes:
            seconds = times[shape]
            rows.append({"metric": name, "shape": shape, "s": seconds, "argsorts": seconds / times["np.argsort"]})
    report("metrics", rows)
