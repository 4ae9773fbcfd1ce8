"""What a GPU gains: tables 2 and 3 and figure 1 of P-SWX on the shapes of its table 1, measured beside estimated.

Data are made up, of the papers' shapes. One core of this machine is measured in any case. What a GPU takes is
estimated: launches and bytes are counted, operation by operation, on torch's CPU device. With a CUDA device fits on it
are held against those on the core, and made twice: their bits must agree. Without one no speed-up is printed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine
from linrank.engines.open import open_engine
from linrank.losses import LOSSES
from linrank.published import OSTRankSVM
from measure import best_times, few, quick
from results import FIT, fault, report

SOURCES = (*FIT, "published.py")
TRIED = ("hinge", "squared_hinge", "logistic")


class Shape(NamedTuple):
    """A data set of table 1."""

    name: str
    rows: int
    features: int
    levels: int
    queries: int
    paper_seconds: float  # of P-SWXRankSVM on a Tesla C2050, table 2

    def make(self, rows: int | None = None) -> tuple[Any, Any, Any]:
        """Data of this shape, or with fewer rows in fewer queries as long."""
        n = min(rows or self.rows, self.rows)
        queries = max(1, round(self.queries * n / self.rows))
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, self.features))
        utility = X @ rng.standard_normal(self.features) / math.sqrt(self.features) + rng.standard_normal(n)
        cuts = np.quantile(utility, np.linspace(0, 1, self.levels + 1)[1:-1])
        y = utility if self.levels > n else np.searchsorted(cuts, utility).astype(float)
        return X, y, np.sort(rng.integers(0, queries, n))


SHAPES = [
    Shape("MQ2008", 9_630, 46, 3, 471, 1.37),
    Shape("MQ2007", 42_158, 46, 2, 1_017, 5.90),
    Shape("MQ2008-list", 540_679, 46, 1_831, 471, 37.17),
    Shape("MQ2007-list", 743_790, 46, 1_268, 1_017, 22.46),
    Shape("MSLR-WEB10K", 723_421, 136, 2, 6_000, 276.11),
    Shape("MSLR-WEB30K", 2_270_296, 136, 5, 18_919, 939.38),
]
#: Where scores are sorted.
LONG = [Shape("one query", 500_000, 46, 5, 1, math.nan), Shape("one query, real", 500_000, 46, 10**6, 1, math.nan)]
#: Of which there is no time to measure anything: float32, estimated alone.
LARGE = Shape("1e8 x 136, float32", 100_000_000, 136, 5, 833_333, math.nan)

#: On paper: bytes a second at 80 % of the memory's bandwidth, ordered pairs a second by loss, seconds a launch.
CARDS = {"A100": 1.2e12, "H100": 2.4e12}
PAIRS = {"A100": {"logistic": 4.3e10, "other": 2.7e11}, "H100": {"logistic": 9.4e10, "other": 3.9e11}}
LAUNCH, PAIR_LAUNCHES, TILE_WASTE = 4e-6, 15, 1.2
#: Bytes that a radix sort of 8-byte keys and places moves for each: eight passes, each reads and writes both.
SORT_BYTES = 8 * 32


class Moved(NamedTuple):
    """What an evaluation by sorting launches, and moves a row, X apart."""

    launches: int
    bytes: float


def main() -> None:
    shapes = few(SHAPES, 1)
    cpu = [on_one_core(shape) for shape in [*shapes, *LONG]]
    report("gpu_cpu", cpu)
    if has_torch():
        estimates = [row for shape in [*shapes, *LONG, LARGE] for row in estimated(shape)]
        report("gpu_estimates", estimates)
        report("gpu_pays", [pays(shape, loss, cpu, estimates) for shape in [*shapes, *LONG] for loss in TRIED])
    if not has_cuda():
        print("\nThere is no CUDA device: nothing is measured on one, and no speed-up is printed.")
        return
    measured = [measure(shape, estimates) for shape in shapes]
    report("gpu", [row for row, _ in measured])
    report("gpu_convergence", [point for _, points in measured for point in points])


def on_one_core(shape: Shape) -> dict[str, Any]:
    """CPU milliseconds of an evaluation with its gradient, and seconds of a fit by the paper's rule and by default."""
    X, y, qid = shape.make(2_000 if quick() else None)
    data = RankingData(X, y, qid)
    row: dict[str, Any] = {"shape": shape.name, "rows": data.n_rows, "features": shape.features}
    row["queries"] = data.n_queries
    with LocalEngine(data) as engine:
        row |= {f"{loss} ms": evaluation_ms(engine, loss, time.process_time) for loss in TRIED}
    for name, ranker in (("TRON", OSTRankSVM(1.0)), ("default", LinearRanker())):
        begin = time.process_time()
        ranker.fit(X, y, qid)
        row |= {f"{name} s": time.process_time() - begin, f"{name} iterations": ranker.n_iter_}
    row["P-SWXRankSVM, 2014 s"] = shape.paper_seconds
    return row


def estimated(shape: Shape) -> list[dict[str, Any]]:
    """Milliseconds of an evaluation with its gradient, on paper: X is read twice."""
    from linrank.engines.torch.pairs import CROSSING

    # Of a row's query: lengths are drawn, and the longer ones have more rows.
    size, length = 4 if "float32" in shape.name else 8, shape.rows / shape.queries + 1
    rows = []
    for loss in TRIED:
        kind = "logistic" if loss == "logistic" else "other"
        moved = counted(shape, loss)
        by_pairs = length <= CROSSING[type(LOSSES[loss])][shape.levels > 16]
        row: dict[str, Any] = {"shape": shape.name, "loss": loss, "way": "pairs" if by_pairs else "sorting"}
        row |= {"launches": moved.launches, "bytes a row": moved.bytes}
        for card, bandwidth in CARDS.items():
            reading = 2.0 * size * shape.rows * shape.features / bandwidth
            sorting = moved.bytes * shape.rows / bandwidth + LAUNCH * moved.launches
            pairs = TILE_WASTE * shape.rows * length / PAIRS[card][kind] + LAUNCH * PAIR_LAUNCHES
            row |= {f"X, {card} ms": 1e3 * reading, f"sorting, {card} ms": 1e3 * sorting}
            row |= {f"pairs, {card} ms": 1e3 * pairs, f"{card} ms": 1e3 * (reading + (pairs if by_pairs else sorting))}
        rows.append(row)
    return rows


def counted(shape: Shape, loss: str) -> Moved:
    """Launches and bytes of an evaluation by sorting, on torch's CPU device with fewer rows."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Count(TorchDispatchMode):
        """Adds up what operations read and write; views do neither."""

        launches, bytes = 0, 0

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            answer = function(*args, **(kwargs or {}))
            tensors = [x for x in tree_leaves((args, kwargs or {}, answer)) if isinstance(x, torch.Tensor)]
            if torch.Tag.inplace_view not in function.tags and not function.is_view:
                self.launches += 1
                self.bytes += sum(x.numel() * x.itemsize for x in tensors)
                self.bytes += SORT_BYTES * tensors[0].numel() if function.__name__.startswith("sort") else 0
            return answer

    X, y, qid = shape.make(2_000 if quick() else 40_000)
    with open_engine(RankingData(X, y, qid), device="torch:cpu") as engine:
        s = engine.scores(np.ones(shape.features) / math.sqrt(shape.features))
        engine.evaluate(LOSSES[loss], s)
        with Count() as count:
            engine.evaluate(LOSSES[loss], s, gradient=True)
    return Moved(count.launches, (count.bytes - X.nbytes) / y.size)


def pays(shape: Shape, loss: str, cpu: Sequence[dict[str, Any]], estimates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """From how many rows of such queries an A100 would be faster than the core: where launches are what it saves."""
    here = next(row for row in cpu if row["shape"] == shape.name)
    there = next(row for row in estimates if (row["shape"], row["loss"]) == (shape.name, loss))
    fixed = 1e3 * LAUNCH * (PAIR_LAUNCHES if there["way"] == "pairs" else there["launches"])
    core, card = here[f"{loss} ms"] / here["rows"], (there["A100 ms"] - fixed) / shape.rows
    row = {"shape": shape.name, "loss": loss, "way": there["way"], "one core us a row": 1e3 * core}
    row |= {"A100 us a row": 1e3 * card, "launches ms": fixed, "rows": round(fixed / (core - card), -2)}
    return row | {"core / A100, est.": here[f"{loss} ms"] * shape.rows / here["rows"] / there["A100 ms"]}


def has_torch() -> bool:
    """Whether launches and bytes can be counted."""
    try:
        import torch
    except ImportError:
        print("\ntorch is not installed: nothing is estimated.")
        return False
    return bool(torch.__version__)


def has_cuda() -> bool:
    """Whether there is a device to measure."""
    if not has_torch():
        return False
    import torch

    return bool(torch.cuda.is_available())


def evaluation_ms(engine: Any, loss: str, clock: Any) -> float:
    """Milliseconds of an evaluation with its gradient; the transfer at its end waits for a device."""
    w = np.ones(engine.facts.features) / math.sqrt(engine.facts.features)

    def once() -> None:
        engine.evaluate(LOSSES[loss], engine.scores(w), gradient=True).gradient()

    once()
    return 1e3 * best_times({"it": once}, 5, clock=clock)["it"]


def measure(shape: Shape, estimates: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Tables 2 and 3 for one shape, and the points of figure 1."""
    X, y, qid = shape.make()
    data, tol = RankingData(X, y, qid), 1e-3 if quick() else 1e-5
    row: dict[str, Any] = {"shape": shape.name}
    for loss in TRIED:
        there = next(each for each in estimates if (each["shape"], each["loss"]) == (shape.name, loss))
        row[f"{loss}: est. ms, A100"] = there["A100 ms"]
        for name, device in (("device", "cuda"), ("one core", None)):
            with open_engine(data, device=device) as engine:
                row[f"{loss}: ms, {name}"] = evaluation_ms(engine, loss, time.perf_counter)
    fits, points = {}, []
    for name, device in (("device", "cuda"), ("again", "cuda"), ("one core", None)):
        begin = time.perf_counter()
        fits[name] = LinearRanker(alpha=1e-3, scale=False, solver="tron", tol=tol, device=device).fit(X, y, qid)
        row[f"s, {name}"] = time.perf_counter() - begin
    best = min(fit.objective_ - fit.gap_ for fit in fits.values())
    for name in ("device", "one core"):
        row[f"PA, {name}"] = 100.0 * fits[name].score(X, y, qid)
        for _, value, _, seconds in fits[name].history_:
            eta = abs(value - best) / best  # equation (15)
            points.append({"shape": shape.name, "on": name, "seconds": seconds, "relative difference": eta})
    row["speed-up"] = row["s, one core"] / row["s, again"]
    row["P-SWXRankSVM, s"] = shape.paper_seconds
    if not np.array_equal(fits["device"].coef_, fits["again"].coef_):
        fault(f"{shape.name}: two fits on the device have different bits")
    return row, points
