"""Squared hinge to a relative gradient of 1e-6: the default beside forced variants, TRON and liblinear-ranksvm."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

import problems
from contest import columns, contest, objective, ratio
from evaluate import dot, evaluate_all, transpose_dot
from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import SquaredHinge
from linrank.solvers import Newton, Tron
from measure import best_times, quick
from opponents import liblinear_ranksvm, linrank
from problems import Problem, load
from results import FIT, report

SOURCES = FIT
PROBLEMS = {name: (name,) for name in ("webis", "cadata", "imdb", "newsgroups", "mq2008", "covtype", "isotropic")}
PROBLEMS["isotropic 20,000 x 400"] = ("isotropic", 20_000, 400, 200)
GRADIENT = 1e-6


def main() -> None:
    rows = []
    for name, given in PROBLEMS.items():
        problem = load(*given)
        rows += [measure(name, given[0], problem, alpha) for alpha in (1e-2, 1e-4, 1e-6)]
    report("squared_hinge", rows)


def measure(name: str, kind: str, problem: Problem, alpha: float) -> dict[str, Any]:
    tol = certified_gap(problem, alpha)
    variants = {
        "exact": Newton(tol=tol, hessian="exact"),
        "products": Newton(tol=tol, hessian="products"),
        "no samples": Newton(tol=tol, samples=False),
        "tron": Tron(tol=tol),
    }
    contestants: dict[str, Any] = {"auto": partial(linrank.fit, tol=tol)}
    contestants |= {variant: partial(linrank.fit, tol=tol, solver=solver) for variant, solver in variants.items()}
    if not hessian_to_be_had(problem):
        contestants["exact"] = None
    there = liblinear_ranksvm.available()
    contestants["liblinear-ranksvm"] = partial(liblinear_ranksvm.fit, tol=GRADIENT) if there else None
    judged = contest(problem, "squared_hinge", alpha, contestants, turns=3)
    forced = [judged[v].seconds for v in variants if judged[v].seconds is not None]
    auto = judged["auto"].seconds
    row = {"data": name, "list": problems.listed(kind), "alpha": alpha, "objective": f"{judged['auto'].objective:.10f}"}
    row |= columns(judged, iterations=False) | {"iterations": judged["auto"].iterations}
    row["passes"] = None if auto is None else auto / one_pass(problem)
    row["auto / best forced"] = None if auto is None or not forced else auto / min(forced)
    row["tron / auto"] = ratio(judged, "tron", "auto")
    row["liblinear-ranksvm / auto"] = ratio(judged, "liblinear-ranksvm", "auto")
    print(row, flush=True)
    return row


def certified_gap(problem: Problem, alpha: float) -> float:
    """The gap, relative to f(0), that a gradient of GRADIENT times that at 0 certifies."""
    data = RankingData(*problem)
    g = problem.X.T @ evaluate_all(SquaredHinge(), np.zeros(data.n_rows), data).gradient
    tol = GRADIENT**2 * float(g @ g) / (2 * alpha) / objective(problem, "squared_hinge", alpha, np.zeros(g.size))
    return max(tol, 1e-9) if quick() else tol


def hessian_to_be_had(problem: Problem) -> bool:
    with LocalEngine(RankingData(*problem)) as engine:
        return engine.hessian_cost(SquaredHinge()) is not None


def one_pass(problem: Problem) -> float:
    """Seconds of X w and X^T u."""
    with LocalEngine(RankingData(*problem)) as engine:
        w, u = np.ones(problem.X.shape[1]), np.ones(problem.y.size)
        times = best_times({"pass": lambda: (dot(engine, w), transpose_dot(engine, u))}, 5)
    return max(times["pass"], math.ulp(1.0))
