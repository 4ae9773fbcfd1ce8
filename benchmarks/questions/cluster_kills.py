"""Does a fit on a cluster end with the same bits when workers are killed? Fifty times, each seen to hit.

A scheduler and two workers, each in a network namespace of its own where that can be had. A worker is ended by
kill -9: in a trip (from within whose task it has written its number), as the holder of the first shard, or while rows
are brought together (from within a task that cuts a chunk). Another one is started in its place. The quick check
closes a worker.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusters import Machines, Threads, blocks, dask_missing, meet, met
from linrank import LinearRanker
from linrank.engines import Dask
from linrank.losses import SquaredHinge
from measure import quick
from results import FIT, fault, report

SOURCES = (*FIT, "data/collections.py", "rankers/cluster.py")
KILLS = 50


@dataclass(frozen=True)
class Met(SquaredHinge):
    """A squared hinge whose evaluation on a worker is met once, after some others there."""

    folder: str = ""
    after: int = 0
    client: int = 0  # the process that fits, whose sample is evaluated there: it is not met

    def at(self, scores: Any, rankings: Any, work: Any) -> Any:
        if self.folder and os.getpid() != self.client:
            count = os.path.join(self.folder, f"count-{os.getpid()}")
            with open(count, "ab") as file:
                file.write(b".")
            if os.path.getsize(count) > self.after:
                meet(self.folder)
        return super().at(scores, rankings, work)


def fit(given: Any, client: Any, loss: Any = None) -> Any:
    config = Dask(client, patience=60)
    return LinearRanker(loss or Met(), alpha=0.01, tol=1e-6).fit(*given, client=config)


def in_a_trip(given: Any, client: Any, k: int) -> tuple[Any, int, str]:
    with tempfile.TemporaryDirectory() as folder:
        killed = _kill_when_met(folder)
        found = fit(given, client, Met(folder=folder, after=5 * k % 16, client=os.getpid()))
        return found, killed(), "its task was running"


def while_brought_together(given: Any, client: Any, k: int) -> tuple[Any, int, str]:
    from linrank.engines.dask import rows

    cut = rows.cut
    with tempfile.TemporaryDirectory() as folder:

        def met_cut(chunk: Any, homes: Any, target: int) -> Any:
            meet(folder)
            return cut(chunk, homes, target)

        rows.cut = met_cut
        try:
            killed = _kill_when_met(folder)
            return fit(given, client), killed(), "it was cutting a chunk"
        finally:
            rows.cut = cut


def first_holder(given: Any, client: Any, k: int, kill: Callable[[Any], int] | None = None) -> tuple[Any, int, str]:
    from linrank.engines.dask.engine import DaskEngine

    evaluate, calls, killed = DaskEngine.evaluate, [], []

    def killing(engine: Any, *arguments: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 1 + k % 4:
            (holder, *_) = client.who_has(engine.futures[:1])[engine.futures[0].key]
            if kill is not None:
                killed.append(kill(holder))
            else:
                pid = client.run(os.getpid, workers=[holder])[holder]
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        return evaluate(engine, *arguments, **more)

    DaskEngine.evaluate = killing  # type: ignore[method-assign]
    try:
        return fit(given, client), killed[0], "it held the first shard"
    finally:
        DaskEngine.evaluate = evaluate  # type: ignore[method-assign]


def _kill_when_met(folder: str) -> Callable[[], int]:
    killed: list[int] = []

    def kill() -> None:
        pid = met(folder)
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()

    def found() -> int:
        thread.join()
        return killed[0]

    return found


def row(number: int, name: str, began: float, quiet: Any, answer: tuple[Any, int, str], where: str) -> dict[str, Any]:
    found, pid, seen = answer
    same = bool(np.array_equal(found.coef_, quiet.coef_) and found.gap_ == quiet.gap_)
    if not same:
        fault(f"kill {number}, {name}: other bits")
    return {"kill": number, "when": name, "process": pid, "seen": seen, "same bits": "yes" if same else "no",
            "fit s": time.perf_counter() - began, "workers": where}  # fmt: skip


def check_quickly() -> list[dict[str, Any]]:
    machines = Threads()
    with machines as client:
        given = shuffled()
        quiet, began = fit(given, client), time.perf_counter()

        def close(address: str) -> int:
            worker = next(w for w in machines._cluster.workers.values() if w.address == address)
            client.sync(worker.close)
            return os.getpid()

        answer = first_holder(given, client, 1, close)
        return [row(1, "holder of the first shard", began, quiet, answer, "threads")]


def shuffled() -> Any:
    """Rows whose queries lie in all blocks."""
    import dask.array as da

    n = 4000 if quick() else 20_000
    X, y, _ = blocks(n, 10, 8)
    return X, y, da.arange(n, chunks=X.chunks[:1]) % (n // 100)


def main() -> None:
    if dask_missing():
        report("cluster_kills", [{"kill": 0, "when": dask_missing()}])
        return
    if quick():
        report("cluster_kills", check_quickly())
        return
    ways = {
        "in a trip": in_a_trip,
        "holder of the first shard": first_holder,
        "rows on their way": while_brought_together,
    }
    machines, rows = Machines(2, networks=True), []
    where = "networks of their own" if machines.networks else "processes"
    with machines as client:
        given = shuffled()
        quiet = fit(given, client)
        for number in range(1, KILLS + 1):
            name = list(ways)[number % len(ways)]
            began = time.perf_counter()
            answer = ways[name](given, client, number)
            rows.append(row(number, name, began, quiet, answer, where))
            place = 1 + next(k for k, w in enumerate(machines.workers) if w.pid == answer[1])
            machines.workers[place - 1].wait()
            machines.workers[place - 1] = machines.worker(place)
            client.wait_for_workers(2, timeout=120)
    report("cluster_kills", rows)
