"""Time and iterations to a certified gap: Algorithm 1, bundle method, smoothed Newton; SVMrank's time beside them."""

from __future__ import annotations

import time
import warnings

from linrank import ConvergenceWarning, LinearRanker
from linrank.solvers import Bundle, Newton
from measure import report
from problems import cadata, imdb, webis

#: Seconds of SVMrank on a machine of this kind.
SVMRANK = {("cadata", 1e-2): 41.0, ("webis", 1e-4): 18.7, ("imdb", 1e-4): 58.7}
ALGORITHM_1_LIMIT = 2000
#: How often each solver has its turn, and the seconds of one: as many fits as begin in that time.
TURNS, TURN = 4, 0.2


def main() -> None:
    rows = []
    for name, problem in {"cadata": cadata(), "webis": webis(), "imdb": imdb()}.items():
        for alpha in (1e-2, 1e-4, 1e-6):
            for tol in (1e-3, 1e-5):
                rows.append(measure(name, problem, alpha, tol))
                print(rows[-1], flush=True)
    report("hinge", rows)


def measure(name: str, problem: object, alpha: float, tol: float) -> dict[str, object]:
    solvers = {
        "auto": "auto",
        "bundle": Bundle(tol=tol, max_iter=5000),
        "newton": Newton(tol=tol),
        "algorithm 1": Bundle(tol=tol, max_iter=ALGORITHM_1_LIMIT, line_search=False, max_planes=ALGORITHM_1_LIMIT + 1),
    }
    best = dict.fromkeys(solvers, float("inf"))
    fitted: dict[str, LinearRanker] = {}
    for turn in range(TURNS):
        for which, solver in solvers.items():
            if turn > 0 and best[which] > 1:
                continue  # long enough for one run to tell
            ranker = LinearRanker("hinge", alpha, solver=solver, scale=False, tol=tol)
            end = time.perf_counter() + TURN
            while (begin := time.perf_counter()) < end:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    fitted[which] = ranker.fit(*problem)
                best[which] = min(best[which], time.perf_counter() - begin)
    row: dict[str, object] = {"data": name, "alpha": alpha, "tol": tol, "objective": f"{fitted['auto'].objective_:.6f}"}
    for which, ranker in fitted.items():
        done = "" if ranker.status_ == "converged" else " (limit)"
        row[f"{which} s"], row[f"{which} iterations"] = best[which], f"{ranker.n_iter_}{done}"
    row["algorithm 1 / auto"] = best["algorithm 1"] / best["auto"]
    svmrank = SVMRANK.get((name, alpha)) if tol == 1e-3 else None
    row["SVMrank / auto"] = svmrank / best["auto"] if svmrank else ""
    return row
