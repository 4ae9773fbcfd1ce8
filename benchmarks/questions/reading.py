"""Reading: MB/s of each format on one and two threads beside those who only copy or unpack; memory; compiling."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sp
import zstandard
from pyarrow import csv as arrow_csv
from sklearn.datasets import load_svmlight_file

from linrank import LinearRanker, read_svmlight
from linrank.io import Comments, Dataset, iter_svmlight, read, write_csv, write_parquet
from measure import PeakMemory, best_times, few, in_fresh_process, quick
from results import report

SOURCES = ("kernels/text/**/*.py", "io/**/*.py")
LARGE = 2000 if quick() else 800_000  # rows of a table


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


def table(n_rows: int, n_features: int = 46) -> Dataset:
    """The same numbers as a table: six digits, half of them zeros."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n_rows, n_features)) < 0.5, 0.0, rng.random((n_rows, n_features)).round(6))
    names = [f"f{j + 1}" for j in range(n_features)]
    return Dataset(X, np.arange(n_rows) % 3.0, np.arange(n_rows) // 20, feature_names=names)


def write_all(folder: Path, n_rows: int) -> dict[str, Path]:
    """Files of about as many rows in each format."""
    files = {name: folder / name for name in ("letor.txt", "sparse.txt", "table.csv", "table.parquet")}
    files["letor.txt"].write_bytes(letor(n_rows))
    files["sparse.txt"].write_bytes(sparse(n_rows * 2 // 5))
    data = table(n_rows)
    write_csv(files["table.csv"], data)
    write_parquet(files["table.parquet"], data)
    text = files["letor.txt"].read_bytes()
    for ending, pack in ((".gz", lambda b: gzip.compress(b, 6)), (".zst", zstandard.compress)):
        files[f"letor.txt{ending}"] = folder / f"letor.txt{ending}"
        files[f"letor.txt{ending}"].write_bytes(pack(text))
    return files


def four_times(folder: Path) -> dict[str, Path]:
    """Larger tables: how much of the peak is there for any size."""
    files, data = {name: folder / f"large.{name}" for name in ("table.csv", "table.parquet")}, table(LARGE)
    write_csv(files["table.csv"], data)
    write_parquet(files["table.parquet"], data)
    return files


def run(*command: str) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def alone(path: Path) -> tuple[str, Callable[[], object]]:
    """Who does a part of the work alone: copies, unpacks, or splits into columns."""
    name = str(path)
    if name.endswith(".gz"):
        return "gzip -dc", lambda: run("gzip", "-dc", name)
    if name.endswith(".zst"):
        return "zstandard", lambda: _drain(name)
    if name.endswith(".csv"):
        return "pyarrow, 1 thread", lambda: arrow_csv.read_csv(name, arrow_csv.ReadOptions(use_threads=False))
    if name.endswith(".parquet"):
        return "pyarrow, 1 thread", lambda: pq.read_table(name, use_threads=False)
    return "cat", lambda: run("cat", name)


def _drain(name: str) -> None:
    with open(name, "rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        while stream.read(1 << 20):
            pass


def throughput(path: Path, n_bytes: int) -> dict[str, object]:
    """MB/s of text, or of the file where it is not packed; the best of five in turns, by the clock on the wall."""
    other, work = alone(path)
    contestants: dict[str, Callable[[], object]] = {
        "1 thread": lambda: read(path),
        "2 threads": lambda: read(path, n_jobs=2),
        "float32, 2 threads": lambda: read(path, n_jobs=2, dtype=np.float32),
        other: work,
    }
    if path.suffix == ".txt":
        contestants["scikit-learn"] = lambda: load_svmlight_file(str(path), query_id=True, zero_based=False)
    times = best_times(contestants, 5, time.perf_counter)  # two threads take no less CPU time than one
    speeds = {f"{name} MB/s": n_bytes / 1e6 / times[name] for name in ("1 thread", "2 threads", "float32, 2 threads")}
    rivals = {"alone": other, "alone MB/s": n_bytes / 1e6 / times[other]}
    learn = n_bytes / 1e6 / times["scikit-learn"] if "scikit-learn" in times else None
    shares = {"seconds, times alone's": times["2 threads"] / times[other], "scikit-learn MB/s": learn}
    return {"file": path.name, "MB": n_bytes / 1e6, **speeds, **rivals, **shares}


def same_numbers(path: Path) -> None:
    ours, theirs = read_svmlight(path), load_svmlight_file(str(path), query_id=True, zero_based=False)
    assert (ours.X != theirs[0]).nnz == 0
    assert np.array_equal(ours.y, theirs[1])
    assert np.array_equal(ours.qid, theirs[2])


def memory(path: str, small: str, reader: str) -> tuple[float, float]:
    """Megabytes that reading grows the process by at its peak, and those of what it gives."""
    load: Callable[[str], object] = {
        "linrank": lambda p: read(p, n_jobs=2),
        "linrank, CSR": lambda p: read_svmlight(p, n_jobs=2),
        "scikit-learn": lambda p: load_svmlight_file(p, query_id=True, zero_based=False),
    }[reader]
    load(small)  # compiled and loaded
    with PeakMemory() as peak:
        data = load(path)
    return peak.grown, size_of(data) / 2**20


def size_of(data: object) -> int:
    """Bytes of the arrays of a data set."""
    if not isinstance(data, Dataset):
        return size_of(Dataset(data[0], data[1], data[2]))  # type: ignore[index]
    parts = [data.y, data.qid, data.sample_weight]
    X = data.X
    parts += [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
    parts += [data.comments.text, data.comments.ends] if isinstance(data.comments, Comments) else []
    return sum(part.nbytes for part in parts if part is not None)


COLD = """
import sys, time
import numpy as np
from linrank.kernels._jit import uncounted

@uncounted
def nothing(x):
    return x[0]

nothing(np.zeros(1))  # numba itself is loaded
from linrank.io import read
begin = time.process_time()
read(sys.argv[1])
print(time.process_time() - begin)
"""


def compiling(path: Path) -> dict[str, object]:
    """CPU seconds until the first file is read, beside the second process, which finds the kernels on disk."""
    seconds = []
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ if quick() else os.environ | {"NUMBA_CACHE_DIR": cache}
        for _ in range(2):
            command = [sys.executable, "-c", COLD, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            seconds.append(float(done.stdout))
    return {"file": path.name, "first process CPU seconds": seconds[0], "second process CPU seconds": seconds[1]}


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
    with tempfile.TemporaryDirectory() as folder:
        files = write_all(Path(folder), 500 if quick() else 60_000)
        n_text = files["letor.txt"].stat().st_size
        packed = {name: n_text for name in files if name.endswith((".gz", ".zst"))}
        report("reading", [throughput(path, packed.get(name, path.stat().st_size)) for name, path in files.items()])
        for name in ("letor.txt", "sparse.txt"):
            same_numbers(files[name])
        larger = write_all(Path(folder), 500 if quick() else 200_000)
        small = write_all(make(Path(folder) / "small"), 200)
        rows = list(memories(larger, small))
        report("reading_memory", rows + list(memories(four_times(Path(folder)), small)))
        report("reading_compile", [compiling(files[name]) for name in few(("letor.txt", "table.csv"), 1)])
        big = Path(folder) / "big"
        text = files["letor.txt"].read_bytes()
        with big.open("wb") as file:
            while file.tell() < (1e6 if quick() else 1e9):
                file.write(text)
        report("scoring", [in_fresh_process(scoring, str(big), megabytes << 20) for megabytes in (16, 64)])


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def memories(files: dict[str, Path], small: dict[str, Path]) -> Iterator[dict[str, object]]:
    """Peak memory of each reader in multiples of what it gives."""
    for name, path in files.items():
        for reader in ("linrank", "linrank, CSR", "scikit-learn"):
            if reader == "linrank" or name.endswith(".txt"):
                grown, size = in_fresh_process(memory, str(path), str(small[name]), reader)
                yield {"file": name, "reader": reader, "peak MB": grown, "result MB": size, "times": grown / size}
