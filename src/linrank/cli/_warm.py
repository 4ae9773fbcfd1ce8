"""Small problems that make use of every kernel, so that `linrank compile` leaves nothing to compile."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._threads import map_in_threads
from ..engines.matrix import predict
from ..io import iter_svmlight, read_svmlight, write_svmlight
from ..losses import LOSSES
from ..metrics import compare, parse
from ..metrics._families import FAMILIES
from ..rankers.classifier import AUCClassifier
from ..rankers.cv import LinearRankerCV
from ..rankers.linear import LinearRanker
from ..rankers.sgd import SGDRanker
from ._options import RULES, SAMPLINGS, SOLVERS


class Task(NamedTuple):
    """Some work that compiles what it needs."""

    name: str
    run: Callable[[], Any]


class Rows(NamedTuple):
    """Rows of a shape that takes its own way through the kernels."""

    X: Any
    y: Any
    qid: Any


def tasks() -> Iterator[Task]:
    """All of them; the first ones are those that a first command needs."""
    yield from _reading()
    rows = {f"{shape}, {how}": _rows(shape, how) for shape in SHAPES for how in LAYOUTS}
    for loss in LOSSES:
        for name, given in rows.items():
            yield Task(f"fit of {loss}: {name}", _fit(given, loss=loss, max_iter=20))
    short = _rows("short", "dense")
    for solver in SOLVERS:
        loss = "hinge" if solver == "bundle" else "squared_hinge"
        for how in ("dense", "sparse"):
            yield Task(f"fit by {solver}: {how}", _fit(_rows("short", how), loss=loss, solver=solver, max_iter=20))
    for loss in LOSSES:
        yield Task(f"fit of {loss}: weighted", _fit(short, loss=loss, weighted=True))
        yield Task(f"fit of {loss}: pairs", _fit(short, loss=loss, pairs=True))
    for how in ("dense", "sparse"):
        for name, penalty in (("l1", {"l1_ratio": 0.5}), ("bounds", {"monotonic_cst": [1] * 12})):
            yield Task(f"fit with {name}: {how}", _fit(_rows("short", how), max_iter=20, **penalty))
    yield from _stochastic()
    yield from _judging(rows)


SHAPES = {  # rows, queries, levels
    "short": (600, 30, 4),
    "one": (300, 1, 300),
    "long": (6000, 2, 5),
    "many levels": (6000, 2, 6000),
    "sampled": (20000, 600, 3),
}
LAYOUTS = ("dense", "single precision", "read-only", "columns", "sparse", "sparse in single precision")


def _rows(shape: str, how: str) -> Rows:
    n_rows, n_queries, n_levels = SHAPES[shape]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 12))
    y = np.floor(n_levels * rng.random(n_rows)) if n_levels < n_rows else rng.random(n_rows)
    qid = np.sort(np.arange(n_rows) % n_queries)
    X[:, 0] += y / n_levels
    if how.startswith("sparse"):
        X = sp.csr_matrix(np.where(np.abs(X) > 1.0, X, 0.0))
    if how.endswith("single precision"):
        X = X.astype(np.float32)
    if how == "columns":
        X = np.asfortranarray(X)
    if how == "read-only":
        X.flags.writeable = False
    return Rows(X, y, qid)


def _fit(rows: Rows, *, weighted: bool = False, pairs: bool = False, **parameters: Any) -> Callable[[], Any]:
    def run() -> Any:
        more: dict[str, Any] = {"sample_weight": 1.0 + (np.arange(len(rows.y)) % 3)} if weighted else {}
        y: Any = rows.y
        if pairs:
            order = np.argsort(rows.y, kind="stable")
            more["pairs"], y = np.column_stack([order[300:], order[:300]]), None
        return LinearRanker(**parameters).fit(rows.X, y, None if pairs else rows.qid, **more)

    return run


def _reading() -> Iterator[Task]:
    def read(**options: Any) -> Callable[[], Any]:
        def run() -> None:
            with tempfile.TemporaryDirectory() as folder:
                rows = _rows("short", "dense")
                for name, qid in (("numbers", rows.qid), ("words", [f"q{k}" for k in rows.qid])):
                    path = Path(folder) / f"{name}.txt"
                    comments = [f"docid = {k} {'x' * 5000}" for k in rows.qid]  # so many bytes are read by blocks
                    write_svmlight(path, rows.X, rows.y, qid, comments=comments)
                    read_svmlight(path, **options)
                    for _ in iter_svmlight(path, chunk_rows=200, **options):
                        pass

        return run

    yield Task("reading SVMlight", read(dense="auto"))
    yield Task("reading SVMlight, sparse", read(dense=False))
    yield Task("reading SVMlight in single precision", read(dense="auto", dtype=np.float32))
    yield Task("reading SVMlight in single precision, sparse", read(dense=False, dtype=np.float32))


def _stochastic() -> Iterator[Task]:
    for how in ("dense", "single precision", "sparse"):
        rows = _rows("short", how)
        for sampling in SAMPLINGS:
            yield Task(f"descent, {sampling}: {how}", partial(_descend, rows, sampling=sampling))
        chunks = [Rows(*(part[:300] for part in rows)), Rows(*(part[300:] for part in rows))]
        yield Task(f"descent on a stream: {how}", partial(SGDRanker().fit_stream, chunks))
    rows = _rows("short", "dense")
    for rule in RULES:
        yield Task(f"descent by {rule}", partial(_descend, rows, rule=rule))
    for loss in ("squared_hinge", "logistic"):
        yield Task(f"descent of {loss}", partial(_descend, rows, loss=loss, rule="sgd"))
    for sampling in SAMPLINGS:
        yield Task(f"descent, {sampling}: weighted", partial(_descend, rows, weighted=True, sampling=sampling))


def _descend(rows: Rows, *, weighted: bool = False, **parameters: Any) -> Any:
    weight = 1.0 + rows.qid % 2 if weighted else None
    return SGDRanker(n_steps=1000, **parameters).fit(*rows, sample_weight=weight, query_weight=weight)


def _judging(rows: dict[str, Rows]) -> Iterator[Task]:
    for name, given in rows.items():
        yield Task(f"scores: {name}", partial(_score, given))
    short, many = _rows("short", "dense"), _rows("many levels", "dense")
    for family in FAMILIES:
        for ties in (False, True):
            yield Task(f"metric {family}", partial(_judge, family, short, ties))
        yield Task(f"metric {family}, a long query", partial(_judge, family, many, False))
    yield Task("cross-validation", partial(LinearRankerCV(3, cv=2).fit, *short))
    yield Task("classifier", partial(AUCClassifier().fit, short.X, short.y > 1))
    a, b = short.X[:, 0], short.X[:, 1]
    for family in ("ndcg", "pairwise_accuracy"):
        yield Task("comparison", partial(compare, short.y, a, b, short.qid, family, n_resamples=100))


def _score(rows: Rows) -> None:
    w = np.ones(rows.X.shape[1])
    predict(rows.X, w, None, None)
    predict(rows.X, w, w, 1.0)


def _judge(family: str, rows: Rows, ties: bool) -> None:
    first = rows.X[:, 0]
    y = rows.y if rows.y.max() < 32 and np.all(rows.y == np.floor(rows.y)) else np.floor(8 * rows.y)
    if family == "auc":
        y = y > np.median(y)
    parse(family)(y, np.round(first) if ties else first, rows.qid)


def warmed(todo: list[Task]) -> Iterator[str]:
    """The name of each task when it is done; in threads, so that Ctrl-C comes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for task in todo:
            map_in_threads(lambda task: task.run(), [task], 1)
            yield task.name
