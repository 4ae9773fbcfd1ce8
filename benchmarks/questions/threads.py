"""Two threads against one, beside a control that shows what two threads can give at that moment."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from evaluate import dot
from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import Hinge, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.testing import make_ranking
from measure import best_times, quick
from results import LOSS, report

SOURCES = (*LOSS, "engines/**/*.py")

ARRAYS = [np.random.default_rng(k).standard_normal(20_000) for k in range(64)]


def control(pool: ThreadPoolExecutor) -> None:
    """Sort arrays that fit the cache: no memory to share, no order to keep, nothing serial but handing them out."""
    list(pool.map(np.sort, ARRAYS))


def main() -> None:
    X, y, qid = make_ranking(4_000 if quick() else 400_000, 50, 40 if quick() else 4000, 5)
    data = RankingData(X, y, qid)
    w = np.full(50, 0.1)
    pools = {n: ThreadPoolExecutor(n) for n in (1, 2)}
    with LocalEngine(data, 1) as one, LocalEngine(data, 2) as two:
        contestants = {f"control {n}": lambda pool=pool: control(pool) for n, pool in pools.items()}
        for name, loss in (("hinge", Hinge()), ("squared_hinge", SquaredHinge())):
            for n, engine in ((1, one), (2, two)):
                objective = Objective(engine, loss, Ridge(1e-3))
                contestants[f"{name} and gradient {n}"] = lambda objective=objective: objective.at(w).gradient
        for n, engine in ((1, one), (2, two)):
            contestants[f"X w {n}"] = lambda engine=engine: dot(engine, w)
        times = best_times(contestants, 15, time.perf_counter)
    rows = [
        {"what": name.removesuffix(" 1"), "ms on 1": 1e3 * t, "speed-up by 2": t / times[name[:-1] + "2"]}
        for name, t in times.items()
        if name.endswith(" 1")
    ]
    report("threads", rows)
