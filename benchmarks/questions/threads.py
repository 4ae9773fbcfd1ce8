"""Two threads against one, beside a control that shows what two threads can give at that moment.

Of many queries, whole evaluations; of one query of a million rows, whose parts threads share, the loss and a Hessian
product, where the control is two runs of the same on one thread each, side by side.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from evaluate import dot
from linrank import RankingData
from linrank._threads import Crew
from linrank._work import Work
from linrank.engines import LocalEngine
from linrank.losses import Hinge, HuberHinge, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.testing import make_ranking
from measure import best_times, quick
from results import LOSS, report

SOURCES = (*LOSS, "engines/**/*.py")
GIANT = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "hinge, smoothed": HuberHinge(0.1)}

ARRAYS = [np.random.default_rng(k).standard_normal(20_000) for k in range(64)]


def control(pool: ThreadPoolExecutor) -> None:
    """Sort arrays that fit the cache: no memory to share, no order to keep, nothing serial but handing them out."""
    list(pool.map(np.sort, ARRAYS))


def side_by_side(pool: ThreadPoolExecutor, runs: list[Callable[[], Any]]) -> None:
    for run in [pool.submit(run) for run in runs]:
        run.result()


def giant(m: int, different: bool) -> list[dict[str, Any]]:
    """One query of m rows: one thread, the same twice side by side, and two threads that share it."""
    rng, wanted, rows = np.random.default_rng(0), threading.Event(), []
    wanted.set()
    s, V = rng.standard_normal(m), rng.standard_normal(m)
    y = s + rng.standard_normal(m)
    p = RankingData(s[:, None], y if different else np.clip(np.round(y), -2, 2)).preferences.block(0)
    s = s[p.row]
    with ThreadPoolExecutor(2) as pool:
        for name, loss in GIANT.items():
            works = [Work(), Work(), Work(Crew(pool, 2, wanted))]
            tasks = {"loss": [lambda work=work: loss.at(s, p, work) for work in works]}
            if loss.smooth:
                points = [loss.at(s, p, work).curvature for work in works]
                tasks["Hessian product"] = [
                    lambda L=L, work=work: L.product(V, work) for L, work in zip(points, works, strict=True)
                ]
            for what, (one, other, shared) in tasks.items():
                contestants = {
                    "one": lambda: side_by_side(pool, [one]),
                    "pair": lambda: side_by_side(pool, [one, other]),
                    "two": lambda: side_by_side(pool, [shared]),
                }
                times = best_times(contestants, 31, time.perf_counter)
                speed_up, control = times["one"] / times["two"], 2 * times["one"] / times["pair"]
                row = {"labels": "all different" if different else "five grades", "loss": name, "what": what}
                row |= {"ms on 1": 1e3 * times["one"], "speed-up by 2": speed_up, "control": control}
                rows.append(row | {"ratio": speed_up / control})
    return rows


def main() -> None:
    m = 4_000 if quick() else 1_000_000
    report("threads_giant", [row for different in (False, True) for row in giant(m, different)])
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
