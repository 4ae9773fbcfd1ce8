"""Training from disk: X four times the memory allowed, to the bits of memory; a pass against cat, a fit in passes.

Sources are made block by block, and deleted at the end. A fit runs in a process of its own under RLIMIT_DATA, which
bounds its anonymous memory; mapped files do not count. Its weights are compared, bit by bit, with those of a fit to the
same rows in memory. ``LINRANK_BIG`` names a folder with 30 GB of room; about fifteen minutes. ``LINRANK_CASES=Parquet``
runs the cases with that in their names alone; rows of the others stay as they were measured.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from measure import quick
from questions._disk import forget, in_process, seconds_of_cat
from results import FIT, RESULTS, report, table

SOURCES = (*FIT, "io/**/*.py", "data/mapped.py", "data/scan.py", "data/ranking_data.py", "data/preferences.py")

#: Format, rows, features, entries a row, bytes that a fit may allocate, and whether one query of all rows is tried.
CASES: dict[str, tuple[str, int, int, int, float, bool]] = {
    "dense, Parquet": ("parquet", 6_000_000, 200, 200, 1.2e9, True),
    "dense, SVMlight": ("svmlight", 6_000_000, 200, 200, 1.2e9, True),
    "sparse, SVMlight": ("svmlight", 3_000_000, 20_000, 150, 0.9e9, True),
}
LENGTH = 40  # rows of a query
TEMPLATE = (
    2000 if quick() else 20_000
)  # rows of text that are made; the others are those with other queries and another first value
QUICK = 200


def values(n: int, entries: int, rng: np.random.Generator) -> Any:
    """Numbers of two digits, in float32."""
    return (rng.integers(-299, 300, (n, entries)) / np.float32(100)).astype(np.float32)


def labels(X: Any, columns: Any, w: Any, rng: np.random.Generator) -> Any:
    s = (X * w[columns]).sum(axis=1)
    return np.clip(np.round(s / s.std() + rng.standard_normal(s.size)) + 2, 0, 4)


def write_parquet(folder: Path, m: int, d: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    w, step = rng.standard_normal(d), 10 * TEMPLATE
    for number, first in enumerate(range(0, m, step)):
        X = values(min(step, m - first), d, rng)
        rows = np.arange(first, first + len(X))
        columns = {"label": labels(X, np.arange(d), w, rng), "qid": rows // LENGTH}
        table = pa.table(columns | {f"f{j}": np.ascontiguousarray(X[:, j]) for j in range(d)})
        pq.write_table(table, folder / f"part-{number:03d}.parquet", compression="none", use_dictionary=False)


def template(d: int, entries: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Text of some rows; where the seven digits of their queries stand, and the three of their first value."""
    n, w = TEMPLATE, rng.standard_normal(d)
    X = values(n, entries, rng)
    if entries == d:
        columns = np.tile(np.arange(d), (n, 1))
    else:  # each feature once: one out of each of so many equal parts
        columns = np.arange(entries) * (d // entries) + rng.integers(0, d // entries, (n, entries))
    y = labels(X, columns, w, rng)
    words = {number: f"{number / 100:g}" for number in range(-299, 300)}
    lines = []
    for row, column, label in zip((X * 100).round().astype(int).tolist(), (columns + 1).tolist(), y, strict=True):
        rest = " ".join(f"{j}:{words[x]}" for j, x in zip(column[1:], row[1:], strict=True))
        lines.append(f"{label:g} qid:0000000 {column[0]}:0.000 {rest}\n")
    text = np.frombuffer("".join(lines).encode(), dtype=np.uint8).copy()
    queries = np.flatnonzero(text == ord("q")) + 4
    return text, queries, np.array([line.index(".") + 1 for line in lines]) + np.cumsum([0, *map(len, lines[:-1])])


def write_text(folder: Path, m: int, d: int, entries: int) -> None:
    """The same rows again and again, each time with other queries and another first value."""
    text, queries, firsts = template(d, entries, np.random.default_rng(0))
    with open(folder / "rows.txt", "wb") as file:
        for k in range(-(-m // TEMPLATE)):
            number = 1_000_000 + (k * TEMPLATE + np.arange(TEMPLATE)) // LENGTH
            for place in range(7):
                text[queries + place] = 48 + number // 10 ** (6 - place) % 10
            for place in range(3):
                text[firsts + place] = 48 + k // 10 ** (2 - place) % 10
            file.write(text.data)


#: Runs in a process of its own: a fit from the cache under a limit, or in memory.
CHILD = """
import json, resource, sys, threading, time
import numpy as np
import linrank

folder, cache, limit, one_query, in_memory = sys.argv[1], sys.argv[2], float(sys.argv[3]), *map(int, sys.argv[4:])

def status(name):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name + ":"))

def train(scan, qid):
    return linrank.LinearRanker(n_jobs=2).fit(scan, qid=qid)

scan = linrank.scan(folder, dtype="float32", cache=cache)
for qid in (None, np.zeros(2000, dtype=int)):  # compiled and loaded
    train(scan.rows(0, 2000).load(), qid)
data = scan.load() if in_memory else scan
qid = np.zeros(data.n_rows, dtype=np.int8) if one_query else None
rest, peak, done = status("RssAnon"), [0], threading.Event()
if limit and not in_memory:
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))

def watch():
    while not done.wait(0.005):
        peak[0] = max(peak[0], status("RssAnon"))

thread = threading.Thread(target=watch, daemon=True)  # an error of the fit ends the process
thread.start()
begin, cpu = time.perf_counter(), time.process_time()
ranker = train(data, qid)
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
done.set()
thread.join()
found = {"coef": ranker.coef_.tobytes().hex(), "gap": ranker.gap_, "status": ranker.status_, "n_iter": ranker.n_iter_}
print(json.dumps({**found, "seconds": seconds, "cpu": cpu, "memory": peak[0] - rest}))
"""


def fit(folder: Path, cache: Path, limit: float, one_query: bool, in_memory: bool) -> dict[str, Any]:
    return dict(in_process(CHILD, folder, cache, limit, int(one_query), int(in_memory)))


def seconds_of_a_pass(X: Any, files: list[Path]) -> float:
    """A product X w that reads all of X from disk."""
    from linrank.engines.matrix import as_matrix

    matrix, w, out = as_matrix(X), np.ones(X.shape[1]), np.empty(X.shape[0])
    matrix.dot(w, 0, out)  # compiled
    forget(files)
    begin = time.perf_counter()
    for block in range(matrix.n_blocks):
        matrix.dot(w, block, out)
    return time.perf_counter() - begin


def answers(name: str, kind: str, m: int, d: int, entries: int, limit: float, one: bool) -> Iterator[dict[str, Any]]:
    import linrank

    with tempfile.TemporaryDirectory(prefix="linrank-disk-", dir=os.environ.get("LINRANK_BIG")) as place:
        folder, cache = Path(place) / "data", Path(place) / "cache"
        folder.mkdir()
        write_parquet(folder, m, d) if kind == "parquet" else write_text(folder, m, d, entries)
        source = sum(file.stat().st_size for file in folder.iterdir())
        begin = time.perf_counter()
        X = linrank.scan(folder, dtype="float32", cache=cache, n_jobs=2).X
        building = time.perf_counter() - begin
        entry = next(path for path in cache.iterdir() if path.is_dir())
        files = [entry / file for file in ("X.npy", "data.npy", "indices.npy") if (entry / file).exists()]
        n_bytes, m = sum(file.stat().st_size for file in files), X.shape[0]
        cat = min(seconds_of_cat(files) for _ in range(2))  # first: what is mapped and was read is not forgotten
        reading = seconds_of_a_pass(X, files)
        del X
        for one_query in (False, True) if one else (False,):
            forget(files)
            found = fit(folder, cache, limit, one_query, in_memory=False)
            other = fit(folder, cache, limit, one_query, in_memory=True)
            yield {
                "data": f"{name}, {'one query' if one_query else 'many queries'}",
                "rows": m,
                "features": d,
                "source GB": source / 1e9,
                "X GB": n_bytes / 1e9,
                "X / memory allowed": n_bytes / limit if limit else np.nan,
                "s to the cache": building,
                "MB/s": source / 1e6 / building,
                "cat s": cat,
                "pass s": reading,
                "pass / cat": reading / cat,
                "fit s": found["seconds"],
                "fit in passes": found["seconds"] / reading,
                "in memory s": other["seconds"],
                "iterations": found["n_iter"],
                "gap": found["gap"],
                "status": found["status"],
                "same bits": "yes" if found["coef"] == other["coef"] else "no",
                "MB": found["memory"] / 1e6,
                "bytes a row": max(0.0, found["memory"] - (64 << 20)) / m,
            }


#: What a fit keeps of a row: losses, and how rows are ranked.
SHAPES = {
    "many queries": (40, True),
    "one query, five grades": (0, True),
    "one query, labels that all differ": (0, False),
}
LOSSES = ("squared_hinge", "hinge", "logistic")
MEASURED = 2_000_000  # rows

ONE_FIT = """
import json, sys, threading
import numpy as np
import linrank

path, loss, length, graded = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"

def anonymous():
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))

X, y = np.load(path + "X.npy", mmap_mode="r"), np.load(path + ("grades.npy" if graded else "y.npy"), mmap_mode="r")
qid = np.load(path + "qid.npy", mmap_mode="r") if length else None
linrank.LinearRanker(loss).fit(np.array(X[:4000]), y[:4000], None if qid is None else qid[:4000])
rest, peak, done = anonymous(), [0], threading.Event()

def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], anonymous())

thread = threading.Thread(target=watch, daemon=True)
thread.start()
linrank.LinearRanker(loss).fit(X, y, qid)
done.set()
thread.join()
print(json.dumps(peak[0] - rest))
"""


def bytes_a_row() -> list[dict[str, Any]]:
    """Anonymous memory of a fit to a mapped X beyond the process at rest and a sample of 64 MB."""
    m, d, rng = MEASURED // (500 if quick() else 1), 50, np.random.default_rng(0)
    rows = []
    with tempfile.TemporaryDirectory(prefix="linrank-disk-", dir=os.environ.get("LINRANK_BIG")) as place:
        X = rng.standard_normal((m, d), dtype=np.float32)
        y = X @ rng.standard_normal(d) / np.sqrt(d) + rng.standard_normal(m)
        columns = {"X": X, "y": y, "grades": np.clip(np.round(y), -2, 2), "qid": np.arange(m) // LENGTH}
        for name, column in columns.items():
            np.save(f"{place}/{name}.npy", column)
        for shape, (length, graded) in SHAPES.items() if not quick() else [next(iter(SHAPES.items()))]:
            row: dict[str, Any] = {"rows are": shape}
            for loss in LOSSES if not quick() else LOSSES[:1]:
                arguments = [f"{place}/", loss, str(length), str(int(graded))]
                row[loss] = max(0.0, in_process(ONE_FIT, *arguments) - (64 << 20)) / m
            rows.append(row)
    return rows


def chosen() -> dict[str, tuple[str, int, int, int, float, bool]]:
    """The cases to run; of a quick check two, on few rows."""
    part = os.environ.get("LINRANK_CASES", "")
    cases = {name: case for name, case in CASES.items() if part in name}
    if not quick():
        return cases
    small = [name for name in cases if name != "dense, SVMlight"]  # two say whether it works
    return {name: (kind, m // QUICK, min(d, 2000), entries, 1e12, False)
            for name, (kind, m, d, entries, *_) in CASES.items() if name in small}  # fmt: skip


def main() -> None:
    if "LINRANK_CASES" not in os.environ:
        report("disk_memory", bytes_a_row())
    cases = chosen()
    found: dict[str, list[dict[str, Any]]] = {}
    if not quick() and (RESULTS / "disk.csv").exists():
        for row in table("disk"):
            found.setdefault(row["data"].rpartition(", ")[0], []).append(row)
    for name, case in cases.items():
        found[name] = []
        for row in answers(name, *case):
            found[name].append(row)
            print({key: row[key] for key in ("data", "fit s", "same bits", "bytes a row")}, flush=True)
    report("disk", [row for name in CASES for row in found.get(name, [])])
