"""Clusters for tests: skipped, with the reason, where dask is missing."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = "import sys; from distributed.cli import {0}; sys.argv[0] = '{0}'; {0}.main()"


@pytest.fixture(scope="session")
def distributed():
    return pytest.importorskip("distributed", reason="dask is not installed: pip install 'linrank[dask]'")


@pytest.fixture(scope="module")
def cluster(distributed):
    """Two worker processes of one thread each, under nannies."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as made:
        yield made


@pytest.fixture
def client(cluster, distributed):
    with distributed.Client(cluster) as made:
        made.wait_for_workers(1, timeout=60)  # a nanny may have been lost for good
        yield made


class Processes:
    """A scheduler and workers, each a process of its own, without nannies."""

    def __init__(self, folder):
        self.folder, self.all = folder, []
        self.file = folder / "scheduler.json"
        self.scheduler = self.start("dask_scheduler", "--port", "0", "--dashboard-address", ":0")
        while not self.file.exists():
            time.sleep(0.05)

    def start(self, program, *arguments, code=PROGRAM):
        command = [sys.executable, "-c", code.format(program), *arguments, "--scheduler-file", str(self.file)]
        with open(self.folder / "log.txt", "ab") as log:
            made = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self.all.append(made)
        return made

    def worker(self, **more):
        return self.start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", **more)

    def close(self):
        for process in reversed(self.all):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
                process.kill()
            process.wait()


@pytest.fixture
def processes(tmp_path, distributed):
    made = Processes(tmp_path)
    yield made
    made.close()


@pytest.fixture
def separate(processes, distributed):
    """A client of a scheduler and two workers in processes of their own."""
    workers = [processes.worker() for _ in range(2)]
    with distributed.Client(scheduler_file=str(processes.file), timeout=30) as made:
        made.wait_for_workers(2, timeout=60)
        yield made, processes, workers
