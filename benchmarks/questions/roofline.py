"""Bandwidth of this machine (copy, sum over a CSR's arrays, sort), and where the time of each fit goes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from linrank import LinearRanker
from linrank.engines import matrix
from linrank.engines.local import LocalEvaluation
from linrank.kernels import counting, hinge, logistic, ordering, pairs, smooth, sorting
from measure import best_times, quick
from problems import Problem, graded, load
from results import FIT, report

SOURCES = FIT
#: Kernels whose time is that of sorting, and of counting and summing over pairs.
PARTS = {"sorting": (sorting, ordering), "counting": (counting, hinge, smooth, logistic, pairs)}
FITS = [("cadata",), ("webis",), ("imdb",), ("newsgroups",), ("mq2008",)]


def main() -> None:
    speeds = bandwidth()
    report("roofline", [speeds])
    rows = []
    for (name,) in FITS:
        problem = load(name)
        rows += [shares(name, problem, loss) for loss in ("squared_hinge", "hinge", "logistic")]
    report("roofline_fits", rows)


def bandwidth() -> dict[str, Any]:
    """Gigabytes a second that are read and written, and millions of numbers sorted a second; arrays beyond caches."""
    n = 10**4 if quick() else 5 * 10**7
    rng = np.random.default_rng(0)
    source, target = rng.standard_normal(n), np.empty(n)
    X = graded.make(n // 100, 1000, 1, 5, 50).X
    keys = rng.standard_normal(n // 50)
    times = best_times(
        {
            "copy": lambda: np.copyto(target, source),
            "sum": lambda: (X.data.sum(), X.indices.sum(dtype=np.int64)),
            "argsort": lambda: np.argsort(keys),
            "sort": lambda: np.sort(keys),
        },
        9,
    )
    return {
        "copy GB/s": 16e-9 * n / times["copy"],
        "sum over a CSR GB/s": 1e-9 * (X.data.nbytes + X.indices.nbytes) / times["sum"],
        "np.sort million/s": 1e-6 * keys.size / times["sort"],
        "np.argsort million/s": 1e-6 * keys.size / times["argsort"],
    }


def shares(name: str, problem: Problem, loss: str) -> dict[str, Any]:
    """CPU seconds of a fit, and the percentage of each part; what is left is overhead."""
    ranker = LinearRanker(loss, 1e-4, scale=False)
    seconds = best_times({"fit": lambda: ranker.fit(*problem)}, 5)["fit"]
    with watched() as spent:
        begin = time.process_time()
        ranker.fit(*problem)
        total = time.process_time() - begin
    row = {"data": name, "loss": loss, "fit s": seconds, "iterations": ranker.n_iter_}
    row |= {f"{part} %": 100 * spent[part] / total for part in spent}
    row["overhead %"] = 100 * max(0.0, 1 - sum(spent.values()) / total)
    return row


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Seconds spent in products, sorting, counting and exact Hessians, calls within calls counted once."""
    spent = dict.fromkeys(("products", *PARTS, "Hessian"), 0.0)
    inside = threading.local()

    def timed(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            if getattr(inside, "yes", False):
                return function(*given, **named)
            inside.yes, begin = True, time.thread_time()
            try:
                return function(*given, **named)
            finally:
                inside.yes = False
                spent[part] += time.thread_time() - begin

        return call

    undo = []
    for owner, key, part in places():
        function = getattr(owner, key)
        undo.append((owner, key, function))
        setattr(owner, key, timed(part, function))
    try:
        yield spent
    finally:
        for owner, key, function in undo:
            setattr(owner, key, function)


def places() -> list[tuple[Any, str, str]]:
    """Every name by which the library calls a kernel of interest, with the part it belongs to."""
    found = [(kind, key, "products") for kind in matrix.Matrix.__subclasses__() for key in ("dot", "transpose_dot")]
    found.append((LocalEvaluation, "hessian", "Hessian"))
    part_of = {}
    for part, modules in PARTS.items():
        for module in modules:
            here = {key: value for key, value in vars(module).items() if not key.startswith("_") and callable(value)}
            part_of |= {id(v): part for v in here.values() if getattr(v, "__module__", "") == module.__name__}
    callers = [module for name, module in sorted(sys.modules.items()) if name.startswith("linrank.")]
    for module in callers:
        for key, value in list(vars(module).items()):
            if id(value) in part_of and not isinstance(value, type):
                found.append((module, key, part_of[id(value)]))
    return found
