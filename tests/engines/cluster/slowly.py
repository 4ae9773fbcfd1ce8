"""Work that can be met while it is done: it tells its process once, and waits to be killed or interrupted.

Pickled by value, as workers do not have this module.
"""

import os
import time
from pathlib import Path

import cloudpickle

from linrank.losses import SquaredHinge

cloudpickle.register_pickle_by_value(__import__(__name__))


def meet(folder, seconds=5.0):
    """The first to come here writes its process's number, and waits; those that come later go on."""
    try:
        with open(Path(folder) / "met", "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return
    time.sleep(seconds)


def met(folder, timeout=60.0):
    """The process that waits."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        path = Path(folder) / "met"
        if path.exists() and (text := path.read_text()):
            return int(text)
        time.sleep(0.01)
    raise TimeoutError("nobody came")


class Met(SquaredHinge):
    """A squared hinge whose evaluation on a worker is met once, after a few others."""

    def __init__(self, folder, after=0):
        super().__init__()
        object.__setattr__(self, "folder", str(folder))
        object.__setattr__(self, "after", after)

    def at(self, scores, rankings, work):
        count = Path(self.folder) / f"count-{os.getpid()}"
        n = int(count.read_text()) if count.exists() else 0
        count.write_text(str(n + 1))
        if n >= self.after:
            meet(self.folder)
        return super().at(scores, rankings, work)


class Crawling(SquaredHinge):
    """A squared hinge that takes its time over each block; it says when it has begun."""

    def __init__(self, folder, seconds):
        super().__init__()
        object.__setattr__(self, "folder", str(folder))
        object.__setattr__(self, "seconds", seconds)

    def at(self, scores, rankings, work):
        (Path(self.folder) / "met").write_text(str(os.getpid()))
        time.sleep(self.seconds)
        return super().at(scores, rankings, work)
