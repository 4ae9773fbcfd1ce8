"""Reading SVMlight: MB/s on one and two threads beside scikit-learn, memory per entry, 1 GB in bounded memory."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from linrank import LinearRanker, read_svmlight
from linrank.io import iter_svmlight
from measure import PeakMemory, best_times, in_fresh_process, quick
from results import report

SOURCES = ("kernels/text/**/*.py", "io/**/*.py")


def letor(n_rows: int, n_features: int = 46) -> bytes:
    """Rows as in LETOR 4.0: six digits, half of them zeros, spelled out; document ids in comments."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n_rows, n_features)) < 0.5, 0.0, rng.random((n_rows, n_features)))
    form = "%d qid:%d " + " ".join(f"{j + 1}:%.6f" for j in range(n_features)) + " #docid = GX%03d-%02d-%d inc = 1\n"
    rows = (form % (k % 3, k // 20, *X[k], k % 1000, k % 100, k) for k in range(n_rows))
    return "".join(rows).encode()


def sparse(n_rows: int, per_row: int = 60, n_features: int = 50_000) -> bytes:
    """Rows of few features out of many, with all 17 digits."""
    rng = np.random.default_rng(0)
    lines = []
    for k in range(n_rows):
        columns = np.unique(rng.integers(1, n_features, per_row)).tolist()
        values = rng.random(len(columns)).tolist()
        pairs = " ".join(f"{j}:{value!r}" for j, value in zip(columns, values, strict=True))
        lines.append(f"{k % 5} qid:{k // 50} {pairs}\n")
    return "".join(lines).encode()


def throughput(name: str, path: Path) -> dict[str, object]:
    megabytes = path.stat().st_size / 1e6
    times = best_times(
        {
            "1 thread": lambda: read_svmlight(path),
            "2 threads": lambda: read_svmlight(path, n_jobs=2),
            "1 thread, dense float32": lambda: read_svmlight(path, dense=name == "letor", dtype=np.float32),
            "scikit-learn": lambda: load_svmlight_file(str(path), query_id=True, zero_based=False),
        },
        5,
        time.perf_counter,  # two threads take no less CPU time than one
    )
    ours, theirs = read_svmlight(path), load_svmlight_file(str(path), query_id=True, zero_based=False)
    assert (ours.X != theirs[0]).nnz == 0
    assert np.array_equal(ours.y, theirs[1])
    assert np.array_equal(ours.qid, theirs[2])
    speeds = {f"{contestant} MB/s": megabytes / seconds for contestant, seconds in times.items()}
    ratio = times["scikit-learn"] / times["1 thread"]
    return {"file": name, "MB": megabytes, **speeds, "times scikit-learn's (1 thread)": ratio}


def memory(path: str, reader: str) -> tuple[float, int]:
    """Megabytes that reading grows the process by at its peak, and the non-zeros."""
    small = path + ".small"
    load = (
        {"linrank": read_svmlight, "linrank dense": lambda p: read_svmlight(p, dense=True)}.get(reader)
        or (lambda p: load_svmlight_file(p, query_id=True, zero_based=False))
    )  # fmt: skip
    load(small)  # compiled and loaded
    with PeakMemory() as peak:
        data = load(path)
    X = data.X if hasattr(data, "X") else data[0]
    return peak.grown, int(X.size if isinstance(X, np.ndarray) else X.nnz)


def scoring(path: str, chunk_bytes: int) -> dict[str, object]:
    """Score a file chunk by chunk."""
    ranker = LinearRanker()
    first = next(iter_svmlight(path, chunk_rows=10_000, n_features=46, dense=True))
    ranker.fit(first.X, first.y, first.qid)
    next(iter_svmlight(path, chunk_rows=1000, n_features=46))  # compiled and loaded
    rows, total = 0, 0.0
    with PeakMemory() as peak:
        begin = time.perf_counter()
        for chunk in iter_svmlight(path, chunk_bytes=chunk_bytes, n_features=46, n_jobs=2):
            scores = ranker.predict(chunk.X)
            rows, total = rows + scores.size, total + float(scores.sum())
        seconds = time.perf_counter() - begin
    size = Path(path).stat().st_size / 1e6
    return {
        "file MB": size,
        "rows": rows,
        "chunk MB": chunk_bytes / 2**20,
        "seconds": seconds,
        "MB/s": size / seconds,
        "memory grown by MB": peak.grown,
    }


def main() -> None:
    small = 500 if quick() else 0
    with tempfile.TemporaryDirectory() as folder:
        files = {"letor": letor(small or 60_000), "sparse, 17 digits": sparse(small or 25_000)}
        rows, used = [], []
        for name, text in files.items():
            path = Path(folder) / name.split(",")[0]
            path.write_bytes(text)
            Path(f"{path}.small").write_bytes(text[: text.index(b"\n", 20_000) + 1])
            rows.append(throughput(name, path))
            for reader in ("linrank", "linrank dense", "scikit-learn"):
                if reader != "linrank dense" or name == "letor":
                    grown, entries = in_fresh_process(memory, str(path), reader)
                    used.append(
                        {"file": name, "reader": reader, "peak MB": grown, "bytes per entry": grown * 2**20 / entries}
                    )
        report("reading", rows)
        report("reading_memory", used)
        big = Path(folder) / "big"
        with big.open("wb") as file:
            while file.tell() < (1e6 if quick() else 1e9):
                file.write(files["letor"])
        report("scoring", [in_fresh_process(scoring, str(big), megabytes << 20) for megabytes in (16, 64)])
