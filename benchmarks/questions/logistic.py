"""The logistic loss: cost of an evaluation by exponentials, by Fourier series and pair by pair; Newton against cg."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from contest import columns, contest, ratio
from evaluate import Evaluator
from linrank import LinearRanker, RankingData
from linrank.data import active
from linrank.losses import Logistic, LogisticErfc
from linrank.testing import make_ranking
from measure import best_times, exponent, few, quick
from opponents import linrank
from problems import Problem, load
from results import FIT, report

SOURCES = FIT

FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "calibration.png"
SIZES = [10_000, 100_000, 1_000_000, 10_000_000]


def main() -> None:
    growth()
    direct_against_sorted()
    short()
    report(
        "logistic_solvers",
        [row for name in ("cadata", "webis", "imdb") for row in solvers(name, load(name))],
    )
    rows = calibration()
    report("logistic_calibration", rows)
    if not quick():
        plot(rows)


def evaluation(loss: Any, data: RankingData, s: np.ndarray) -> dict[str, Any]:
    evaluator = Evaluator(data)
    point = evaluator.at(loss, s)
    return {
        "value and gradient": lambda: evaluator.at(loss, s),
        "Hessian product": lambda: evaluator.product(point, s),
    }


def growth() -> None:
    """One query of m rows: few levels, or all distinct."""
    rows, slopes = [], []
    sizes = [1_000, 3_000] if quick() else SIZES
    for levels in (5, None):
        seconds: dict[str, list[float]] = {}
        for m in sizes:
            X, y, _ = make_ranking(m, 1, 1, levels)
            s, data = X[:, 0].copy(), RankingData(X, y)
            runs = {"argsort": lambda: np.argsort(s)}
            runs |= {f"exponentials, {what}": run for what, run in evaluation(Logistic(), data, s).items()}
            if m <= 10**6:
                for eps in (1e-6, 1e-12):
                    runs |= {f"Fourier {eps:g}, {w}": run for w, run in evaluation(LogisticErfc(eps), data, s).items()}
            times = best_times(runs, 5 if m < 10**6 else 2)
            rows.append({"levels": levels or "distinct", "rows": m, "argsort ms": 1e3 * times["argsort"]})
            rows[-1] |= {f"{name}, argsorts": t / times["argsort"] for name, t in times.items() if name != "argsort"}
            for name, t in times.items():
                seconds.setdefault(name, []).append(t)
            print(rows[-1], flush=True)
        slopes += [
            {"levels": levels or "distinct", "what": name, "exponent": exponent(sizes[: len(t)], t)}
            for name, t in seconds.items()
        ]
    fields = list(rows[0])
    report("logistic_growth", [{field: row.get(field, "") for field in fields} for row in rows])
    report("logistic_exponents", slopes)


def direct_against_sorted() -> None:
    """California housing at rising m: pair by pair, and by one sort."""
    problem, rows = load("cadata"), []
    rng = np.random.default_rng(0)
    order = rng.permutation(len(problem.y))
    for m in few((50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_640), 4):
        data = RankingData(problem.X[order[:m]], problem.y[order[:m]])
        s, evaluator = data.X @ np.full(8, 0.3), Evaluator(data)
        times = best_times({name: lambda limit=limit: _with(limit, s, evaluator) for name, limit in LIMITS.items()}, 5)
        rows.append({"rows": m, **{f"{name} ms": 1e3 * t for name, t in times.items()}})
        rows[-1]["direct / sorted"] = times["pair by pair"] / times["sorted"]
    report("logistic_crossing", rows)
    large = [row for row in rows if quick() or row["rows"] >= 1_000]
    report(
        "logistic_crossing_exponents",
        [{n: exponent([r["rows"] for r in large], [r[f"{n} ms"] for r in large]) for n in LIMITS}],
    )


LIMITS = {"pair by pair": 10**9, "sorted": 0}


def _with(limit: int, s: np.ndarray, evaluator: Evaluator) -> None:
    kept, active.TUNING = active.TUNING, replace(active.TUNING, short_logistic=limit)
    try:
        evaluator.at(Logistic(), s)
    finally:
        active.TUNING = kept


def short() -> None:
    """Many queries of five levels: up to which length pair by pair is faster."""
    rows = []
    for length in few((10, 30, 60, 125, 250, 500, 1_000, 2_000)):
        n_queries = max(1, (2_000 if quick() else 200_000) // length)
        X, y, qid = make_ranking(length * n_queries, 1, n_queries, 5)
        data, s = RankingData(X, y, qid), X[:, 0].copy()
        evaluator = Evaluator(data)
        times = best_times({name: lambda limit=limit: _with(limit, s, evaluator) for name, limit in LIMITS.items()}, 3)
        pairs = data.preferences.n_pairs / data.preferences.row.size
        rows.append({"rows a query": length, "pairs a row": pairs})
        rows[-1] |= {f"{name}, ns a row": 1e9 * t / s.size for name, t in times.items()}
    report("logistic_short", rows)


def solvers(name: str, problem: Problem) -> list[dict[str, Any]]:
    """Newton and nonlinear conjugate gradients to the same certified gaps."""
    rows = []
    for alpha in (1e-2, 1e-4):
        for tol in (1e-3, 1e-6):
            fits = {which: partial(linrank.fit, tol=tol, solver=which) for which in ("newton", "cg")}
            judged = contest(problem, "logistic", alpha, fits, turns=2)
            rows.append({"data": name, "alpha": alpha, "tol": tol, **columns(judged)})
            rows[-1]["cg / newton"] = ratio(judged, "cg", "newton")
            rows[-1]["objective"] = f"{judged['newton'].objective:.8f}"
            print(rows[-1], flush=True)
    return rows


def calibration() -> list[dict[str, Any]]:
    """Webis, trained on four fifths of the queries: predicted and observed share of pairs, on held-out ones."""
    X, y, qid = load("webis")
    query = np.unique(qid, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    held = np.isin(query, rng.permutation(query.max() + 1)[: (query.max() + 1) // 5])
    ranker = LinearRanker("logistic", 1e-3, scale=True, tol=1e-6).fit(X[~held], y[~held], qid[~held])
    rows = np.flatnonzero(held)
    i, j = rng.choice(rows, (2, 2_000_000))
    keep = (query[i] == query[j]) & (y[i] != y[j])
    i, j = i[keep], j[keep]
    p, won = ranker.predict_pair(X[i], X[j]), y[i] > y[j]
    bins = np.minimum((10 * p).astype(int), 9)
    return [
        {
            "predicted": float(p[bins == b].mean()),
            "observed": float(won[bins == b].mean()),
            "pairs": int((bins == b).sum()),
        }
        for b in range(10)
        if (bins == b).any()
    ]


def plot(rows: list[dict[str, Any]]) -> None:
    """Predicted against observed share of pairs."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4.5, 4.5))
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    axes.plot([row["predicted"] for row in rows], [row["observed"] for row in rows], "o-")
    axes.set(xlabel="predicted probability that A is preferred to B", ylabel="observed share", aspect="equal")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110)
    plt.close(figure)
