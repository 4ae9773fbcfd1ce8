"""TreeRSVM against PairRSVM, which walks over all pairs: cadata at rising sizes (the paper's figure 1)."""

from __future__ import annotations

import numpy as np

from evaluate import Evaluator
from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import Hinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle
from linrank.testing import PairHinge
from measure import best_times, exponent, quick
from problems import load
from results import FIT, report

SOURCES = FIT

SIZES = [1000, 2000, 4000, 8000, 16000]


def main() -> None:
    X, y, _ = load("cadata")
    order = np.random.default_rng(0).permutation(len(y))
    rows, seconds = [], {"tree": [], "pair": []}
    sizes = [300, 600] if quick() else SIZES
    for m in sizes:
        data = RankingData(X[order[:m]], y[order[:m]])
        scores = data.X @ np.ones(data.n_features) / 3
        evaluator = Evaluator(data)
        losses = {"tree": Hinge(), "pair": PairHinge()}
        times = best_times({name: lambda loss=loss: evaluator.at(loss, scores) for name, loss in losses.items()}, 5)
        with LocalEngine(data) as engine:
            tree, pair = (Bundle(tol=1e-4).minimise(Objective(engine, loss, Ridge(1e-2))) for loss in losses.values())
        for name in seconds:
            seconds[name].append(times[name])
        rows.append(
            {
                "rows": m,
                "pairs": data.preferences.n_pairs,
                "TreeRSVM ms": 1e3 * times["tree"],
                "PairRSVM ms": 1e3 * times["pair"],
                "ratio": times["pair"] / times["tree"],
                "difference of objectives": abs(tree.value - pair.value),
            }
        )
    report("pair_rsvm", rows)
    exponents = {name: exponent(sizes, times) for name, times in seconds.items()}
    report("pair_rsvm_exponents", [{"method": name, "exponent": value} for name, value in exponents.items()])
