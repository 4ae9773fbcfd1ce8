"""Trips to an engine: how often a solver asks rows that live elsewhere, an iteration; Hessian products apart.

The engine is a sum of up to 7 parts, each with whole queries, behind a CountingEngine. Counted is what a fit asks of
all rows. Samples are local: they are neither asked nor counted here, nor are the iterations on them. The first
iteration only evaluates the starting point: "a step" leaves it out, and is what the limits are held against.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linrank import RankingData
from linrank.data.parts import split_queries
from linrank.engines import LocalEngine, SumEngine
from linrank.losses import LOSSES
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import SOLVERS
from linrank.testing import CountingEngine
from problems import load
from results import FIT, fault, report

SOURCES = FIT

PROBLEMS = ("mq2008", "webis", "cadata")
ALPHAS = (1e-2, 1e-4)
PARTS = 7
#: Loss and solver, and the most trips that a step may take in the mean over all problems.
METHODS: dict[tuple[str, str], float | None] = {
    ("squared_hinge", "newton"): 3.0,
    ("hinge", "newton"): 3.0,
    ("logistic", "newton"): 3.0,
    ("hinge", "bundle"): 4.0,
    ("squared_hinge", "cg"): None,
    ("squared_hinge", "tron"): None,
}
#: Kinds of trips that have a column of their own, or none.
APART = ("hessian_product", "sample", "draw")
MEANS = ("iterations", "trips an iteration", "trips a step", "Hessian products an iteration", "trials an iteration")


class Engine(CountingEngine):
    """Counts trials on lines, too."""

    trials = 0

    def asked(self) -> int:
        """Trips so far, but for those that are apart."""
        return sum(n for kind, n in self.trips.items() if kind not in APART)

    def evaluate(self, loss: Any, s: Any, d: Any = None, t: float = 0.0, gradient: bool = False) -> Any:
        """A trip; on a line where d is given."""
        self.trials += d is not None
        return super().evaluate(loss, s, d, t, gradient)


def measure(name: str, data: RankingData, loss: str, solver: str, alpha: float) -> dict[str, Any]:
    parts = [LocalEngine(part) for part in split_queries(data, PARTS)]
    asked: list[int] = []
    with Engine(SumEngine(parts)) as engine:
        objective = Objective(engine, LOSSES[loss], Ridge(alpha))
        solution = SOLVERS[solver](max_iter=20_000).minimise(objective, callback=lambda _: asked.append(engine.asked()))
    if solution.status != "converged":
        fault(f"{name}, {loss} by {solver}, alpha {alpha:g}: {solution.status}")
    kinds = [f"{kind} {n}" for kind, n in sorted(engine.trips.items()) if kind not in APART]
    n = solution.n_iter
    return {
        "data": name,
        "parts": len(parts),
        "loss": loss,
        "solver": solver,
        "alpha": alpha,
        "iterations": n,
        "trips an iteration": engine.asked() / n,
        "trips a step": (engine.asked() - asked[0]) / (n - 1) if n > 1 else None,
        "Hessian products an iteration": engine.trips["hessian_product"] / n,
        "trials an iteration": engine.trials / n,
        "kinds": ", ".join(kinds),
    }


def mean(rows: list[dict[str, Any]], loss: str, solver: str, limit: float | None) -> dict[str, Any]:
    """Over the problems and alphas, each counting the same."""
    here = [row for row in rows if (row["loss"], row["solver"]) == (loss, solver)]
    found = {column: float(np.mean([row[column] for row in here if row[column] is not None])) for column in MEANS}
    trips = found["trips a step"]
    if limit is not None and trips > limit:
        fault(f"{loss} by {solver}: {trips:.2f} trips a step in the mean, {limit:g} are allowed")
    return {"loss": loss, "solver": solver, **found, "limit": limit}


def main() -> None:
    data = {name: RankingData(*load(name)) for name in PROBLEMS}
    rows = [
        measure(name, given, loss, solver, alpha)
        for name, given in data.items()
        for loss, solver in METHODS
        for alpha in ALPHAS
    ]
    report("trips", rows)
    report("trips_mean", [mean(rows, *method, limit) for method, limit in METHODS.items()])
