"""Training from disk in a quarter of the memory that X would take: the small version of ``benchmarks/run.py disk``."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of private memory are Linux's own")

ROWS, FEATURES, ENTRIES = 80_000, 400, 200

CHILD = """
import json, resource, sys
import numpy as np
import linrank
from linrank.data import mapped, parts

folder, allowed, one_query = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1"
parts.MAX_BYTES = mapped.IN_MEMORY = 1 << 22  # of a sample: 64 MB would be half of this X
scan = linrank.scan(folder, dtype="float32", dense="sparse" not in folder, cache=folder + "-cache")
some = scan.rows(0, 500)
for qid in (None, np.zeros(500)):  # compiled and loaded
    linrank.LinearRanker(n_jobs=2).fit(some, qid=qid)
whole = scan.load()
qid = np.zeros(whole.n_rows) if one_query else None
expected = linrank.LinearRanker(n_jobs=2).fit(whole, qid=qid)
del whole
with open("/proc/self/status") as lines:
    now = next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmData:"))
resource.setrlimit(resource.RLIMIT_DATA, (now + allowed, now + allowed))
try:
    np.ones(3 * allowed // 8)  # what is more than allowed is refused
    refused = False
except MemoryError:
    refused = True
found = linrank.LinearRanker(n_jobs=2).fit(scan, qid=qid)
scores = found.predict(scan)
bits = np.array_equal(found.coef_, expected.coef_) and np.array_equal(scores, expected.predict(scan))
print(json.dumps({"refused": refused, "same": bool(bits), "status": found.status_, "gap": found.gap_}))
"""


def write_dense(folder):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, FEATURES), dtype=np.float32)
    y = np.clip(np.round(X[:, :9].sum(axis=1) / 3 + rng.standard_normal(ROWS)), -2, 2)
    for k in range(4):
        rows = slice(k * ROWS // 4, (k + 1) * ROWS // 4)
        columns = {"label": y[rows], "qid": np.arange(rows.start, rows.stop) // 30}
        table = pa.table(columns | {f"f{j}": np.ascontiguousarray(X[rows, j]) for j in range(FEATURES)})
        pa.parquet.write_table(table, folder / f"{k}.parquet", compression="none", use_dictionary=False)
    return X.nbytes


def write_sparse(folder):
    """The same rows of text again and again, with other queries."""
    rng = np.random.default_rng(0)
    n, d = 1000, 5000
    columns = np.sort(rng.permuted(np.tile(np.arange(d), (n, 1)), axis=1)[:, :ENTRIES], axis=1) + 1
    values = rng.integers(1, 99, (n, ENTRIES))
    label = np.round(values[:, 0] / 30 + rng.standard_normal(n)).clip(0, 3).astype(int)
    rest = [" ".join(f"{j}:0.{v:02d}" for j, v in zip(c, x, strict=True)) for c, x in zip(columns, values, strict=True)]
    with open(folder / "rows.txt", "w") as file:
        for k in range(ROWS // n):
            file.writelines(
                f"{y} qid:{k * 40 + row // 25} {text} {d + 1}:0.{k + 1:03d}\n"
                for row, (y, text) in enumerate(zip(label, rest, strict=True))
            )
    return ROWS * ENTRIES * 8


@pytest.mark.parametrize("one_query", [False, True])
@pytest.mark.parametrize("kind", ["dense", pytest.param("sparse", marks=pytest.mark.slow)])
def test_a_fit_in_a_quarter_of_the_memory_has_the_bits_of_memory(tmp_path, kind, one_query):
    folder = tmp_path / kind
    folder.mkdir()
    n_bytes = write_dense(folder) if kind == "dense" else write_sparse(folder)
    arguments = [str(folder), str(n_bytes // 4), str(int(one_query))]
    found = subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    answer = json.loads(found.stdout)
    assert answer == {"refused": True, "same": True, "status": "converged", "gap": answer["gap"]}
