"""What a GPU gains: tables 2 and 3 and figure 1 of P-SWX on the shapes of its table 1, measured beside estimated.

Data are made up, of the papers' shapes. Without a CUDA device there is nothing to measure: the estimates are printed,
and no speed-up. With one, fits are held against those on one core of the CPU, and made twice: their bits must agree.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine
from linrank.engines.open import open_engine
from linrank.losses import LOSSES
from measure import best_times, few, quick
from results import LOSS, fault, report

SOURCES = (*LOSS, "engines/**/*.py")


class Shape(NamedTuple):
    """A data set of table 1."""

    name: str
    rows: int
    features: int
    levels: int
    queries: int
    paper_seconds: float  # of P-SWXRankSVM on a Tesla C2050, table 2

    def make(self) -> tuple[Any, Any, Any]:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((self.rows, self.features))
        utility = X @ rng.standard_normal(self.features) / math.sqrt(self.features) + rng.standard_normal(self.rows)
        cuts = np.quantile(utility, np.linspace(0, 1, self.levels + 1)[1:-1])
        return X, np.searchsorted(cuts, utility).astype(float), np.sort(rng.integers(0, self.queries, self.rows))


SHAPES = [
    Shape("MQ2008", 9_630, 46, 3, 471, 1.37),
    Shape("MQ2007", 42_158, 46, 2, 1_017, 5.90),
    Shape("MQ2008-list", 540_679, 46, 1_831, 471, 37.17),
    Shape("MQ2007-list", 743_790, 46, 1_268, 1_017, 22.46),
    Shape("MSLR-WEB10K", 723_421, 136, 2, 6_000, 276.11),
    Shape("MSLR-WEB30K", 2_270_296, 136, 5, 18_919, 939.38),
]
#: On paper: 80 % of the memory's bandwidth, bytes a row by sorting, ordered pairs a second, seconds a launch.
BANDWIDTH, ROW_BYTES, PAIRS, LAUNCH = {"A100": 1.2e12, "H100": 2.4e12}, 3990.0, {"A100": 2.7e11, "H100": 3.9e11}, 4e-6


def estimated(shape: Shape, card: str) -> float:
    """Milliseconds of an evaluation of the squared hinge with its gradient, on paper (`docs/gpu.md`)."""
    reading = 16.0 * shape.rows * shape.features / BANDWIDTH[card]
    bits = shape.levels.bit_length() if shape.levels > 16 else 0
    sorting = (ROW_BYTES + 270.0 * bits) * shape.rows / BANDWIDTH[card] + LAUNCH * (160 + 49 * bits)
    by_pairs = 1.44 * shape.rows**2 / shape.queries / PAIRS[card] + 15 * LAUNCH
    return 1e3 * (reading + min(sorting, by_pairs))


def has_cuda() -> bool:
    """Whether there is a device to measure."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def main() -> None:
    shapes, cuda = few(SHAPES, 1), has_cuda()
    if not cuda:
        print("\nThere is no CUDA device: nothing is measured, and no speed-up is printed.")
        names = ("shape", "rows", "features", "est. ms, A100", "est. ms, H100")
        values = [(s.name, s.rows, s.features, estimated(s, "A100"), estimated(s, "H100")) for s in shapes]
        report("gpu_estimates", [dict(zip(names, row, strict=True)) for row in values])
        return
    measured = [measure(shape) for shape in shapes]
    report("gpu", [row for row, _ in measured])
    report("gpu_convergence", [point for _, points in measured for point in points])


def evaluation_ms(engine: Any, d: int) -> float:
    """Milliseconds of an evaluation with its gradient; the transfer at its end waits for the device."""
    w = np.ones(d) / math.sqrt(d)
    with engine:

        def once() -> None:
            engine.evaluate(LOSSES["squared_hinge"], engine.scores(w), gradient=True).gradient()

        once()
        return 1e3 * best_times({"it": once}, clock=time.perf_counter)["it"]


def measure(shape: Shape) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Tables 2 and 3 for one shape, and the points of figure 1."""
    X, y, qid = shape.make()
    data, tol = RankingData(X, y, qid), 1e-3 if quick() else 1e-5
    row: dict[str, Any] = {"shape": shape.name, "est. ms, A100": estimated(shape, "A100")}
    row["ms, device"] = evaluation_ms(open_engine(data, device="cuda"), shape.features)
    row["ms, one core"] = evaluation_ms(LocalEngine(data), shape.features)
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
