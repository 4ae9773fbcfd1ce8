"""Sparse data: passes over X, bytes, CPU seconds and where they go, against trust-region Newton and liblinear-ranksvm.

Each problem is solved to a certified gap of 1e-3 of f(0), or to a gradient of 1e-6 of that at zero, by all alike: of
liblinear-ranksvm, run once, the loosest of LOOSER counts whose weights our own certificate lets pass: where one looser
still would pass, its ratio is too large. Made problems have a seed on
which constants may be chosen and another one to report on. A pass over a sample counts as one. The floor is what the
same gathers and scatters take where all of them hit the first cache.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from linrank import RankingData
from linrank.defaults import choose_scale
from linrank.engines import LocalEngine
from linrank.engines.matrix import SparseMatrix, as_matrix
from linrank.losses import SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton, Solution, Tron
from measure import best_times, few, quick
from opponents import Fit, UnfinishedError, opponent
from problems import Problem, load
from results import FIT, report

SOURCES = FIT

#: Problem, what it is given, and whether constants may be chosen on it.
PROBLEMS: list[tuple[str, tuple[Any, ...], str]] = [
    ("imdb", (), "tuning"),
    ("newsgroups", (), "reporting"),
    *((name, (seed,), which) for name in ("text", "hashed", "narrow", "movies") for seed, which in
      ((0, "tuning"), (1, "reporting"))),
]  # fmt: skip
#: alpha, scale and the gradient's tolerance (None: the gap's, 1e-3).
SETTINGS: list[tuple[float, bool, float | None]] = [
    (1e-4, False, None),
    (1e-4, False, 1e-6),
    (1e-3, True, None),
    (1e-6, False, None),
    (1e-2, False, None),
]
#: The alpha at which liblinear-ranksvm runs, too.
RACED = 1e-4
#: Entries of a vector that the first cache holds.
CACHED = 1 << 10
LOOSER = (0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)


class Spent:
    """Passes, bytes and CPU seconds of products with X, and of the loss."""

    passes = read = 0.0
    products = loss = 0.0


@contextmanager
def watched() -> Iterator[Spent]:
    """Where a fit's time goes: products with X or its float32 copy, and the loss with its curvature."""
    spent, undo = Spent(), []

    def product(original: Any) -> Any:
        def call(self: SparseMatrix, v: Any, block: int, *out: Any) -> Any:
            first, last = self.rows(block)
            begin = time.process_time()
            answer = original(self, v, block, *out)
            spent.products += time.process_time() - begin
            spent.passes += (last - first) / self.shape[0]
            entries = int(self.indptr[last] - self.indptr[first])
            spent.read += entries * (self.data.itemsize + self.indices.itemsize)
            return answer

        return call

    def loss(original: Any) -> Any:
        def call(*given: Any) -> Any:
            begin = time.process_time()
            answer = original(*given)
            spent.loss += time.process_time() - begin
            return answer

        return call

    from linrank.losses._curvature import PairCurvature

    for kind, name, wrap in (
        (SparseMatrix, "dot", product),
        (SparseMatrix, "transpose_dot", product),
        (SquaredHinge, "at", loss),
        (PairCurvature, "product", loss),
    ):
        undo.append((kind, name, kind.__dict__.get(name)))
        setattr(kind, name, wrap(getattr(kind, name)))
    try:
        yield spent
    finally:
        for kind, name, original in undo:
            if original is None:
                delattr(kind, name)
            else:
                setattr(kind, name, original)


def floor(X: sp.csr_matrix) -> float:
    """CPU seconds of X w and X^T g in float32 where every column is one of a few."""
    matrix = as_matrix(sp.csr_matrix((X.data.astype(np.float32), X.indices % CACHED, X.indptr), shape=X.shape))
    w, g, out = np.ones(CACHED), np.ones(X.shape[0]), np.empty(X.shape[0])
    matrix.shape = X.shape[0], CACHED

    def run() -> None:
        for block in range(matrix.n_blocks):
            matrix.dot(w, block, out)
            matrix.transpose_dot(g, block)

    return best_times({"floor": run}, 5)["floor"]


def certified(objective: Objective, w: np.ndarray, gradient_tol: float | None) -> bool:
    """Whether weights pass the test that a fit had to."""
    point, zero = objective.at(w), objective.at(np.zeros_like(w))
    if gradient_tol is not None:
        return np.linalg.norm(point.gradient) <= gradient_tol * np.linalg.norm(zero.gradient)
    return objective.penalty.gap(w, point.risk_gradient) <= 1e-3 * objective.value_at_zero


def liblinear(problem: Problem, objective: Objective, alpha: float, gradient_tol: float | None) -> float | None:
    """Its CPU seconds with the loosest tolerance whose weights pass."""
    other = opponent("liblinear_ranksvm")
    if quick() or not other.available():
        return None
    scale = 1.0 if objective.scale is None else objective.scale
    given = problem._replace(X=sp.csr_matrix(problem.X @ sp.diags_array(1.0 / (scale * np.ones(problem.X.shape[1])))))
    for tol in LOOSER if gradient_tol is None else (gradient_tol,):
        try:
            found: Fit = other.fit(given, "squared_hinge", alpha, tol)
        except UnfinishedError:
            return None
        if gradient_tol is not None or certified(objective, found.weights, None):
            return found.seconds
    return None


def main() -> None:
    rows = []
    for name, given, which in few(PROBLEMS, 4):
        problem = load(name, *given)
        least = floor(problem.X)
        with LocalEngine(RankingData(*problem)) as engine:
            for alpha, scaled, gradient_tol in few(SETTINGS, 3):
                scale = choose_scale(True, engine.columns()) if scaled else None
                objective = Objective(engine, SquaredHinge(), Ridge(alpha), scale)
                row = {"problem": name, "seed": given[0] if given else None, "list": which}
                row |= {"alpha": alpha, "scaled": scaled, "to": "gap" if gradient_tol is None else "gradient"}
                race = alpha == RACED and (which == "reporting" or not given)
                rows.append(row | measured(problem, objective, alpha, gradient_tol, least, race))
    report("sparse", rows)


def measured(
    problem: Problem, objective: Objective, alpha: float, gradient_tol: float | None, least: float, race: bool
) -> dict[str, Any]:
    """One fit, counted and timed, and the others beside it."""
    tol = 1e-12 if gradient_tol is not None else 1e-3
    newton, tron = Newton(tol=tol, gradient_tol=gradient_tol), Tron(tol=tol, gradient_tol=gradient_tol)
    fits: dict[str, Solution] = {}
    seconds = best_times(
        {
            "fit": lambda: fits.update(fit=newton.minimise(fresh(objective))),
            "tron": lambda: fits.update(tron=tron.minimise(objective)),
        },
        2,
    )
    with watched() as spent:
        newton.minimise(fresh(objective))
    with watched() as by_tron:
        tron.minimise(objective)
    peer = liblinear(problem, objective, alpha, gradient_tol) if race else None
    whole = max(seconds["fit"], 1e-9)
    return {
        "status": str(fits["fit"].status),
        "passes": round(spent.passes, 1),
        "MB read": round(spent.read / 1e6),
        "seconds": whole,
        "products share": spent.products / whole,
        "loss share": spent.loss / whole,
        "over the floor": whole / (least * spent.passes / 2),
        "tron passes": round(by_tron.passes, 1),
        "tron seconds": seconds["tron"],
        "liblinear-ranksvm seconds": peer,
        "times liblinear-ranksvm": None if peer is None else peer / whole,
    }


def fresh(objective: Objective) -> Objective:
    """With an engine that has yet to measure its columns and copy X: a fit pays for both."""
    engine = objective.engine
    vars(engine).pop("_columns", None)
    engine._fast = None
    return Objective(engine, objective.loss, objective.penalty, objective.scale)
