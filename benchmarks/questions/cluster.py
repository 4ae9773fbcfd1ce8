"""What a Dask cluster costs: bytes a trip, milliseconds a trip, a fit beside one machine's, the client's memory.

Two workers of one thread each, and a scheduler, are processes of their own; for the bytes each has a network namespace,
whose interfaces count what is sent (headers included; what flows while nothing is asked is taken off). One machine is
the local engine with two threads, on the same cores: a cluster on one machine cannot win, so a fit's ratio is what it
costs, and `two machines win from` is arithmetic: the rows for which half an evaluation takes as long as an empty trip.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from clusters import Machines, Threads, blocks, dask_missing
from linrank import LinearRanker, RankingData
from linrank.engines import Dask, LocalEngine
from linrank.losses import LOSSES
from measure import PeakMemory, few, quick
from problems import load
from results import FIT, fault, report

SOURCES = (*FIT, "data/collections.py", "rankers/cluster.py")

LOSS = LOSSES["squared_hinge"]
FEATURES = (50, 1000)
SHARDS = (2, 8)
#: The most bytes of a trip: a shard, a worker, and a shard of a Hessian, beside 10 kB a worker.
A_SHARD, A_WORKER, FIXED = 64, 160, 10_000
TRIPS = 20


def engine_for(client: Any, n_rows: int, d: int, n_shards: int) -> Any:
    """A cluster's engine for rows made on its workers."""
    from linrank.engines.dask.bring import Collection, bring
    from linrank.engines.dask.rows import Building

    X, y, qid = blocks(n_rows, d, n_shards)
    source = Collection(X, y, qid, None, None, Building("full", "pairs", "error"))
    return bring(Dask(client, shard_bytes=0), source).engine


def bytes_rows(machines: Any, client: Any) -> list[dict[str, Any]]:
    rows = []
    for d in few(FEATURES, 1):
        for n_shards in few(SHARDS, 1):
            with engine_for(client, 400 * n_shards, d, n_shards) as engine:
                v = np.linspace(-1, 1, d) / d
                s = engine.scores(v)
                point = engine.evaluate(LOSS, s, gradient=True)
                asked = {
                    "evaluation": lambda: engine.evaluate(LOSS, engine.scores(v), gradient=True),
                    "on a line": lambda: engine.evaluate(LOSS, s, s, 0.5, gradient=True),
                    "Hessian product": lambda: point.hessian_product(v),
                    "Hessian": lambda: point.hessian(),
                }
                for what, ask in asked.items():
                    rows.append(bytes_of(machines, d, n_shards, what, ask))
    return rows


def bytes_of(machines: Any, d: int, n_shards: int, what: str, ask: Any) -> dict[str, Any]:
    """Bytes that a trip sends, beside the limit."""
    ask()
    n = 2 if quick() else TRIPS
    idle = time.monotonic(), machines.sent()
    time.sleep(0.2 if quick() else 3.0)
    rate = (machines.sent() - idle[1]) / (time.monotonic() - idle[0])
    began, before = time.monotonic(), machines.sent()
    for _ in range(n):
        ask()
    sent = (machines.sent() - before - rate * (time.monotonic() - began)) / n
    limit = A_SHARD * d * n_shards + (A_WORKER * d + FIXED) * machines.n_workers
    limit += 8 * d * d * n_shards if what == "Hessian" else 0
    if sent > limit and machines.networks:
        fault(f"{what}, d = {d}, {n_shards} shards: {sent:.0f} bytes a trip, {limit} are allowed")
    return {"features": d, "workers": machines.n_workers, "shards": n_shards, "asked": what, "kB a trip": sent / 1e3,
            "limit kB": limit / 1e3, "counted on": "networks" if machines.networks else "loopback"}  # fmt: skip


def trips(client: Any) -> list[dict[str, Any]]:
    """Milliseconds of a trip in which next to nothing is computed: by shards, and by tasks, one a worker."""
    rows = []
    for n_shards in few((2, 8, 32, 100), 1):
        with engine_for(client, 100 * n_shards, 50, n_shards) as engine:
            s = engine.scores(np.ones(50))
            engine.evaluate(LOSS, s, gradient=True)
            median, best = timed(lambda: engine.evaluate(LOSS, s, gradient=True))
            rows.append({"tasks": 2, "shards": n_shards, "median ms": median, "best ms": best})
            if n_shards in (2, 100):
                holders = engine._holders()
                engine._holders = lambda holders=holders: holders  # type: ignore[method-assign]
                median, best = timed(lambda: one_task_a_shard(engine))
                rows.append({"tasks": n_shards, "shards": n_shards, "median ms": median, "best ms": best})
    return rows


def timed(ask: Any) -> tuple[float, float]:
    took = []
    for _ in range(3 if quick() else 40):
        began = time.perf_counter()
        ask()
        took.append(time.perf_counter() - began)
    return 1e3 * float(np.median(took)), 1e3 * min(took)


def one_task_a_shard(engine: Any) -> None:
    """As if each shard were on a worker of its own."""
    from linrank.engines.dask.shard import serve

    message = engine._request("of_engine", "at_zero", LOSS).packed()
    asked = [engine.cluster.submit(serve, [shard], [0], message) for shard in engine.shards]
    engine.cluster.gather(asked)
    engine.cluster.let_go(engine.futures)


def estimate(trip: list[dict[str, Any]], fit: dict[str, Any]) -> list[dict[str, Any]]:
    """10^10 rows x 100 features in float32 on 100 workers of 16 threads, shards of 128 MB: from what was measured."""
    rows, d, workers, threads, shard = 1e10, 100, 100, 16, 128e6
    shards = rows * d * 4 / shard
    few_tasks, many_tasks = trip[1], trip[-1]
    task = (many_tasks["median ms"] - few_tasks["median ms"]) / max(1, many_tasks["tasks"] - few_tasks["tasks"])
    by_shards = [one for one in trip if one["tasks"] == 2]
    a_shard = (by_shards[-1]["median ms"] - by_shards[0]["median ms"]) / max(
        1, by_shards[-1]["shards"] - by_shards[0]["shards"]
    )
    row = 2.0 * fit["local evaluation ms"] / fit["rows"] * (d / fit["features"])  # core milliseconds
    compute = row * rows / workers / threads
    overhead = few_tasks["median ms"] + task * workers + max(a_shard, 0.0) * shards
    found = [
        ("X held by a worker, GB", rows * d * 4 / workers / 1e9),
        ("shards", shards),
        ("a row, core ns", 1e6 * row),
        ("a block of 128 MB, core ms", row * shard / 4 / d),
        ("a task of a trip, ms", task),
        ("a shard of a trip, ms", max(a_shard, 0.0)),
        ("evaluation on a worker, s", compute / 1e3),
        ("tasks and reduction of a trip, s", overhead / 1e3),
        ("MB to the client a trip", shards * (8 * d + 300) / 1e6),
        ("fit of 30 trips, min", 30 * (compute + overhead) / 6e4),
    ]
    return [{"what": what, "estimate": value} for what, value in found]


def fits(client: Any, overhead: float) -> list[dict[str, Any]]:
    """A fit and an evaluation, in turns with one machine."""
    rows = []
    for n_rows in few((100_000, 1_000_000), 1):
        n_rows = 4000 if quick() else n_rows
        given = client.persist(blocks(n_rows, 50, 8))
        X, y, qid = (one.compute() for one in given)
        how = {"alpha": 0.01, "scale": False}
        best = {"cluster": np.inf, "local": np.inf, "evaluation": np.inf, "local evaluation": np.inf}
        data = RankingData(X, y, qid)
        w = np.full(50, 0.1)
        for _ in range(1 if quick() else 5):
            began = time.perf_counter()
            one = LinearRanker(**how).fit(*given, client=client)
            best["cluster"] = min(best["cluster"], time.perf_counter() - began)
            began = time.perf_counter()
            other = LinearRanker(**how, n_jobs=2).fit(X, y, qid)
            best["local"] = min(best["local"], time.perf_counter() - began)
            with engine_for(client, n_rows, 50, 8) as far, LocalEngine(data, 2) as near:
                for name, engine in (("evaluation", far), ("local evaluation", near)):
                    for _ in range(4):
                        began = time.perf_counter()
                        engine.evaluate(LOSS, engine.scores(w), gradient=True).gradient()
                        best[name] = min(best[name], time.perf_counter() - began)
        if abs(one.objective_ - other.objective_) > one.gap_ + other.gap_:
            fault(f"{n_rows} rows: the cluster's objective is not the local one within both gaps")
        a_row = best["local evaluation"] / n_rows
        rows.append({"rows": n_rows, "features": 50, "fit s": best["cluster"], "local s": best["local"],
                     "fit / local": best["cluster"] / best["local"], "evaluation ms": 1e3 * best["evaluation"],
                     "local evaluation ms": 1e3 * best["local evaluation"],
                     "two machines win from rows": int(2 * overhead / a_row)})  # fmt: skip
    return rows


def problems(client: Any) -> list[dict[str, Any]]:
    """Real data in partitions that cut queries, and a giant query over all workers: within both gaps of one machine."""
    rows = []
    for name in few(("mq2008", "webis", "cadata"), 1):
        X, y, qid = load(name)
        for loss, solver in few((("squared_hinge", "newton"), ("hinge", "bundle"), ("logistic", "newton")), 1):
            how = {"loss": loss, "solver": solver, "alpha": 0.01}
            given = cut(X, y, qid, 7)
            one = LinearRanker(**how).fit(*given, client=Dask(client, shard_bytes=0))
            other = LinearRanker(**how).fit(X, y, qid)
            apart, room = abs(one.objective_ - other.objective_), one.gap_ + other.gap_
            if apart > room:
                fault(f"{name}, {loss}: the objectives are {apart:.2g} apart, both gaps are {room:.2g}")
            rows.append({"data": name, "rows": one.n_rows_, "queries": one.n_queries_, "loss": loss, "solver": solver,
                         "objective": f"{one.objective_:.6f}", "apart": apart, "both gaps": room})  # fmt: skip
    return rows


def cut(X: Any, y: Any, qid: Any, n: int) -> list[Any]:
    """Arrays as dask arrays of n blocks."""
    import dask.array as da
    from dask import delayed

    ends = np.linspace(0, len(y), n + 1).astype(int)
    found = []
    for array in (X, y, qid):
        if array is not None:
            parts = [array[a:b] for a, b in itertools.pairwise(ends)]
            blocks_ = [da.from_delayed(delayed(part), part.shape, meta=part[:0]) for part in parts]
            found.append(da.concatenate(blocks_))
    return found


def memory(client: Any) -> list[dict[str, Any]]:
    """What the client's memory grows by in a fit."""
    rows = []
    for n_rows in few((200_000, 2_000_000), 1):
        n_rows = 4000 if quick() else n_rows
        given = client.persist(blocks(n_rows, 50, 16))
        LinearRanker(alpha=0.01).fit(*client.persist(blocks(3200, 50, 2)), client=client)  # compiled and loaded
        with PeakMemory() as watched:
            LinearRanker(alpha=0.01).fit(*given, client=client)
        rows.append({"rows": n_rows, "X MB": 200 * n_rows / 2**20, "client grown by MB": watched.grown})
    return rows


def main() -> None:
    if dask_missing():
        report("cluster_trip", [{"shards": 0, "median ms": dask_missing(), "best ms": dask_missing()}])
        return
    machines = Threads() if quick() else Machines(2, networks=True)
    with machines as client:
        report("cluster_bytes", bytes_rows(machines, client))
    with Threads() if quick() else Machines(2) as client:
        found = trips(client)
        report("cluster_trip", found)
        fitted = fits(client, found[0]["median ms"] / 1e3)
        report("cluster_fit", fitted)
        report("cluster_estimate", estimate(found, fitted[-1]))
        report("cluster_memory", memory(client))
        report("cluster_problems", problems(client))
