"""A newcomer's large SVMlight file, 1 GB (`examples/commands/large.sh`): CPU seconds, peak memory, what was said of it.

With LINRANK_BEFORE naming the `src` of another revision, the same of that one. The peak is the system's count of what
the process held; "said" is the peak in the report or, where that is not measured, features and training of the line on
memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from measure import quick
from results import report

SOURCES = ("cli/**/*.py", "io/**/*.py", "kernels/**/*.py", "rankers/*.py")

MEGABYTES = (100, 1000)
RUN = """
import sys
from linrank.cli import cli
try:
    cli.main(sys.argv[1:], "linrank")
except SystemExit as done:
    assert not done.code
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(1024 * int(line.split()[1]), file=sys.stderr)
"""


def write(path: Path, n_bytes: float) -> None:
    """Rows of 46 features with four digits, 20 rows a query, as LETOR has them; a block of them again and again."""
    rng = np.random.default_rng(0)
    X = rng.random((4000, 46))
    y = np.floor(3 * np.argsort(np.argsort(X[:, 0] + X[:, 1] + 0.3 * rng.random(4000))) / 4000)
    rows = [" ".join(f"{j}:{x:.4f}" for j, x in enumerate(row, 1)) for row in X]
    written, query = 0, 0
    with open(path, "w") as file:
        while written < n_bytes:
            query += 200
            lines = [f"{y[k]:.0f} qid:{query + k // 20} {row}\n" for k, row in enumerate(rows)]
            written += file.write("".join(lines))


def measure(path: Path, source: str | None) -> dict[str, float]:
    """One training in a process of its own, with kernels that were compiled before."""
    environment = os.environ | ({} if source is None else {"PYTHONPATH": source})
    command = [sys.executable, "-c", RUN, "train", str(path), "-o", f"{path}.json", "--json", "--float32"]
    begin, cpu = time.perf_counter(), os.times()
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    used = os.times()
    told = json.loads(done.stdout)
    data = told["data"]
    said = told.get("peak_bytes", data["bytes_of_features"] + data["bytes_of_training"])
    return {
        "s": time.perf_counter() - begin,
        "CPU s": used.children_user + used.children_system - cpu.children_user - cpu.children_system,
        "features MB": data["bytes_of_features"] / 1e6,
        "peak MB": int(done.stderr.split()[-1]) / 1e6,
        "said MB": said / 1e6,
    }


def main() -> None:
    before = os.environ.get("LINRANK_BEFORE")
    revisions = {"now": None, **({"before": before} if before else {})}
    rows = []
    for megabytes in (1,) if quick() else MEGABYTES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.txt"
            write(path, 1e6 * megabytes)
            for name, source in revisions.items():
                if megabytes == MEGABYTES[0]:
                    measure(path, source)  # compiles
                rows.append({"file MB": megabytes, "revision": name, **measure(path, source)})
    report("large_file", rows)
