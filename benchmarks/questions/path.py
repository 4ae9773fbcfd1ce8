"""A path of 20 alphas, warm and cold: iterations per alpha, and its cost in fits at the smallest alpha from zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from linrank import LinearRanker, RankingData
from linrank.rankers.training import Training
from measure import best_times
from problems import Problem, load
from results import FIT, report

SOURCES = FIT

ALPHAS = np.geomspace(10.0, 1e-5, 20)


def main() -> None:
    rows, costs = [], []
    for name in ("cadata", "webis", "imdb", "newsgroups"):
        problem = load(name)
        for loss in ("squared_hinge", "hinge"):
            cost, steps = measure(problem, loss)
            costs.append({"data": name, "loss": loss, **cost})
            rows += [{"data": name, "loss": loss, **step} for step in steps]
            print(costs[-1], flush=True)
    report("path", costs)
    report("path_iterations", rows)


def measure(problem: Problem, loss: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    data = RankingData(*problem)
    training = Training.of(LinearRanker(loss, scale=False))
    path = lambda alphas: [fit.solution for fit in training.path(data, alphas, lambda _: None)]
    warm, cold = path(ALPHAS), [path(ALPHAS[[k]])[0] for k in range(ALPHAS.size)]
    times = best_times({"path": lambda: path(ALPHAS), "last": lambda: path(ALPHAS[-1:])}, 3)
    cost = {
        "path s": times["path"],
        "fit at the smallest alpha s": times["last"],
        "path in such fits": times["path"] / times["last"],
        "warm iterations": sum(s.n_iter for s in warm),
        "cold iterations": sum(s.n_iter for s in cold),
    }
    steps = [
        {"alpha": float(alpha), "warm": w.n_iter, "cold": c.n_iter}
        for alpha, w, c in zip(ALPHAS, warm, cold, strict=True)
    ]
    return cost, steps
