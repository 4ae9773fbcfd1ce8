"""Counts that do not depend on the machine's mood: iterations, products with X, bytes of X read, peak memory.

Products are counted where a revision multiplies: `PLACES` lists the classes that ever did. A revision that multiplies
somewhere else has no such count, until its place is added here.
"""

from __future__ import annotations

import importlib
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Module and class of a matrix that is cut into blocks of rows: `rows(block)`, and products by block. A revision has
#: one of the modules.
PLACES = tuple(
    (module, name)
    for module in ("linrank.engines._matrix", "linrank.engines.matrix")
    for name in ("DenseMatrix", "SparseMatrix")
)
#: Module, class and method that builds an exact Hessian, of an engine with a `matrix` or of its evaluation: it reads X
#: once, beside products that are counted as such. A revision has one of them.
HESSIANS = (
    ("linrank.engines.local", "LocalEngine", "hessian"),
    ("linrank.engines.local", "LocalEvaluation", "hessian"),
)
PRODUCTS = ("dot", "transpose_dot")
PASSES = ("largest", "first_look", "squared_deviations", "largest_square")


def count(task: Callable[[], Any], exact: bool) -> dict[str, int | None]:
    """What one run of a task takes; None where it cannot be told."""
    counted: dict[str, int | None] = {"iterations": None, "products": None, "bytes of X": None}
    with _watching_products() as seen:
        answer = task()
    counted["iterations"] = iterations(answer)
    if exact and seen["places"]:
        counted |= {"products": seen["products"], "bytes of X": seen["bytes"]}
    del answer
    tracemalloc.start()
    try:
        task()
        counted["peak KB"] = tracemalloc.get_traced_memory()[1] // 1024
    finally:
        tracemalloc.stop()
    return counted


def iterations(answer: Any) -> int | None:
    """Of a fit, over all alphas and folds if there are several."""
    cv = getattr(answer, "cv_results_", None)
    last = getattr(answer, "n_iter_", None)
    if isinstance(cv, dict) and "n_iter" in cv:
        return int(cv["n_iter"].sum()) + int(last or 0)
    return None if last is None else int(last)


def kernels(cache: Path) -> int:
    """Compiled kernels in a cache that was empty before a cold start: one file for each signature."""
    return sum(1 for _ in cache.rglob("*.nbc"))


@contextmanager
def _watching_products() -> Iterator[dict[str, int]]:
    seen = {"places": 0, "products": 0, "bytes": 0}
    undo = []
    for module, name in PLACES:
        kind = _find(module, name)
        if kind is None:
            continue
        seen["places"] += 1
        for method in (*PRODUCTS, *PASSES):
            if (original := getattr(kind, method, None)) is not None:
                undo.append((kind, method, original))
                setattr(kind, method, _counted(original, seen, method in PRODUCTS))
    for module, name, method in HESSIANS:
        kind = _find(module, name)
        if (original := getattr(kind, method, None)) is not None:
            undo.append((kind, method, original))
            setattr(kind, method, _reading_once(original, seen))
    try:
        yield seen
    finally:
        for kind, method, original in undo:
            setattr(kind, method, original)


def _find(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


def _counted(original: Callable[..., Any], seen: dict[str, int], product: bool) -> Callable[..., Any]:
    def call(self: Any, *given: Any) -> Any:
        block = next(value for value in given if isinstance(value, int))
        seen["bytes"] += _bytes(self, *self.rows(block))
        seen["products"] += product and block == 0
        return original(self, *given)

    return call


def _reading_once(original: Callable[..., Any], seen: dict[str, int]) -> Callable[..., Any]:
    def call(self: Any, *given: Any) -> Any:
        matrix = self.matrix if hasattr(self, "matrix") else self.engine.matrix
        seen["bytes"] += _bytes(matrix, 0, matrix.shape[0])
        return original(self, *given)

    return call


def _bytes(matrix: Any, first: int, last: int) -> int:
    """Bytes of the entries of a matrix's rows."""
    if hasattr(matrix, "indptr"):
        entries = int(matrix.indptr[last] - matrix.indptr[first])
        return entries * (matrix.data.itemsize + matrix.indices.itemsize)
    return (last - first) * matrix.shape[1] * matrix.X.itemsize
