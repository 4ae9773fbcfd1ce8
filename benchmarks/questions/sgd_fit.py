"""A whole stochastic fit against rows, 1e4 to 1e7: what it costs beside its steps and one look at X."""

from __future__ import annotations

import numpy as np

from linrank import SGDRanker
from linrank.data.checks import check_features
from linrank.data.labelled import LabelledRows
from measure import best_times, few, quick
from questions._stochastic import begin, run_on
from results import STOCHASTIC, report

SOURCES = (*STOCHASTIC, "data/*.py", "engines/columns.py")
FEATURES, PER_QUERY = 50, 125
SHAPES = ("grades in queries", "grades in mixed queries", "real labels, one query", "1 % positive, one query")


def labels(shape: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    if shape == "real labels, one query":
        return rng.standard_normal(n), None
    if shape == "1 % positive, one query":
        return (rng.random(n) < 0.01).astype(np.int64), None
    y, qid = rng.integers(0, 5, n), np.arange(n) // PER_QUERY
    return y, rng.permutation(qid) if "mixed" in shape else qid


def measure(n_rows: int, shape: str, X: np.ndarray) -> dict[str, object]:
    y, qid = labels(shape, n_rows, np.random.default_rng(1))
    n_steps = 1000 if quick() else 100_000
    run = run_on(LabelledRows.of(X, y, qid), "pegasos", 1e-4)
    given = {"n_steps": n_steps, "random_state": 0}
    contestants = {
        "look": lambda: check_features(X),
        "steps": lambda: run.steps(begin(run, average=True), n_steps),
        "fit": lambda: SGDRanker(alpha=1e-4, scale=False, **given).fit(X, y, qid),
        "auto": lambda: SGDRanker(**given).fit(X, y, qid),
        "rejection": lambda: SGDRanker(alpha=1e-4, scale=False, sampling="rejection", **given).fit(X, y, qid),
        "objective": lambda: SGDRanker(alpha=1e-4, scale=False, **given).fit(X, y, qid).objective_,
    }
    if "mixed" in shape:
        del contestants["rejection"]  # thousands of tries a pair: one in a query's share of the rows
    for contestant in contestants.values():
        contestant()
    seconds = best_times(contestants, 3 if n_rows >= 10**7 else 7)
    least = seconds["look"] + seconds["steps"]
    return {
        "rows": n_rows,
        "labels": shape,
        "drawn": type(run.draws).__name__,
        "index bytes a row": run.draws.nbytes / n_rows,
        **{f"{name} s": seconds.get(name) for name in ("look", "steps", "fit", "auto", "rejection", "objective")},
        **{f"{name} / least": seconds[name] / least for name in ("fit", "auto")},
    }


def main() -> None:
    rows = []
    for n_rows in few((10**4, 10**5, 10**6, 10**7), 1):
        kind = np.float32 if n_rows >= 10**7 else np.float64  # 2 GB instead of 4
        X = np.random.default_rng(0).standard_normal((n_rows, FEATURES), dtype=np.float32).astype(kind)
        rows += [measure(n_rows, shape, X) for shape in SHAPES]
    report("sgd_fit", rows)
