"""A file of 2 GB, streamed in chunks: how much memory grows, and how fast it goes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from linrank import SGDRanker
from measure import PeakMemory, in_fresh_process, quick
from results import STOCHASTIC, report

SOURCES = STOCHASTIC

D, PER_QUERY, CHUNK_ROWS = 100, 120, 50_000
BYTES = 2 * 2**30


def write(path: Path) -> int:
    """Rows of float32: qid, y and 100 features; queries go on across the chunks in which the file is read."""
    rng, n_rows = np.random.default_rng(0), (BYTES >> 10 if quick() else BYTES) // (4 * (D + 2))
    w = rng.standard_normal(D, dtype=np.float32)
    with path.open("wb") as file:
        for start in range(0, n_rows, 100_000):
            n = min(100_000, n_rows - start)
            block = rng.standard_normal((n, D + 2), dtype=np.float32)
            block[:, 0] = (start + np.arange(n)) // PER_QUERY
            block[:, 1] = np.floor(block[:, 2:] @ w / 4 + rng.standard_normal(n, dtype=np.float32)).clip(-2, 2)
            block.tofile(file)
    return n_rows


def chunks(path: Path) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    with path.open("rb") as file:
        while (block := np.fromfile(file, np.float32, CHUNK_ROWS * (D + 2))).size:
            rows = block.reshape(-1, D + 2)
            yield rows[:, 2:].copy(), rows[:, 1].copy(), rows[:, 0].astype(np.int64)


def measure(path: Path, n_rows: int) -> dict[str, object]:
    first = next(chunks(path))
    plain = {"alpha": 1e-4, "average": False, "random_state": 0}
    SGDRanker(**plain).partial_fit(*(part[:2000] for part in first))  # compiled and loaded
    with PeakMemory() as memory:
        begin = time.perf_counter()
        n_chunks = sum(1 for _ in chunks(path))
        reading = time.perf_counter() - begin
        begin = time.perf_counter()
        ranker = SGDRanker(**plain).fit_stream(lambda: chunks(path), checkpoint=path.with_suffix(".checkpoint"))
        seconds = time.perf_counter() - begin
    return {
        "file MB": path.stat().st_size / 2**20,
        "rows": n_rows,
        "chunks": n_chunks,
        "chunk MB": CHUNK_ROWS * (D + 2) * 4 / 2**20,
        "steps": ranker.n_iter_,
        "seconds": seconds,
        "reading alone s": reading,
        "memory grown by MB": memory.grown,
        "accuracy": ranker.score(*first),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.bin"
        n_rows = write(path)
        report("sgd_stream", [in_fresh_process(measure, path, n_rows)])
