"""Start-up of the command line: --help, and predict on a small file, beside Python and the import of scikit-learn."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from linrank import LinearRanker, save, write_svmlight
from linrank.testing import make_ranking
from measure import best_times, few
from results import report

SOURCES = ("__init__.py", "cli/**/*.py", "io/**/*.py", "kernels/**/*.py", "rankers/predictor.py")

MAIN = "from linrank.cli import main; main()"


def process(*arguments: str) -> Callable[[], object]:
    """A call of Python that waits for its end."""
    return lambda: subprocess.run([sys.executable, "-c", *arguments], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "test.txt", Path(folder) / "model.json"
        X, y, qid = make_ranking(1000, 20, 50, 4)
        write_svmlight(data, X, y, qid)
        save(LinearRanker().fit(X, y, qid), model)
        contestants = {
            "python": process("pass"),
            "import scikit-learn": process("import sklearn.base"),
            "linrank --help": process(MAIN, "--help"),
            "linrank train --help": process(MAIN, "train", "--help"),
            "linrank predict, 1000 rows": process(MAIN, "predict", str(model), str(data)),
            "linrank evaluate, 1000 rows": process(MAIN, "evaluate", str(model), str(data)),
        }
        for run in few(list(contestants.values()), 0):  # kernels compiled, files in the system's cache
            run()
        times = best_times(contestants, 10, time.perf_counter)
    unit = times["import scikit-learn"]
    rows = [{"what": name, "s": seconds, "imports of scikit-learn": seconds / unit} for name, seconds in times.items()]
    report("startup", rows)
