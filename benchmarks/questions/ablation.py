"""What each rule of Newton's method is worth: fits with the rule taken away, against fits with it.

On tuning problems alone, in classes: a rule stays where its removal costs 3 % in the geometric mean over all tasks, or
10 % in that of one class. `ablation_sparse` is the sparse class problem by problem, for the rules that it can tell:
LINRANK_ABLATION=sparse measures it alone. `ablation_removed` is what was measured when a rule was taken away for good.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from linrank import RankingData, objective
from linrank._errors import overflow_ignored
from linrank.defaults import choose_scale
from linrank.engines import LocalEngine, matrix, reading
from linrank.losses import LOSSES
from linrank.penalties import Ridge
from linrank.solvers import Newton, Solution, line_search
from linrank.solvers.newton import conjugate_gradients, directions, method, smoothing
from measure import best_times, few, quick
from problems import Problem, graded, load, standardised
from questions import auto
from results import FIT, report

SOURCES = FIT

ALPHAS = (1e-2, 1e-4)
PATH = np.geomspace(1.0, 1e-4, 9)
NEVER = 10**9


def unsmoothed(best: Any, least: Any, x: Any, r: Any, _: Any) -> None:
    """The last iterate, whatever its residual."""
    best[:], least[:] = x, r


#: A rule, and the module, name and field (None: the name itself) that take it away.
RULES: dict[str, tuple[Any, str, str | None, Any]] = {
    "start on a sample": (method, "TUNING", "sample", NEVER),
    "20 rows of it a feature": (method, "TUNING", "rows_a_feature", 0),
    "or one in 40": (method, "TUNING", "one_in", NEVER),
    "if its Hessian costs 20 products": (method, "TUNING", "pays", np.inf),
    "sample solved to 1e-3, not 1e-2": (method, "TUNING", "rough", 1e-2),
    "secants correct the factor": (directions, "TUNING", "memory", 0),
    "a factor is renewed": (directions, "TUNING", "renewal", float(NEVER)),
    "after 8 times its cost, not twice": (directions, "TUNING", "renewal", 2.0),
    "residual 0.2, not 0.5": (directions, "TUNING", "forcing", 0.5),
    "enough where the gap foretold is small": (directions, "TUNING", "enough", 0.0),
    "variances of columns precondition": (directions, "TUNING", "spread", 0.0),
    "secants alone where rows are long": (directions, "TUNING", "entries", np.inf),
    "only where variances tell columns apart": (directions, "TUNING", "uneven", 0.0),
    "as long as the gap halves": (directions, "TUNING", "patience", NEVER),
    "within 20 steps, not at once": (directions, "TUNING", "patience", 0),
    "of the last 6 steps, not 12": (directions, "TUNING", "recent", 12),
    "their lines to slope 0.5, not 0.3": (directions, "TUNING", "flat", 0.3),
    "short rows are read by columns": (reading, "SHORT", None, 0),
    "equal rows are read once": (reading, "ALIKE", None, NEVER),
    "other sparse rows in float32": (matrix, "FLOAT32_ENTRIES", None, NEVER),
    "a sample that minds grades": (objective.Objective, "evenness", None, 1.0),
    "residuals are smoothed": (conjugate_gradients, "_smooth", None, unsmoothed),
    "the width shrinks to a tenth at most": (smoothing, "SHRINKS", None, 0.0),
    "line search to slope 0.3, not 0.75": (line_search, "FLAT", None, 0.75),
    "60 trials where none descends, not 12": (line_search, "MAX_ASCENTS", None, line_search.MAX_TRIALS),
    "scores computed anew": (objective, "REFRESH", None, NEVER),
    "anew where weights have faded": (objective, "FADED", None, 0.0),
}
#: Those that say nothing of sparse data, which has no exact Hessian.
DENSE = (
    "if its Hessian costs 20 products",
    "secants correct the factor",
    "a factor is renewed",
    "after 8 times its cost, not twice",
    "60 trials where none descends, not 12",
    "scores computed anew",
    "anew where weights have faded",
)
#: Rules that were taken away, each from a method that had all others: time without it over time with it, in the
#: geometric mean over all tasks, and in that of the class with the largest loss.
REMOVED = [
    ("a new factor after 6 steps that do not come a hundred times closer", 0.999, "many", 1.021),
    ("a new factor after a step cut to a tenth", 0.998, "many", 1.045),
    ("preconditioned conjugate gradients after two failures", 0.985, "dense", 0.999),
    ("steps that count only where they are slow, and a new factor at a sample's end", 0.927, "many", 1.006),
    ("steadiness of steps", 0.990, "pairs", 1.008),
    ("four products before a Hessian is built", 1.014, "dense", 1.046),
    ("products before a sample's Hessian is built", 1.020, "dense", 1.092),
    ("a wider smoothing for a sample's Hessian", 0.995, "many", 1.015),
    ("another flatness for directions from a factor", 0.992, "many", 1.023),
    ("a second sample, of 25,000 rows", 1.014, "large", 1.034),
    ("a sample's end where little is left to gain", 1.005, "dense", 1.037),
    ("less smoothing by an estimate of the rest of the gap", 1.008, "dense", 1.032),
    ("a width that shrinks to a half at least", 1.000, "path", 1.007),
]


def dense(*shape: Any) -> Callable[[], Problem]:
    return lambda: graded.small() if quick() else graded.make(*shape)


def real(name: str, *given: int) -> Callable[[], Problem]:
    def make() -> Problem:
        problem = load(name, *given)
        return problem._replace(X=standardised(problem.X)) if isinstance(problem.X, np.ndarray) else problem

    return make


def scaled(name: str) -> Callable[[], Problem]:
    """Sparse columns, each divided by its deviation."""

    def make() -> Problem:
        problem = load(name)
        with LocalEngine(RankingData(*problem)) as engine:
            scale = choose_scale(True, engine.columns())
        assert scale is not None
        return problem._replace(X=sp.csr_array(problem.X @ sp.diags_array(1.0 / scale)))

    return make


def pairs() -> Problem:
    """Explicit pairs: queries of two rows."""
    rows, d = (200, 5) if quick() else (6000, 100)
    return graded.make(rows, d, 1, None, None, np.float32)._replace(qid=np.arange(rows) // 2)


def kernel() -> Problem:
    """Features that are nearly the same: many products for a direction."""
    given = auto.kernel(2000, 400)
    return Problem(given["X"], given["y"])


#: Class and maker of each problem.
PROBLEMS: dict[str, tuple[str, Callable[[], Problem]]] = {
    "queries": ("dense", dense(30_000, 20, 600, 5)),
    "webis": ("dense", real("webis")),
    "one query": ("one query", dense(30_000, 10, 1, 5)),
    "cadata": ("one query", real("cadata")),
    "wide": ("wide", dense(4_000, 300, 40, 5)),
    "wide, many rows": ("wide", dense(20_000, 600, 400, 5)),
    "tiny": ("tiny", dense(500, 10, 25, 3)),
    "sparse": ("sparse", dense(6_000, 3_000, 120, 5, 20)),
    "imdb": ("sparse", real("imdb")),
    "text": ("sparse", real("text", 0, 20_000, 40_000, 200)),
    "hashed": ("sparse", real("hashed", 0, 60_000, 16)),
    "narrow": ("sparse", real("narrow", 0)),
    "movies": ("sparse", real("movies", 0)),
    "imdb, scaled": ("sparse", scaled("imdb")),
    "many queries": ("large", dense(300_000, 20, 75_000, 5)),
    "one large query": ("large", dense(200_000, 20, 1, None)),
    "one huge query": ("large", dense(1_000_000, 2, 1, None)),
    "one large query of few levels": ("large", dense(300_000, 10, 1, 5)),
    "long queries": ("large", dense(300_000, 30, 3_000, 5)),
    "pairs": ("pairs", pairs),
    "kernel": ("kernel", kernel),
}
LONG = ("imdb, scaled",)  # minutes for the hinge, without some of the rules
WITH_PATH = ("queries", "webis", "one query", "wide")
TIGHT, TIGHT_TOL = ("queries", "wide", "tiny", "pairs"), 1e-6


@contextmanager
def without(rule: str | None) -> Iterator[None]:
    """The method with one rule taken away."""
    if rule is None:
        yield
        return
    module, name, field, value = RULES[rule]
    kept = getattr(module, name)
    setattr(module, name, value if field is None else replace(kept, **{field: value}))
    try:
        yield
    finally:
        setattr(module, name, kept)


def fit(data: RankingData, loss: str, alphas: tuple[float, ...], tol: float, rule: str | None) -> Solution:
    """Fits along some alphas, each from the one before."""
    solution = None
    with LocalEngine(data) as engine, overflow_ignored(), without(rule):
        for alpha in alphas:
            solution = Newton(tol).minimise(objective.Objective(engine, LOSSES[loss], Ridge(alpha)), solution)
    assert solution is not None
    return solution


def tasks(kinds: tuple[str, ...]) -> Iterator[tuple[str, str, RankingData, str, tuple[float, ...], float]]:
    """Class, problem, data, loss, alphas and tol; of some classes, or of all."""
    problems = [(name, *found) for name, found in PROBLEMS.items() if not kinds or found[0] in kinds]
    for name, kind, make in few(problems, 3):
        data = RankingData(*make())
        for loss in ("squared_hinge",) if name in LONG else ("squared_hinge", "hinge", "logistic"):
            yield from ((kind, name, data, loss, (alpha,), 1e-3) for alpha in ALPHAS)
            if name in WITH_PATH:
                yield "path", name, data, loss, tuple(PATH.tolist()), 1e-3
            if name in TIGHT:
                yield from (("tight", name, data, loss, (alpha,), TIGHT_TOL) for alpha in ALPHAS)


def main() -> None:
    kinds = tuple(filter(None, os.environ.get("LINRANK_ABLATION", "").split(",")))
    rules = [rule for rule in RULES if kinds != ("sparse",) or rule not in DENSE]
    ratios: dict[str, list[tuple[str, str, float]]] = {rule: [] for rule in rules}
    for kind, name, data, loss, alphas, tol in tasks(kinds):
        contestants = {str(rule): (lambda rule=rule: fit(data, loss, alphas, tol, rule)) for rule in (None, *rules)}
        times = best_times(contestants, 3)
        for rule in rules:
            ratios[rule].append((kind, name, times[rule] / times["None"]))
        print(kind, name, loss, alphas[-1], f"{1e3 * times['None']:.1f} ms", flush=True)
    sparse = {rule: [found for found in ratios[rule] if found[0] == "sparse"] for rule in rules if rule not in DENSE}
    if any(sparse.values()):
        report("ablation_sparse", [{"without": rule, **summary(found, 1)} for rule, found in sparse.items()])
    if kinds:
        return
    report("ablation", [{"without": rule, **summary(found, 0)} for rule, found in ratios.items()])
    removed = [
        {"without": rule, "all": over_all, "worst class": kind, "there": there}
        for rule, over_all, kind, there in REMOVED
    ]
    report("ablation_removed", removed)


def summary(found: list[tuple[str, str, float]], by: int) -> dict[str, float]:
    """Geometric means over all tasks and in each class (0) or problem (1)."""
    mean = lambda values: float(np.exp(np.mean(np.log(values))))
    each = {one: mean([task[2] for task in found if task[by] == one]) for one in dict.fromkeys(t[by] for t in found)}
    return {"all": mean([ratio for *_, ratio in found]), **each}
