"""One evaluation of the hinge (value and subgradient) in multiples of np.argsort of the same scores."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np

from evaluate import Evaluator, evaluate_all
from linrank import RankingData
from linrank.losses import Hinge
from measure import best_times, exponent, quick
from results import LOSS, report

SOURCES = LOSS

SHAPES = {
    "1 query, all levels distinct": lambda m, rng: (rng.permutation(m), None),
    "1 query, 1,000 levels": lambda m, rng: (rng.integers(0, 1000, m), None),
    "1 query, 5 levels": lambda m, rng: (rng.integers(0, 5, m), None),
    "queries of 125 rows, 5 levels": lambda m, rng: (rng.integers(0, 5, m), np.arange(m) // 125),
}
SIZES = [10_000, 100_000, 1_000_000, 10_000_000]
FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "evaluation.png"


def main() -> None:
    rows = []
    seconds: dict[str, list[float]] = {name: [] for name in ["np.argsort", *SHAPES]}
    sizes = [1_000, 10_000] if quick() else SIZES
    for m in sizes:
        rng = np.random.default_rng(0)
        scores = rng.standard_normal(m)
        data = {name: RankingData(np.zeros((m, 1)), *make(m, rng)) for name, make in SHAPES.items()}
        contestants = {"np.argsort": lambda scores=scores: np.argsort(scores)}
        for name, given in data.items():
            evaluator = Evaluator(given)
            contestants[name] = lambda evaluator=evaluator, scores=scores: evaluator.at(Hinge(), scores)
        times = best_times(contestants, repeats=25 if m < 10_000_000 else 5)
        for name in seconds:
            seconds[name].append(times[name])
        for name, given in data.items():
            rows.append(
                {
                    "shape": name,
                    "rows": m,
                    "ms": 1e3 * times[name],
                    "argsorts": times[name] / times["np.argsort"],
                    "bytes a row": extra_memory(scores, given),
                }
            )
    report("evaluation", rows)
    report("evaluation_exponents", [{"what": k, "exponent": exponent(sizes, v)} for k, v in seconds.items()])
    if not quick():
        draw(seconds)


def extra_memory(scores: np.ndarray, data: RankingData) -> float:
    """Bytes a row that a first evaluation takes, its answer included."""
    tracemalloc.start()
    evaluate_all(Hinge(), scores, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / scores.size


def draw(seconds: dict[str, list[float]]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, times in seconds.items():
        style = {"color": "black", "linestyle": "--"} if name == "np.argsort" else {"marker": "o"}
        axes.loglog(SIZES, [1e9 * t / m for t, m in zip(times, SIZES, strict=True)], label=name, **style)
    axes.set(
        xlabel="rows", ylabel="nanoseconds a row", title="One evaluation of the pairwise hinge and its subgradient"
    )
    axes.legend(frameon=False)
    axes.grid(alpha=0.3, which="both")
    figure.savefig(FIGURE, dpi=110)
