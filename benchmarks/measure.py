"""Fair timing on a noisy machine: contestants take turns, and the best of several runs counts."""

from __future__ import annotations

import csv
import multiprocessing
import platform
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"


def best_times(contestants: dict[str, Callable[[], Any]], repeats: int = 7) -> dict[str, float]:
    """Seconds of each contestant: the best of `repeats` runs, interleaved."""
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(repeats):
        for name, run in contestants.items():
            begin = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - begin)
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
    """Call a function in a process of its own: memory given back by earlier work would hide what this takes."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def machine() -> str:
    """A line on the machine."""
    import numba

    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            model = line.split(":")[1].strip()
            break
    return f"{model}, Python {platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}"


def report(name: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table and keep them as results/<name>.csv."""
    fields = list(rows[0])
    text = [[_text(row[field]) for field in fields] for row in rows]
    print(f"\n### {name}\n\n| " + " | ".join(fields) + " |\n|" + "---|" * len(fields))
    for row in text:
        print("| " + " | ".join(row) + " |", flush=True)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        file.write(f"# {machine()}\n")
        writer = csv.writer(file)
        writer.writerow(fields)
        writer.writerows(text)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
