"""Rows of queries that lie apart on disk: fitted to as they lie, their order stored, or moved together first.

The rows of all queries are shuffled over the file. "stored" fits to it as it is. "moved" first copies the rows by query
to a new file and then fits to that. Each from a cold page cache (files dropped from memory before) and a warm one.
``LINRANK_BIG`` names a folder with 12 GB of room; about four minutes.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from measure import quick
from questions._disk import forget, in_process
from results import FIT, report

SOURCES = (*FIT, "data/mapped.py", "data/ranking_data.py", "data/preferences.py")

#: Rows, features, entries a row.
SHAPES = {
    "dense, rows of 0.4 kB": (6_000_000, 100, 100),
    "dense, rows of 4 kB": (600_000, 1000, 1000),
    "sparse, rows of 0.5 kB": (4_000_000, 20_000, 60),
}
LENGTH = 40  # rows of a query
PIECE = 50_000  # rows made at a time

FIT_TO = """
import json, sys, time
import numpy as np
import linrank
from linrank.data.dataset import Dataset
from linrank.data.mapped import csr

folder = sys.argv[1]

def mapped(name):
    return np.load(f"{folder}/{name}.npy", mmap_mode="r")

shape = json.load(open(f"{folder}/shape.json"))
X = mapped("X") if shape[1] == shape[2] else csr(mapped("data"), mapped("indices"), mapped("indptr"), shape[:2])
y, qid = mapped("y"), mapped("qid")
small = Dataset(X, y, qid).rows(0, 4000)
linrank.LinearRanker(n_jobs=2).fit(small.X, small.y, np.arange(4000) // 40)  # compiled and loaded
begin = time.perf_counter()
ranker = linrank.LinearRanker(n_jobs=2).fit(X, y, qid)
print(json.dumps([time.perf_counter() - begin, ranker.objective_, ranker.gap_, ranker.n_iter_]))
"""

MOVE = """
import json, sys, time
import numpy as np
from linrank.data.mapped import csr

here, there = sys.argv[1:]

def mapped(name):
    return np.load(f"{here}/{name}.npy", mmap_mode="r")

begin = time.perf_counter()
shape = json.load(open(f"{here}/shape.json"))
m, d, entries = shape
dense = d == entries
order = np.argsort(mapped("qid"), kind="stable")
kinds = {"X": (np.float32, (m, d))} if dense else {
    "data": (np.float32, (m * entries,)), "indices": (np.int32, (m * entries,))}
new = {name: np.lib.format.open_memmap(f"{there}/{name}.npy", "w+", *kind) for name, kind in kinds.items()}
old = {name: mapped(name).reshape(m, -1) for name in kinds}
for start in range(0, m, 20_000):
    rows = order[start : start + 20_000]
    for name in kinds:
        new[name].reshape(m, -1)[start : start + rows.size] = np.take(old[name], rows, axis=0)
for name in ("y", "qid"):
    np.save(f"{there}/{name}.npy", mapped(name)[order])
if not dense:
    np.save(f"{there}/indptr.npy", mapped("indptr"))
json.dump(shape, open(f"{there}/shape.json", "w"))
for array in new.values():
    array.flush()
print(json.dumps(time.perf_counter() - begin))
"""


def write(folder: Path, m: int, d: int, entries: int) -> None:
    """Rows whose queries are shuffled, piece by piece."""
    rng, dense = np.random.default_rng(0), d == entries
    w = rng.standard_normal(d) / np.sqrt(entries)
    kinds: dict[str, tuple[Any, Any]] = {"X": (np.float32, (m, d))}
    if not dense:
        kinds = {"data": (np.float32, (m * entries,)), "indices": (np.int32, (m * entries,))}
        np.save(folder / "indptr.npy", np.arange(0, m * entries + 1, entries, dtype=np.int32))
    made = {name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", *kind) for name, kind in kinds.items()}
    y = np.empty(m)
    for start in range(0, m, PIECE):
        n = min(PIECE, m - start)
        values, noise = rng.standard_normal((n, entries), dtype=np.float32), rng.standard_normal(n)
        columns = np.arange(d)
        if not dense:
            columns = np.arange(entries) * (d // entries) + rng.integers(0, d // entries, (n, entries))
            made["indices"].reshape(m, entries)[start : start + n] = columns
        made["X" if dense else "data"].reshape(m, entries)[start : start + n] = values
        y[start : start + n] = np.clip(np.round((values * w[columns]).sum(axis=1) + noise), -2, 2)
    for array in made.values():
        array.flush()
    np.save(folder / "y.npy", y)
    np.save(folder / "qid.npy", rng.permutation(np.arange(m) // LENGTH))
    (folder / "shape.json").write_text(f"[{m}, {d}, {entries}]")


def answer(name: str, m: int, d: int, entries: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="linrank-order-", dir=os.environ.get("LINRANK_BIG")) as place:
        stored, moved = Path(place) / "stored", Path(place) / "moved"
        for folder in (stored, moved):
            folder.mkdir()
        write(stored, m, d, entries)
        found: dict[str, Any] = {}
        tempers = ("warm",) if quick() else ("cold", "warm")
        for temper in tempers:
            files = [path for path in sorted(stored.glob("*.npy")) if path.stem in ("X", "data", "indices")]
            if temper == "cold":
                forget(files)
            else:
                for path in moved.iterdir():
                    path.unlink()
            found[f"copy {temper}"] = in_process(MOVE, stored, moved)
            for kind, folder in (("stored", stored), ("moved", moved)):
                if temper == "cold":
                    forget(sorted(folder.glob("*.npy")))
                found[f"{kind} {temper}"] = in_process(FIT_TO, folder)
    gap = found["stored warm"][2] + found["moved warm"][2]
    row: dict[str, object] = {
        "rows": name,
        "m": m,
        "features": d,
        "X GB": m * entries * (4 if d == entries else 8) / 1e9,
    }
    for temper in tempers:
        row |= {f"stored {temper} s": found[f"stored {temper}"][0], f"copy {temper} s": found[f"copy {temper}"]}
        row |= {f"moved {temper} s": found[f"moved {temper}"][0]}
        row[f"moved / stored {temper}"] = (found[f"copy {temper}"] + found[f"moved {temper}"][0]) / found[
            f"stored {temper}"
        ][0]
    row |= {"iterations stored": found["stored warm"][3], "iterations moved": found["moved warm"][3]}
    return row | {"within the gaps": "yes" if abs(found["stored warm"][1] - found["moved warm"][1]) <= gap else "no"}


def main() -> None:
    rows = []
    for name, (m, d, entries) in SHAPES.items():
        if quick() and name != "dense, rows of 0.4 kB":
            continue
        rows.append(answer(name, m // 500 if quick() else m, d, entries))
        print(rows[-1], flush=True)
    report("disk_order", rows)
