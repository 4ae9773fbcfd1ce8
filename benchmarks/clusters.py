"""Small clusters to measure on: a scheduler and workers in processes, each in a network of its own if need be.

With root's rights every process gets a network namespace, joined by a bridge: as if on machines of their own, whose
interfaces count what each sends. Without, they share the loopback device, which counts all of it (and others' traffic).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAM = "import sys; from distributed.cli import {0}; sys.argv[0] = '{0}'; {0}.main()"
NETWORK = "10.77.26"


def dask_missing() -> str:
    """Why there can be no cluster; nothing where there can."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        return "dask is not installed"
    return ""


def may_make_networks() -> bool:
    """Whether namespaces can be made here."""
    if os.geteuid() != 0:
        return False
    tried = subprocess.run(["ip", "netns", "add", "linrank-try"], capture_output=True)
    subprocess.run(["ip", "netns", "del", "linrank-try"], capture_output=True)
    return tried.returncode == 0


class Threads:
    """Two workers as threads of this process: enough to check that a question can be answered."""

    n_workers, networks = 2, False

    def __enter__(self) -> Any:
        from distributed import Client, LocalCluster

        self._cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
        self._client = Client(self._cluster)
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._cluster.close()

    def sent(self) -> int:
        """Nothing is sent."""
        return 0


class Machines:
    """A scheduler and workers of one thread each; a context manager that gives a client."""

    def __init__(self, n_workers: int = 2, networks: bool = False) -> None:
        self.n_workers, self.networks = n_workers, networks and may_make_networks()
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.bridge = f"lrb{os.getpid()}"[:12]

    def __enter__(self) -> Any:
        from distributed import Client

        try:
            if self.networks:
                self._make_networks()
            self.scheduler = self._start(0, "dask_scheduler", "--port", "8786", "--dashboard-address", ":0")
            end = time.monotonic() + 60
            while not self.file.exists():
                if time.monotonic() > end:
                    raise TimeoutError(self.log())
                time.sleep(0.05)
            self.workers = [self.worker(k) for k in range(1, self.n_workers + 1)]
            address = f"tcp://{NETWORK}.100:8786" if self.networks else None
            file = None if self.networks else str(self.file)
            self.client = Client(address, scheduler_file=file, timeout=60)
            self.client.wait_for_workers(self.n_workers, timeout=120)
        except BaseException:
            self._close()
            raise
        return self.client

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):
            self.client.close()
        self._close()

    def worker(self, place: int) -> subprocess.Popen[bytes]:
        """Start a worker, on its machine."""
        return self._start(place, "dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def log(self) -> str:
        """What the processes have said."""
        return (Path(self.folder.name) / "log.txt").read_text(errors="replace")[-2000:]

    def _start(self, place: int, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        inside = ["ip", "netns", "exec", f"{self.bridge}-{place}"] if self.networks else []
        where = ["--host", f"{NETWORK}.{100 + place}"] if self.networks else []
        port = [] if self.networks else ["--port", "0"]
        kept = [a for k, a in enumerate(arguments) if self.networks or (a != "--port" and arguments[k - 1] != "--port")]
        told = [*kept, *where, *(port if program == "dask_scheduler" else []), "--scheduler-file", str(self.file)]
        with open(Path(self.folder.name) / "log.txt", "ab") as log:
            command = [*inside, sys.executable, "-c", PROGRAM.format(program), *told]
            paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
            env = {**os.environ, "PYTHONPATH": paths}  # of this file
            made = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=env)
        self.processes.append(made)
        return made

    def _make_networks(self) -> None:
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("addr", "add", f"{NETWORK}.1/24", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")
        for place in range(self.n_workers + 1):
            name, ours, theirs = f"{self.bridge}-{place}", self._end(place), f"p{os.getpid()}{place}"
            _ip("netns", "add", name)
            _ip("link", "add", ours, "type", "veth", "peer", "name", theirs)
            _ip("link", "set", ours, "master", self.bridge, "up")
            _ip("link", "set", theirs, "netns", name)
            for told in (("addr", "add", f"{NETWORK}.{100 + place}/24", "dev", theirs), ("link", "set", theirs, "up")):
                _ip("-n", name, *told)
            _ip("-n", name, "link", "set", "lo", "up")

    def _end(self, place: int) -> str:
        return f"v{os.getpid()}{place}"

    def sent(self) -> int:
        """Bytes that all have sent so far, headers included."""
        if not self.networks:
            return _count("lo", "tx_bytes")
        ends = [self._end(place) for place in range(self.n_workers + 1)]
        return _count(self.bridge, "tx_bytes") + sum(_count(end, "rx_bytes") for end in ends)

    def _close(self) -> None:
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGCONT)
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.networks:
            for place in range(self.n_workers + 1):
                subprocess.run(["ip", "netns", "del", f"{self.bridge}-{place}"], capture_output=True)
                subprocess.run(["ip", "link", "del", self._end(place)], capture_output=True)
            subprocess.run(["ip", "link", "del", self.bridge], capture_output=True)
        self.folder.cleanup()


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _count(device: str, counter: str) -> int:
    return int(Path(f"/sys/class/net/{device}/statistics/{counter}").read_text())


def blocks(n_rows: int, d: int, n_blocks: int, rows_a_query: int = 100, seed: int = 0) -> Sequence[Any]:
    """X, y and qid as dask arrays, made where they are held: float32, five levels, whole queries in each block."""
    import dask.array as da
    from dask import delayed

    size = n_rows // n_blocks
    made = [delayed(block, pure=False)(size, d, rows_a_query, seed + k, k * size) for k in range(n_blocks)]
    kinds = (((size, d), "f4"), ((size,), "f8"), ((size,), "i8"))
    return [
        da.concatenate([da.from_delayed(one[j], shape, kind) for one in made]) for j, (shape, kind) in enumerate(kinds)
    ]


def block(n_rows: int, d: int, rows_a_query: int, seed: int, first: int) -> Any:
    """Rows of one block."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, d), dtype=np.float32)
    utility = X[:, : min(d, 5)].sum(axis=1) + 2.0 * rng.standard_normal(n_rows)
    y = np.digitize(utility, [-2.0, -0.5, 0.5, 2.0]).astype(np.float64)
    return X, y, (first + np.arange(n_rows)) // rows_a_query


def meet(folder: str, seconds: float = 10.0) -> None:
    """In a task: the first to come here writes its process's number, and waits; those that come later go on."""
    try:
        with open(Path(folder) / "met", "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return
    time.sleep(seconds)


def met(folder: str, timeout: float = 120.0) -> int:
    """The process that waits."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        path = Path(folder) / "met"
        if path.exists() and (text := path.read_text()):
            return int(text)
        time.sleep(0.005)
    raise TimeoutError("no task came")
