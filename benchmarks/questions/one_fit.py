"""One fit, step by step: objective, certified gap, and what each step was, by Newton and by the bundle method."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linrank import RankingData
from linrank._errors import overflow_ignored
from linrank.engines import LocalEngine
from linrank.losses import Hinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, Newton
from linrank.solvers.newton.method import Iterate
from measure import quick
from problems import load, standardised
from results import FIT, report

SOURCES = FIT
FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "one_fit.png"

ALPHA, TOL = 1e-4, 1e-6


def states(method: Any, objective: Objective) -> Iterator[Any]:
    """The states that the loop goes through: each is a value, so a script can step as well."""
    state = method.begin(objective, None)
    yield state
    while method.ends(state) is None:
        state = method.step(state)
        yield state


def newton_step(before: Iterate | None, after: Iterate) -> str:
    """What a step of Newton's method was."""
    if before is None:
        return "start, from a sample" if after.memory.H is not None else "start"
    narrower = ", smoothed less" if after.view.mu < before.view.mu else ""
    if after.memory.H is not before.memory.H:
        return "exact Hessian" + narrower
    return ("factor" if after.memory.steps > before.memory.steps else "conjugate gradients") + narrower


def bundle_step(before: Any, after: Any) -> str:
    """What a step of the bundle method was."""
    if before is None:
        return "start"
    return "better point" if after.point is not before.point else "plane alone"


def main() -> None:
    problem = load("webis")
    data = RankingData(standardised(problem.X), *problem[1:])
    rows = []
    for name, method, kind in (("newton", Newton(tol=TOL), newton_step), ("bundle", Bundle(tol=TOL), bundle_step)):
        before = None
        with LocalEngine(data) as engine, overflow_ignored():
            for k, state in enumerate(states(method, Objective(engine, Hinge(), Ridge(ALPHA))), 1):
                row = {"solver": name, "iteration": k, "objective": state.best.value, "gap": state.best.gap}
                rows.append(row | {"step": kind(before, state)})
                before = state
    report("one_fit", rows)
    if not quick():
        plot(rows)


def plot(rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    least = min(row["objective"] for row in rows)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
    for axis, solver in zip(axes, ("newton", "bundle"), strict=True):
        here = [row for row in rows if row["solver"] == solver]
        steps = [row["iteration"] for row in here]
        axis.semilogy(steps, [row["gap"] for row in here], color="black", lw=1, label="certified gap")
        above = [max(row["objective"] - least, 1e-12) for row in here]
        axis.semilogy(steps, above, color="0.6", lw=1, ls="--", label="above the best objective found")
        for kind in dict.fromkeys(row["step"] for row in here):
            some = [row for row in here if row["step"] == kind]
            axis.semilogy([row["iteration"] for row in some], [row["gap"] for row in some], "o", ms=4, label=kind)
        axis.set(title=solver, xlabel="iteration", ylim=(1e-8, None))
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110)
