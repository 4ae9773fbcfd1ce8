"""The memory that `train` reports is what it took."""

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from linrank.cli._memory import peak_bytes, training_bytes
from linrank.rankers.linear import LinearRanker

TRAIN = """
import sys, json, tracemalloc, io, contextlib
from linrank.cli import cli
from linrank.cli._memory import peak_bytes
import linrank.cli._trainer, linrank.cli._judge, linrank.cli._describe
def run(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try: cli.main(list(words), "linrank")
        except SystemExit as done: assert not done.code
    return json.loads(out.getvalue())
run("train", sys.argv[1], "-o", sys.argv[3], "--json")  # what is compiled and imported is here
before = peak_bytes()
tracemalloc.start()
report = run("train", sys.argv[2], "-o", sys.argv[3], "--json")
counted = tracemalloc.get_traced_memory()[1]
print(json.dumps([before, counted, report["peak_bytes"], report["data"]["bytes_at_peak"]]))
"""


@pytest.mark.parametrize("dense", [True, False])
def test_the_peak_that_train_reports_is_that_of_the_bytes_allocated(tmp_path, dense):
    rng = np.random.default_rng(0)
    small, large = (tmp_path / name for name in ("small.txt", "large.txt"))
    for path, n in ((small, 200), (large, 150_000)):
        with open(path, "w") as file:
            for k in range(n):
                columns = range(1, 21) if dense else sorted(rng.choice(2000, 20, replace=False) + 1)
                file.write(f"{k % 3} qid:{k // 20} " + " ".join(f"{c}:{(k * c) % 97}" for c in columns) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, str(small), str(large), str(tmp_path / "m.json")],
        capture_output=True, text=True, env=os.environ | {"PYTHONTRACEMALLOC": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, counted, reported, while_reading = json.loads(done.stdout.splitlines()[-1])
    assert before <= while_reading <= reported
    grown = reported - before
    assert 0.5 * counted < grown < 1.5 * counted + 30e6, (counted, grown)  # pages never written are counted, not taken


@pytest.mark.parametrize(("queries", "loss"), [(600, "hinge"), (1, "hinge"), (600, "logistic")])
def test_training_takes_no_more_than_the_line_says(queries, loss):
    rng, rows = np.random.default_rng(0), 60_000
    X, y = rng.standard_normal((rows, 20)), np.floor(5 * rng.random(rows))
    qid = np.arange(rows) % queries
    LinearRanker(loss).fit(X[:2000], y[:2000], qid[:2000])
    tracemalloc.start()
    LinearRanker(loss, max_iter=30).fit(X, y, qid)
    counted = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    said = training_bytes(rows, 20, rows // queries, X.nbytes, False)
    assert counted <= said <= 4 * counted, (counted, said)


def test_the_system_tells_the_peak():
    before = peak_bytes()
    if before is None:
        pytest.skip("the system does not count")
    held = np.ones(40_000_000)
    assert peak_bytes() >= min(before, held.nbytes)
