"""Squared hinge to a relative gradient of 1e-6: the default beside forced variants, in seconds and passes over X."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from linrank import RankingData
from linrank._objective import Objective
from linrank.engines import LocalEngine
from linrank.losses import SquaredHinge
from linrank.solvers import Newton, Tron
from measure import best_times, report
from problems import cadata, covtype_like, imdb, isotropic, webis

#: Seconds of liblinear-ranksvm at alpha 1e-4, without reading, on a machine of this kind.
LIBLINEAR = {"webis": 0.97, "cadata": 0.17, "imdb": 1.2, "covtype-like": 8.5}
PROBLEMS = {
    "webis": webis,
    "cadata": cadata,
    "imdb": imdb,
    "covtype-like": covtype_like,
    "isotropic": isotropic,
    "isotropic 20,000 x 400": lambda: isotropic(20_000, 400, 200),
}
GRADIENT = 1e-6


def main() -> None:
    rows = []
    for name, make in PROBLEMS.items():
        problem = make()
        with LocalEngine(RankingData(*problem)) as engine:
            for alpha in (1e-2, 1e-4, 1e-6):
                rows.append(measure(name, problem, engine, alpha))
                print(rows[-1], flush=True)
    report("squared_hinge", rows)


def measure(name: str, problem: Any, engine: LocalEngine, alpha: float) -> dict[str, Any]:
    objective = Objective(engine, SquaredHinge(), alpha, engine.data.n_features)
    g = objective.at(np.zeros(objective.n_features)).gradient
    tol = GRADIENT**2 * float(g @ g) / (2 * alpha) / objective.value_at_zero  # the gap that such a gradient certifies
    variants = {
        "auto": Newton(tol=tol),
        "exact": Newton(tol=tol, hessian="exact"),
        "products": Newton(tol=tol, hessian="products"),
        "no samples": Newton(tol=tol, samples=False),
        "tron": Tron(tol=tol),
    }
    if engine.hessian_steps(SquaredHinge()) is None:
        del variants["exact"]
    solutions: dict[str, Any] = {}

    def run(variant: str) -> None:
        solutions[variant] = variants[variant].minimise(objective)

    run("auto")
    slow = solutions["auto"].history[-1].seconds > 1.0
    w, u = np.ones(objective.n_features), np.ones(engine.data.n_rows)
    times = best_times({v: lambda v=v: run(v) for v in variants}, 2 if slow else 5)
    one_pass = best_times({"pass": lambda: (engine.dot(w), engine.transpose_dot(u))}, 5)["pass"]
    spent = _where_it_goes(engine, objective, Newton(tol=tol))
    forced = min(times[v] for v in variants if v != "auto")
    return {
        "data": name,
        "alpha": alpha,
        "objective": f"{solutions['auto'].value:.10f}",
        **{f"{v} s": times.get(v, np.nan) for v in ("auto", "exact", "products", "no samples", "tron")},
        "iterations": solutions["auto"].n_iter,
        "passes": times["auto"] / one_pass,
        "auto / best forced": times["auto"] / forced,
        "tron / auto": times["tron"] / times["auto"],
        "liblinear / auto": LIBLINEAR[name] / times["auto"] if alpha == 1e-4 and name in LIBLINEAR else "",
        **{f"{part} %": f"{100 * share:.0f}" for part, share in spent.items()},
    }


def _where_it_goes(engine: LocalEngine, objective: Objective, solver: Newton) -> dict[str, float]:
    """Shares of the time: products with X, losses with their gradients, exact Hessians; the rest is curvature."""
    spent = dict.fromkeys(("dot", "transpose_dot", "loss_at", "hessian"), 0.0)

    def timed(name: str) -> Any:
        original = getattr(type(engine), name)

        def call(self: LocalEngine, *arguments: Any) -> Any:
            begin = time.perf_counter()
            try:
                return original(self, *arguments)
            finally:
                spent[name] += time.perf_counter() - begin

        return original, call

    patches = {name: timed(name) for name in spent}
    for name, (_, call) in patches.items():
        setattr(LocalEngine, name, call)
    begin = time.perf_counter()
    try:
        solver.minimise(objective)
    finally:
        for name, (original, _) in patches.items():
            setattr(LocalEngine, name, original)
    total = time.perf_counter() - begin
    return {
        "products": (spent["dot"] + spent["transpose_dot"]) / total,
        "loss": spent["loss_at"] / total,
        "Hessian": spent["hessian"] / total,
    }
