"""The rows of a comparison: small tasks by public names alone, with alpha and scale given, on data from a seed.

A row prepares its data and gives a function to be timed. Whatever that returns may tell its iterations. The library is
imported when a row is made, so that this file is the same for every revision. Rows on real data are there where
LINRANK_DATA is.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import problems
from problems import Problem, graded

Task = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """A task by name; `exact`: a fit that reads all of X by products, which are counted."""

    name: str
    make: Callable[[], Task]
    exact: bool = False


#: Shapes: rows, features, queries, levels (None: all different), non-zeros a row (None: dense).
SHAPES: dict[str, tuple[Any, ...]] = {
    "50 rows": (50, 5, 5, 3),
    "500 rows": (500, 10, 25, 3),
    "500 rows sparse": (500, 200, 25, 3, 10),
    "dense, queries": (8000, 20, 160, 5),
    "dense, 1 query": (8000, 10, 1, 5),
    "dense, 1 query, real": (8000, 10, 1, None),
    "dense, wide": (2000, 200, 20, 5),
    "sparse, queries": (6000, 3000, 120, 5, 20),
    "sparse, 1 query": (6000, 3000, 1, 5, 20),
}
#: Shapes beyond caches: time and peak memory are those of what is kept for each row.
LARGE: dict[str, tuple[Any, ...]] = {
    "200,000 rows, 1 query, real": (200_000, 5, 1, None),
    "400,000 rows, 100,000 queries": (400_000, 5, 100_000, 3),
}
LOSSES = ("squared_hinge", "hinge", "logistic")
SOLVERS = {
    "squared_hinge": ("newton", "tron", "cg", "bundle"),
    "hinge": ("newton", "bundle"),
    "logistic": ("newton", "cg"),
}
REAL = ("cadata", "webis", "imdb", "mq2008")


def fit(data: Callable[[], Problem], loss: str, solver: str = "auto", **given: Any) -> Task:
    """A fit of LinearRanker, the data's checks included."""
    from linrank import LinearRanker

    problem = data()
    options = {"alpha": 1e-3, "scale": False, "solver": solver, **given}
    return lambda: LinearRanker(loss, **options).fit(*problem)


def shaped(shape: str, dtype: type = np.float64) -> Callable[[], Problem]:
    """Data of a shape listed above."""
    given = {**SHAPES, **LARGE}[shape]
    return lambda: graded.make(*given, *([None] if len(given) == 4 else []), dtype)


def fits() -> list[Row]:
    """All losses on all shapes, and all solvers on one."""
    found = []
    for shape in SHAPES:
        for loss in LOSSES:
            found.append(Row(f"fit {loss}, {shape}", partial(fit, shaped(shape), loss), True))
    for loss, solvers in SOLVERS.items():
        for solver in solvers:
            data = shaped("500 rows") if solver == "bundle" and loss != "hinge" else shaped("dense, queries")
            found.append(Row(f"fit {loss} by {solver}", partial(fit, data, loss, solver), True))
    found.append(Row("fit logistic_erfc, 500 rows", partial(fit, shaped("500 rows"), "logistic_erfc"), True))
    found += variants()
    for shape in LARGE:
        for loss in ("squared_hinge", "hinge"):
            found.append(Row(f"fit {loss}, {shape}", partial(fit, shaped(shape), loss), True))
    if "LINRANK_DATA" in os.environ:
        for name in REAL:
            for loss in LOSSES:
                found.append(Row(f"fit {loss}, {name}", partial(fit, partial(problems.load, name), loss), True))
    return found


def variants() -> list[Row]:
    """Other paths through a fit: float32, columns in a row, scaling, weights, chains, a tight gap."""
    base = shaped("dense, queries")

    def columns() -> Problem:
        problem = base()
        return problem._replace(X=np.asfortranarray(problem.X))

    def weighted() -> Task:
        from linrank import LinearRanker

        problem = base()
        v = np.random.default_rng(0).random(problem.y.size)
        ranker = LinearRanker(alpha=1e-3, scale=False)
        return lambda: ranker.fit(*problem, sample_weight=v)

    single = shaped("dense, queries", np.float32)
    return [
        Row("fit squared_hinge, float32", partial(fit, single, "squared_hinge"), True),
        Row("fit squared_hinge, column order", partial(fit, columns, "squared_hinge"), True),
        Row("fit squared_hinge, scaled", partial(fit, base, "squared_hinge", scale=True), True),
        Row("fit squared_hinge, weights", weighted, True),
        Row("fit squared_hinge, chain", partial(fit, base, "squared_hinge", preferences="chain"), True),
        Row("fit hinge to 1e-6", partial(fit, base, "hinge", tol=1e-6), True),
    ]


def path(loss: str) -> Task:
    """Cross-validation along six alphas."""
    from linrank import LinearRankerCV

    problem = graded.make(3000, 10, 60, 5)
    alphas = np.geomspace(1.0, 1e-4, 6)
    return lambda: LinearRankerCV(alphas, cv=3, loss=loss, scale=False).fit(*problem)


def descent(shape: str, **given: Any) -> Task:
    """Stochastic steps, the index and the exact objective included."""
    from linrank import SGDRanker

    problem = shaped(shape)()
    options = {"alpha": 1e-3, "scale": False, "average": False, "n_steps": 50_000, "random_state": 0, **given}
    return lambda: SGDRanker(**options).fit(*problem)


def chunks() -> Task:
    """A stream of ten chunks."""
    from linrank import SGDRanker

    X, y, qid = graded.make(20_000, 20, 400, 5)
    assert qid is not None
    parts = [(X[k : k + 2000], y[k : k + 2000], qid[k : k + 2000]) for k in range(0, 20_000, 2000)]
    return lambda: SGDRanker(alpha=1e-3, scale=False, average=False, random_state=0).fit_stream(lambda: iter(parts))


def classifier() -> Task:
    """Two classes, no cross-validation."""
    from linrank import AUCClassifier

    X, y, _ = graded.make(8000, 10, 1, 2)
    return lambda: AUCClassifier(alpha=1e-3, scale=False, cv=None).fit(X, y)


def judge(metric: str, queries: int) -> Task:
    """A metric by name."""
    from linrank import metrics

    _, y, qid = graded.make(100_000, 1, queries, 5)
    scores, measured = np.random.default_rng(1).standard_normal(y.size), metrics.parse(metric)
    return lambda: measured(y, scores, qid)


def predict(shape: str, method: str) -> Task:
    """What a fitted ranker says of rows."""
    from linrank import LinearRanker

    problem = shaped(shape)()
    ranker = LinearRanker(alpha=1e-3, scale=False).fit(*problem)
    call = getattr(ranker, method)
    return (lambda: call(problem.X)) if method == "predict" else (lambda: call(*problem))


def construct() -> Task:
    """Rankings from rows in any order and queries named by text."""
    from linrank import RankingData

    X, y, qid = graded.make(20_000, 5, 500, 5)
    assert qid is not None
    order = np.random.default_rng(0).permutation(y.size)
    names = np.char.add("query ", qid[order].astype(str))
    return lambda: RankingData(X[order], y[order], names)


def read(sparse: bool) -> Task:
    """Read an SVMlight file of about a megabyte."""
    from linrank import read_svmlight, write_svmlight

    folder = tempfile.TemporaryDirectory()
    file = Path(folder.name) / "rows.txt"
    write_svmlight(file, *graded.make(2000, *((5000, 40, 5, 30) if sparse else (30, 40, 5))))

    def task() -> Any:
        assert folder  # goes with the file
        return read_svmlight(file)

    return task


def others() -> list[Row]:
    """Everything but single fits."""
    found = [Row(f"path, {loss}", partial(path, loss), True) for loss in LOSSES]
    found += [
        Row("descent, dense", partial(descent, "dense, queries")),
        Row("descent, sparse", partial(descent, "sparse, 1 query")),
        Row("descent, averaged", partial(descent, "dense, queries", average=True)),
        Row("descent, passive_aggressive", partial(descent, "dense, queries", rule="passive_aggressive")),
        Row("descent, balanced", partial(descent, "dense, queries", sampling="balanced")),
        Row("stream", chunks),
        Row("classifier", classifier, True),
        Row("construct", construct),
        Row("read dense", partial(read, False)),
        Row("read sparse", partial(read, True)),
    ]
    for shape in ("dense, queries", "sparse, queries"):
        found += [Row(f"{method}, {shape}", partial(predict, shape, method)) for method in ("predict", "score")]
    for metric in ("ndcg@10", "map", "pairwise_accuracy"):
        found += [Row(f"{metric}, {q} queries", partial(judge, metric, q)) for q in (1, 1000)]
    return found


def rows(names: list[str] | None = None) -> dict[str, Row]:
    """All rows by name, or those whose name has one of the texts in it."""
    found = {row.name: row for row in [*fits(), *others()]}
    return {key: row for key, row in found.items() if not names or any(name in key for name in names)}
