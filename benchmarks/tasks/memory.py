"""imdb (sparse, 44,798 features, 2.7e8 pairs): trains without X being densified; peak memory above the data."""

from __future__ import annotations

import threading
import time

import psutil

from linrank import LinearRanker
from measure import report
from problems import imdb


class PeakMemory:
    """Watches this process's resident memory while it is entered."""

    def __enter__(self) -> PeakMemory:
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


def main() -> None:
    X, y, _ = imdb()
    LinearRanker("hinge", 1e-4, scale=False).fit(X[:1000], y[:1000])  # compiled and loaded
    rows = []
    for alpha in (1e-2, 1e-4):
        with PeakMemory() as memory:
            begin = time.perf_counter()
            ranker = LinearRanker("hinge", alpha, scale=False).fit(X, y)
            seconds = time.perf_counter() - begin
        rows.append(
            {
                "alpha": alpha,
                "seconds": seconds,
                "iterations": ranker.n_iter_,
                "objective": f"{ranker.objective_:.6f}",
                "gap": ranker.gap_,
                "memory grown by MB": memory.grown,
                "X sparse MB": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20,
                "X dense would be MB": 8 * X.shape[0] * X.shape[1] / 2**20,
            }
        )
    report("memory", rows)
