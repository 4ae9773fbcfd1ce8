"""Start-up: help, commands on a small file with kernels compiled and with none, the first fit of a process.

CPU seconds of whole processes, of the system too. With LINRANK_BEFORE naming the `src` of another revision, the same of
that one, in turns.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from linrank import LinearRanker, save, write_svmlight
from linrank.testing import make_ranking
from measure import quick
from results import report

SOURCES = ("__init__.py", "cli/**/*.py", "io/**/*.py", "kernels/**/*.py", "rankers/*.py", "_bars.py")

MAIN = "from linrank.cli import main; main()"
FIT = """
import sys, time
import numpy as np, sklearn.base, scipy.sparse
X, y, qid = np.load(sys.argv[1])["X"], *(np.load(sys.argv[1])[name] for name in ("y", "qid"))
from linrank import LinearRanker
times = [time.process_time()]
for _ in range(2):
    LinearRanker().fit(X, y, qid)
    times.append(time.process_time())
print(times[1] - times[0], times[2] - times[1])
"""


class Revision:
    """Sources, and the folder that their kernels are kept in."""

    def __init__(self, source: str | None, cache: Path) -> None:
        self.environment = os.environ | ({} if quick() else {"NUMBA_CACHE_DIR": str(cache)})
        if source is not None:
            self.environment["PYTHONPATH"] = source

    def cpu(self, *arguments: str, cold: bool = False) -> float:
        """CPU seconds of a process; `cold`: with no kernel compiled before."""
        before = _children()
        with tempfile.TemporaryDirectory() as empty:
            environment = self.environment | ({"NUMBA_CACHE_DIR": empty} if cold else {})
            subprocess.run([sys.executable, "-c", *arguments], check=True, env=environment, capture_output=True)
        return _children() - before

    def fits(self, path: Path) -> tuple[float, float]:
        """CPU seconds of the first and the second fit of a process, scikit-learn and linrank imported before."""
        done = subprocess.run(
            [sys.executable, "-c", FIT, str(path)], check=True, env=self.environment, capture_output=True
        )
        first, second = map(float, done.stdout.split())
        return first, second


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, model, arrays = folder / "test.txt", folder / "model.json", folder / "rows.npz"
        X, y, qid = make_ranking(1000, 20, 50, 4)
        write_svmlight(data, X, y, qid)
        np.savez(arrays, X=X, y=y, qid=qid)
        save(LinearRanker().fit(X, y, qid), model)
        train = (MAIN, "train", str(data), "-o", str(folder / "new.json"), "--valid", str(data))
        commands = {
            "python": ("pass",),
            "import scikit-learn": ("import sklearn.base",),
            "import linrank, LinearRanker": ("from linrank import LinearRanker",),
            "linrank --help": (MAIN, "--help"),
            "linrank train --help": (MAIN, "train", "--help"),
            "linrank predict, 1000 rows": (MAIN, "predict", str(model), str(data)),
            "linrank evaluate, 1000 rows": (MAIN, "evaluate", str(model), str(data)),
            "linrank train, 1000 rows": train,
            "linrank demo": (MAIN, "demo"),
        }
        if quick():
            commands = {what: commands[what] for what in ("python", "import scikit-learn", "linrank --help")}
        cold = {} if quick() else {"linrank train, cold": train, "linrank demo, cold": (MAIN, "demo")}
        before = os.environ.get("LINRANK_BEFORE")
        revisions = {"CPU s": Revision(None, folder / "cache")}
        if before:
            revisions["before: CPU s"] = Revision(before, folder / "cache of before")
        rows = _measure(revisions, commands, cold, arrays)
    unit = next(row["CPU s"] for row in rows if row["what"] == "import scikit-learn")
    report("startup", [{**row, "imports of scikit-learn": row["CPU s"] / unit} for row in rows])


def _measure(
    revisions: dict[str, Revision],
    commands: dict[str, tuple[str, ...]],
    cold: dict[str, tuple[str, ...]],
    arrays: Path,
) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    for number in range(1 if quick() else 6):  # the first compiles
        for column, revision in revisions.items():
            fits = dict(zip(("first fit of a process", "second fit of a process"), revision.fits(arrays), strict=True))
            times = {what: revision.cpu(*arguments) for what, arguments in commands.items()} | fits
            for what, seconds in times.items():
                kept = rows.setdefault(what, {"what": what}).get(column, np.inf)
                rows[what][column] = seconds if number == 0 else min(kept, seconds)  # type: ignore[type-var]
    for _ in range(2):
        for column, revision in revisions.items():
            for what, arguments in cold.items():
                kept = rows.setdefault(what, {"what": what}).get(column, np.inf)
                rows[what][column] = min(kept, revision.cpu(*arguments, cold=True))  # type: ignore[type-var]
    return list(rows.values())
