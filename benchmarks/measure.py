"""Fair timing on a noisy machine: contestants take turns, and the best of several runs counts."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

import numpy as np

from results import report

__all__ = ["PeakMemory", "best_times", "exponent", "few", "in_fresh_process", "quick", "report"]

T = TypeVar("T")


def quick() -> bool:
    """Whether this is a check on small data, not a measurement; processes started from here know it too."""
    return os.environ.get("LINRANK_QUICK") == "1"


def few(values: Sequence[T], n: int = 2) -> list[T]:
    """All values, or the first n of them in a quick check: lists go from small to large."""
    return list(values[:n] if quick() else values)


def best_times(
    contestants: dict[str, Callable[[], Any]], repeats: int = 7, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """CPU seconds of each contestant (or those of another clock): the best of `repeats` runs, interleaved."""
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(1 if quick() else repeats):
        for name, run in contestants.items():
            begin = clock()
            run()
            best[name] = min(best[name], clock() - begin)
    return best


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Growth exponent: the slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


class PeakMemory:
    """Watches this process's resident memory while it is entered."""

    def __enter__(self) -> PeakMemory:
        import psutil

        self._process, self._done = psutil.Process(), threading.Event()
        self.start = self.peak = self._process.memory_info().rss
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self.peak = max(self.peak, self._process.memory_info().rss)

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def grown(self) -> float:
        """Megabytes above the start."""
        return (self.peak - self.start) / 2**20


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own: memory given back by earlier work would hide what this takes.

    A quick check measures no memory and saves the time to start one.
    """
    if quick():
        return function(*arguments)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()
