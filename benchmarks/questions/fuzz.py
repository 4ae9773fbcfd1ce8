"""Damaged files of every format: each a right answer or a named error; crashes, hangs and silent losses are counted.

Seconds for each format: LINRANK_FUZZ_SECONDS (default 60). Seeds are those of the run's date unless LINRANK_FUZZ_SEED.
"""

from __future__ import annotations

import gzip
import io
import os
import signal
import tempfile
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np

import linrank
from linrank import LinearRanker, LinrankError
from linrank.io import read, write_parquet, write_svmlight
from linrank.io._document import loads
from linrank.testing import make_ranking, naive_svmlight
from measure import in_fresh_process, report

LIBLINEAR = b"solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 3\nbias -1\nw\n0.5 \n-0.25 \n1e-3 \n"
SVMRANK = b"""SVM-light Version V6.20
0 # kernel type
5 # highest feature index
3 # number of support vectors plus 1
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:-0.5 3:0.25 #
0.5 2:2 3:1 #
"""
INTERESTING = [
    b"nan",
    b"1e999",
    b"-",
    b":",
    b"#",
    b"\r",
    b"\n",
    b"\x00",
    b"\xff",
    b'"',
    b",",
    b"9" * 30,
    b"qid:",
    b"{",
    b"[",
]


def damaged(text: bytes, rng: np.random.Generator) -> bytes:
    """The text with one to four injuries."""
    data = bytearray(text)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(len(data) + 1))
        kind = rng.integers(6)
        if kind == 0:
            del data[place:]
        elif kind == 1 and place < len(data):
            data[place] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del data[place : place + int(rng.integers(1, 40))]
        elif kind == 3:
            data[place:place] = INTERESTING[rng.integers(len(INTERESTING))]
        elif kind == 4:
            start = int(rng.integers(len(data) + 1))
            data[place:place] = data[start : start + int(rng.integers(1, 80))]
        else:
            data[place:place] = rng.bytes(int(rng.integers(1, 20)))
    return bytes(data)


def seeds(folder: Path) -> dict[str, bytes]:
    """A whole file of each format."""
    X, y, qid = make_ranking(12, 3, 4, 3, seed=1)
    ranker = LinearRanker().fit(X, y, qid)
    linrank.save(ranker, folder / "model")
    write_svmlight(folder / "x.txt", X, y, qid, comments=[f"docid = {k}" for k in range(12)])
    text = (folder / "x.txt").read_bytes()
    write_svmlight(folder / "x.zst", X, y, qid)
    write_parquet(folder / "x.parquet", X, y, qid)
    import pyarrow.feather
    import pyarrow.parquet

    pyarrow.feather.write_feather(pyarrow.parquet.read_table(folder / "x.parquet"), folder / "x.arrow")
    table = np.column_stack([X, y, qid])
    csv = "a,b,c,label,qid\n" + "\n".join(",".join(map(repr, row)) for row in table.tolist())
    return {
        "svmlight": text,
        "gzip": gzip.compress(text),
        "zstd": (folder / "x.zst").read_bytes(),
        "csv": csv.encode(),
        "parquet": (folder / "x.parquet").read_bytes(),
        "arrow": (folder / "x.arrow").read_bytes(),
        "model": (folder / "model").read_bytes(),
        "SVMrank model": SVMRANK,
        "LIBLINEAR model": LIBLINEAR,
    }


def reader(name: str, whole: bytes, path: Path) -> Callable[[bytes], bool]:
    """A function that reads bytes, and says whether the answer is as it should be."""
    if name == "model":
        weights = loads(whole, "whole").weights.tobytes()
        return lambda text: loads(text, "fuzzed").weights.tobytes() == weights
    if name == "svmlight":
        return _svmlight_is_right

    def through_a_file(text: bytes) -> bool:
        path.write_bytes(text)
        if name.endswith("model"):
            return bool(np.all(np.isfinite(linrank.load(path).coef_)))
        kind = name if name in ("csv", "parquet", "arrow") else "svmlight"
        data = read(path, format=kind, missing="keep")
        # An archive that still looks like one and is unpacked without complaint holds all its rows.
        unpacked = name not in ("gzip", "zstd") or text[:2] != whole[:2] or data.n_rows == 12
        return not np.isinf(data.X.data if hasattr(data.X, "indptr") else data.X).any() and unpacked

    return through_a_file


def _svmlight_is_right(text: bytes) -> bool:
    rows, bad = naive_svmlight(text)
    data = read(io.BytesIO(text), dense=False)
    same = data.n_rows == len(rows) and not bad
    for k, row in enumerate(rows if same else []):
        entries = slice(data.X.indptr[k], data.X.indptr[k + 1])
        found = dict(zip(data.X.indices[entries].tolist(), data.X.data[entries].tolist(), strict=True))
        same &= found == row.features and data.y[k] == row.y
    return same


def fuzz(name: str, whole: bytes, seed: int, seconds: float) -> dict[str, Any]:
    """Read damaged files for some seconds."""
    rng = np.random.default_rng(seed)
    counts = {"files": 0, "read": 0, "named errors": 0, "other errors": 0, "wrong answers": 0, "hangs": 0}
    worst = ""

    def too_long(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, too_long)
    with tempfile.TemporaryDirectory() as folder:
        right = reader(name, whole, Path(folder) / "x")
        assert right(whole), name
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = damaged(whole, rng)
            counts["files"] += 1
            signal.alarm(20)
            try:
                kind = "read" if right(text) else "wrong answers"
            except LinrankError:
                kind = "named errors"
            except TimeoutError:
                kind = "hangs"
            except Exception as error:
                kind = "other errors"
                worst = f"{type(error).__name__}: {error}"
            signal.alarm(0)
            counts[kind] += 1
            if kind not in ("read", "named errors"):
                print(name, kind, worst, text[:200], flush=True)
    return {"format": name, **counts, "crashes": 0}


def main() -> None:
    seconds = float(os.environ.get("LINRANK_FUZZ_SECONDS", "60"))
    seed = int(os.environ.get("LINRANK_FUZZ_SEED", time.strftime("%Y%m%d")))
    with tempfile.TemporaryDirectory() as folder:
        files = seeds(Path(folder))
    rows = []
    for name, whole in files.items():
        try:
            rows.append(in_fresh_process(fuzz, name, whole, seed, seconds))
        except BrokenProcessPool:
            rows.append({"format": name, **dict.fromkeys(list(rows[0])[1:-1], 0), "crashes": 1})
    report("fuzz", rows)
