"""Sparse data: passes over X, bytes, CPU seconds and where they go, against trust-region Newton and liblinear-ranksvm.

Each problem is solved to a certified gap of 1e-3 of f(0), or to a gradient of 1e-6 of that at zero, by all alike.
liblinear-ranksvm ends by its gradient, so the loosest tolerance that our own certificate lets pass is known (and tried
looser where its value alone is small enough). Its time is the best of two runs of training alone, by its library
(`opponents/_liblinear.py` says why); ours the best of four, in turns with them. Made problems have a seed on which
constants may be chosen and two to report on. A pass over a sample, or over distinct rows, counts as one; shares are
those of one fit that was watched. The floor is what as many gathers and scatters in float32 take where all of them hit
the first cache.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp

from linrank import RankingData
from linrank.defaults import choose_scale
from linrank.engines import LocalEngine
from linrank.engines.matrix import SparseMatrix
from linrank.engines.reading import ByColumns
from linrank.losses import SquaredHinge
from linrank.losses._curvature import PairCurvature
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton, Tron
from measure import best_times, few, quick
from opponents import Fit, UnfinishedError, _program, liblinear_ranksvm
from problems import Problem, load
from results import FIT, as_text, report

SOURCES = FIT

#: Problem, what it is given, and whether constants may be chosen on it.
PROBLEMS: list[tuple[str, tuple[Any, ...], str]] = [
    ("imdb", (), "tuning"),
    ("newsgroups", (), "reporting"),
    *((name, (seed,), which) for name in ("text", "hashed", "narrow", "movies") for seed, which in
      ((0, "tuning"), (1, "reporting"), (2, "reporting"))),
]  # fmt: skip
TOL, GRADIENT_TOL = 1e-3, 1e-6
#: alpha, scale and the gradient's tolerance (None: the gap's).
SETTINGS: list[tuple[float, bool, float | None]] = [
    (1e-4, False, None),
    (1e-4, False, GRADIENT_TOL),
    (1e-3, True, None),
    (1e-6, False, None),
    (1e-5, False, None),
    (1e-3, False, None),
    (1e-2, False, None),
]
#: Where others would take minutes, they are left out.
TOO_LONG = {("hashed", 1e-6)}
#: Seconds after which the program liblinear-ranksvm is ended, reading included, and those up to which it runs twice.
LIMIT, TWICE = 90, 5.0
#: Steps by which its tolerance is made looser where its value alone certifies.
LOOSER = 1.5
#: Entries of a vector that the first cache holds.
CACHED = 1 << 10


class Spent:
    """Passes, entries and bytes of products with X; CPU seconds of them, of the loss, and of all."""

    passes = entries = read = 0.0
    products = loss = whole = 0.0


@contextmanager
def watched() -> Iterator[Spent]:
    """Where a fit's time goes: products with X or a copy of it, and the loss with its curvature."""
    spent, undo = Spent(), []

    def product(original: Any) -> Any:
        def call(self: SparseMatrix | ByColumns, v: Any, block: int, *out: Any) -> Any:
            begin = time.process_time()
            answer = original(self, v, block, *out)
            spent.products += time.process_time() - begin
            rows, entries, size = extent(self, block)
            spent.passes += rows / self.shape[0]
            spent.entries += entries
            spent.read += entries * size
            return answer

        return call

    def loss(original: Any) -> Any:
        def call(*given: Any) -> Any:
            begin = time.process_time()
            answer = original(*given)
            spent.loss += time.process_time() - begin
            return answer

        return call

    for kind, name, wrap in (
        *((kind, name, product) for kind in (SparseMatrix, ByColumns) for name in ("dot", "transpose_dot")),
        (SquaredHinge, "at", loss),
        (PairCurvature, "product", loss),
    ):
        undo.append((kind, name, kind.__dict__.get(name)))
        setattr(kind, name, wrap(getattr(kind, name)))
    begin = time.process_time()
    try:
        yield spent
    finally:
        spent.whole = time.process_time() - begin
        for kind, name, original in undo:
            if original is None:
                delattr(kind, name)
            else:
                setattr(kind, name, original)


def extent(matrix: SparseMatrix | ByColumns, block: int) -> tuple[int, int, int]:
    """Rows and entries of a block, and bytes an entry."""
    if isinstance(matrix, ByColumns):
        data, indices, _ = matrix._blocks[block]
        return int(matrix._cuts[block + 1] - matrix._cuts[block]), data.size, data.itemsize + indices.itemsize
    first, last = int(matrix.cuts[block]), int(matrix.cuts[block + 1])
    entries = int(matrix.indptr[last] - matrix.indptr[first])
    return last - first, entries, matrix.data.itemsize + matrix.indices.itemsize


def floor(X: sp.csr_matrix) -> float:
    """CPU seconds an entry of X w and X^T g in float32, of long rows, where every column is one of a few."""
    entries = X.nnz - X.nnz % CACHED if X.nnz > CACHED else X.nnz
    indptr = np.arange(0, entries + 1, min(CACHED, entries))
    parts = X.data[:entries].astype(np.float32), (X.indices[:entries] % CACHED).astype(np.uint16), indptr
    matrix = SparseMatrix(*parts, (indptr.size - 1, CACHED))
    w, g, out = np.ones(CACHED), np.ones(indptr.size - 1), np.empty(indptr.size - 1)

    def run() -> None:
        for block in range(matrix.n_blocks):
            matrix.dot(w, block, out)
            matrix.transpose_dot(g, block)

    run()
    return best_times({"floor": run}, 5)["floor"] / (2 * entries)


def certified(objective: Objective, w: np.ndarray, gradient_tol: float | None) -> bool:
    """Whether weights pass the test that a fit had to."""
    point = objective.at(w)
    if gradient_tol is not None:
        return float(np.linalg.norm(point.gradient)) <= gradient_tol * gradient_at_zero(objective)
    return min(objective.penalty.gap(w, point.risk_gradient), point.value) <= TOL * objective.value_at_zero


def gradient_at_zero(objective: Objective) -> float:
    """|grad f(0)|."""
    return float(np.linalg.norm(objective.at(np.zeros(objective.n_features)).gradient))


class Peer:
    """liblinear-ranksvm on one problem: the loosest tolerance whose weights pass is found first, then run again."""

    def __init__(self, problem: Problem, objective: Objective, alpha: float, gradient_tol: float | None) -> None:
        self.problem, self.alpha = problem, alpha
        self.tol, self.seconds = 0.0, math.inf  # never: no tolerance passes within the limit
        wanted = math.sqrt(2.0 * alpha * TOL * objective.value_at_zero) / gradient_at_zero(objective)
        tol = wanted if gradient_tol is None else gradient_tol
        for share in (1.0, 0.999, 0.99, 0.9):  # the gradient is the certificate's but for rounding
            found = self._fit(share * tol)
            if found is None or (passes := certified(objective, found.weights, gradient_tol)):
                tol *= share
                break
        while found is not None and passes:
            self.tol, self.seconds = tol, found.seconds
            if gradient_tol is not None or objective.at(found.weights).value > TOL * objective.value_at_zero:
                break
            tol *= LOOSER  # the value alone is small enough: it may have been so before
            found = self._fit(tol)
            passes = found is not None and certified(objective, found.weights, gradient_tol)

    def _fit(self, tol: float) -> Fit | None:
        try:
            with mock.patch.object(_program, "LIMIT", LIMIT):
                return liblinear_ranksvm.fit(self.problem, "squared_hinge", self.alpha, tol)
        except UnfinishedError:
            return None

    def again(self) -> None:
        """Once more, where that does not take long."""
        if self.seconds <= TWICE and (found := self._fit(self.tol)) is not None:
            self.seconds = min(self.seconds, found.seconds)


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
                others = (name, alpha) not in TOO_LONG
                race = others and not scaled and (which == "reporting" or not given)
                row |= measured(objective, gradient_tol, least, problem if race else None, others)
                print(" ".join(map(as_text, row.values())), flush=True)
                rows.append(row)
    report("sparse", rows)


def measured(
    objective: Objective, gradient_tol: float | None, least: float, raced: Problem | None, others: bool
) -> dict[str, Any]:
    """One fit, counted and timed, and the others beside it."""
    tol = TOL if gradient_tol is None else 1e-12
    newton, tron = Newton(tol=tol, gradient_tol=gradient_tol), Tron(tol=tol, gradient_tol=gradient_tol)
    run = {"fit": lambda: newton.minimise(fresh(objective))}
    whole, peer = best_times(run, 2)["fit"], None
    if raced is not None and not quick() and liblinear_ranksvm.available():
        peer = Peer(raced, objective, objective.penalty.curvature, gradient_tol)
        whole = min(whole, best_times(run, 2)["fit"])
        peer.again()
    with watched() as spent:
        status = run["fit"]().status
    with watched() as by_tron:
        if others:
            tron.minimise(objective)
    theirs = peer.seconds if peer is not None and peer.tol else None
    return {
        "status": str(status),
        "passes": round(spent.passes, 1),
        "MB read": round(spent.read / 1e6),
        "seconds": whole,
        "products share": spent.products / spent.whole,
        "loss share": spent.loss / spent.whole,
        "rest share": 1.0 - (spent.products + spent.loss) / spent.whole,
        "over the floor": whole / (least * spent.entries),
        "tron passes": round(by_tron.passes, 1) if others else None,
        "tron seconds": by_tron.whole if others else None,
        "liblinear-ranksvm tolerance": None if theirs is None else peer.tol,
        "liblinear-ranksvm seconds": theirs,
        "times liblinear-ranksvm": None if theirs is None else theirs / whole,
    }


def fresh(objective: Objective) -> Objective:
    """With an engine that has yet to measure its columns and copy X: a fit pays for both."""
    engine = objective.engine
    vars(engine).pop("_columns", None)
    engine._fast = None
    return Objective(engine, objective.loss, objective.penalty, objective.scale)
