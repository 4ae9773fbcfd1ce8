"""Time and iterations to a certified gap: our default, bundle method, smoothed Newton, Algorithm 1, SVMrank."""

from __future__ import annotations

from functools import partial
from typing import Any

import problems
from contest import columns, contest, ratio
from linrank.solvers import Bundle, Newton
from measure import few
from opponents import algorithm_1, linrank, svmrank
from results import FIT, report

SOURCES = FIT
DATA = ("cadata", "webis", "imdb", "newsgroups", "mq2008")


def main() -> None:
    rows = []
    for name in DATA:
        problem = problems.load(name)
        for alpha in (1e-2, 1e-4, 1e-6):
            for tol in few((1e-3, 1e-5), 1):
                rows.append(measure(name, problem, alpha, tol))
    report("hinge", rows)


def measure(name: str, problem: problems.Problem, alpha: float, tol: float) -> dict[str, Any]:
    contestants = {
        "auto": partial(linrank.fit, tol=tol),
        "bundle": partial(linrank.fit, tol=tol, solver=Bundle(tol=tol, max_iter=5000)),
        "newton": partial(linrank.fit, tol=tol, solver=Newton(tol=tol)),
        "algorithm 1": partial(algorithm_1.fit, tol=tol),
        "SVMrank": partial(svmrank.fit, tol=tol) if svmrank.available() else None,
    }
    judged = contest(problem, "hinge", alpha, contestants, may_fail=("algorithm 1",))
    row = {"data": name, "list": problems.listed(name), "alpha": alpha, "tol": tol}
    row["objective"] = f"{judged['auto'].objective:.6f}"
    row |= columns(judged) | {"algorithm 1 / auto": ratio(judged, "algorithm 1", "auto")}
    row["SVMrank / auto"] = ratio(judged, "SVMrank", "auto")
    print(row, flush=True)
    return row
