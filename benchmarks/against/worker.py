"""A process that runs rows with one revision's library and answers in lines of JSON: started by `against`.

{"do": "make", "row": name}      makes the row ready and calls it once       {"calls": in a turn}
{"do": "turn", "calls": k}       calls it k times                            {"seconds": the best, CPU time}
{"do": "count"}                  runs it under counters                      {"iterations": ..., ...}
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: CPU seconds of a turn, and the most calls in one.
TURN, MOST = 0.02, 100


class Worker:
    """One row at a time."""

    def __init__(self) -> None:
        from against.rows import rows

        self.rows = rows()
        self.name = ""
        self.task: Callable[[], Any] = lambda: None

    def make(self, row: str) -> dict[str, Any]:
        """Make a row ready: data, and kernels compiled or loaded."""
        self.name, self.task = row, lambda: None  # the last row's data are given back
        gc.unfreeze()
        gc.collect()
        self.task = self.rows[row].make()
        self.task()
        gc.collect()
        gc.freeze()  # or every turn would begin with a walk over all of numba's objects
        begin = time.process_time()
        self.task()
        seconds = time.process_time() - begin
        return {"calls": max(1, min(MOST, round(TURN / max(seconds, 1e-6))))}

    def turn(self, calls: int) -> dict[str, Any]:
        """The best CPU seconds of some calls."""
        gc.collect()
        gc.disable()
        best = float("inf")
        for _ in range(calls):
            begin = time.process_time()
            self.task()
            best = min(best, time.process_time() - begin)
        gc.enable()
        return {"seconds": best}

    def count(self) -> dict[str, Any]:
        """Counts of the row."""
        from against.counts import count

        return dict(count(self.task, self.rows[self.name].exact))


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints is no answer
    warnings.simplefilter("ignore")
    import linrank

    print(json.dumps({"library": linrank.__file__}), file=answers, flush=True)
    worker = Worker()
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = getattr(worker, order.pop("do"))(**order)
        except Exception as error:  # the row is not for this revision
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
