"""Opponents that are programs: looked for in the folder LINRANK_OPPONENTS, given files, timed by the system.

No program, and nothing to build one with, is part of this project.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np

from linrank import write_svmlight
from opponents import UnfinishedError
from problems import Problem

#: Seconds after which a program is ended.
LIMIT = 1800


def path(*names: str) -> Path | None:
    """The first of the names that is a program in the folder."""
    folder = os.environ.get("LINRANK_OPPONENTS")
    found = [Path(folder).resolve() / name for name in names] if folder else []
    return next((one for one in found if os.access(one, os.X_OK) and one.is_file()), None)


class Files:
    """A problem as a file, rows grouped by query, and places for what a program writes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reading = float("inf")  # CPU seconds of a program that only reads the file, the best so far
        self._folder = tempfile.TemporaryDirectory()
        self.data, self.model = (Path(self._folder.name) / name for name in ("data", "model"))
        query = np.zeros(problem.y.size, np.int64)
        if problem.qid is not None:
            query = np.unique(problem.qid, return_inverse=True)[1]
        order = np.argsort(query, kind="stable")
        write_svmlight(self.data, problem.X[order], problem.y[order], query[order] + 1)
        # sofia-ml reads beyond a line that does not end with a space; to the others it is nothing.
        self.data.write_bytes(self.data.read_bytes().replace(b"\n", b" \n"))

    def close(self) -> None:
        """Delete them."""
        self._folder.cleanup()


_last: list[Files] = []
atexit.register(lambda: [one.close() for one in _last])


def files(problem: Problem) -> Files:
    """The problem's files, written once while the same problem is asked for."""
    if not _last or _last[0].problem.X is not problem.X or _last[0].problem.y is not problem.y:
        for one in _last:
            one.close()
        _last[:] = [Files(problem)]
    return _last[0]


def run(*command: object) -> tuple[float, str]:
    """CPU seconds of a program, as the system counts them, and what it printed."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([str(part) for part in command], stdout=printed, stderr=subprocess.STDOUT)
        watch = threading.Timer(LIMIT, os.kill, (process.pid, signal.SIGKILL))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        watch.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    if process.returncode != 0:
        raise UnfinishedError(f"{command[0]} ended with {process.returncode}: {text[-200:]}")
    return usage.ru_utime + usage.ru_stime, text


def all_weights(found: np.ndarray, n_features: int) -> np.ndarray:
    """Weights of all features: a program knows none beyond the last that occurs."""
    w = np.zeros(n_features)
    w[: min(found.size, n_features)] = found[:n_features]
    return w


def sparse_weights(text: str, n_features: int) -> np.ndarray:
    """Weights from text of the form `1:0.5 3:-2`."""
    w = np.zeros(n_features)
    for token in text.split():
        index, colon, value = token.partition(":")
        if colon and index.isdigit():
            w[int(index) - 1] = float(value)
    return w
