"""The command line on a pseudo-terminal of 80 and of 120 columns: what is painted while it works, and what stays."""

import os
import pty
import re
import select
import subprocess
import sys

import pytest

from linrank import write_svmlight
from linrank.testing import make_ranking

#: Bars come at once, so that small files show what large ones do.
EAGER = """
import linrank._bars as bars
bars.AFTER, bars.TICK = 0.0, 0.005
old = bars.Bar.__init__
def new(self, *args, **options):
    old(self, *args, **options)
    self.after = 0.0
bars.Bar.__init__ = new
from linrank.cli import main
main()
"""
#: What a terminal is told: colours and the like; a line that is erased.
COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def drive(*words: str, columns: int, code: str = EAGER, **environment: str) -> tuple[list[str], list[str]]:
    """Lines that were painted over, and those that stayed, of a command on a terminal."""
    main, other = pty.openpty()
    told = os.environ | {"COLUMNS": str(columns), "LINES": "40", "TERM": "xterm-256color"} | environment
    process = subprocess.Popen([sys.executable, "-c", code, *words], stdin=other, stdout=other, stderr=other, env=told)
    os.close(other)
    shown = b""
    while process.poll() is None or select.select([main], [], [], 0.1)[0]:
        if select.select([main], [], [], 0.1)[0]:
            try:
                shown += os.read(main, 65536)
            except OSError:
                break
    os.close(main)
    assert process.wait(60) == 0, shown
    painted, stayed = [], []
    for line in shown.decode().replace("\r\n", "\n").split("\n"):
        *over, last = line.replace("\r\x1b[2K", "\x1b[2K").split("\x1b[2K")
        painted += [COLOUR.sub("", text) for text in over if text]
        stayed.append(COLOUR.sub("", last))
    return painted, stayed


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file on which some iterations and folds can be seen."""
    path = tmp_path_factory.mktemp("large") / "a_file_of_rows_with_quite_a_long_name.txt"
    X, y, qid = make_ranking(3000, 10, 40, 4)
    write_svmlight(path, X, y, qid)
    return str(path)


@pytest.mark.parametrize("columns", [80, 120])
def test_train_shows_what_it_does_and_leaves_a_clean_screen(large, tmp_path, columns):
    words = ["train", large, "-o", str(tmp_path / "m.json"), "--loss", "hinge", "--valid", large]
    painted, stayed = drive(*words, columns=columns)
    assert painted[0] == "linrank train: starting"
    assert any(
        text.startswith("training") and "iteration" in text and "gap" in text and "%" in text for text in painted
    )
    assert any(text.startswith("reading a_f") and "%" in text and " kB" in text for text in painted)
    assert all(len(text) < columns for text in painted)
    report = [text for text in stayed if text.startswith("  ")]
    assert all(len(text) <= columns for text in report)
    assert [text.split()[0] for text in report][-5:-2] == ["pairwise_accuracy", "ndcg@10", "map"]
    assert not any("starting" in text or "training  " in text for text in stayed)


@pytest.mark.parametrize("columns", [80, 120])
def test_tune_shows_folds_and_fits_with_rate_and_time_left(large, tmp_path, columns):
    painted, stayed = drive("tune", large, "--alphas", "6", "--loss", "hinge", columns=columns)
    folds = [text for text in painted if text.startswith("5 folds x")]
    assert any("%" in text and "fits" in text and "left" in text for text in folds)
    assert all(len(text) < columns for text in painted)
    assert sum("<- chosen" in text for text in stayed) == 1
    assert any("─●─" in text for text in stayed)


def test_writing_shows_rows_and_reading_back_nothing_is_lost(large, tmp_path):
    painted, stayed = drive("convert", large, str(tmp_path / "rows.csv"), columns=100)
    assert any(text.startswith("writing") and "of 3,000 rows" in text for text in painted)
    assert "".join(stayed).strip() == ""


def test_a_first_use_on_a_terminal_says_that_it_compiles(tmp_path):
    code = "from linrank.kernels.pairs import pair_weights\n" + EAGER  # a kernel that demo needs, so numba is loaded
    painted, stayed = drive("demo", columns=80, code=code, NUMBA_CACHE_DIR=str(tmp_path))
    compiling = [text for text in painted if text.startswith("compiling once")]
    assert any(re.search(r"kernel \d+, smooth\.", text) for text in compiling)
    assert any("held-out pairs in the right order" in text for text in stayed)


def test_quiet_shows_nothing_but_the_result(large, tmp_path):
    painted, stayed = drive("train", large, "-o", str(tmp_path / "m.json"), "-q", columns=80)
    assert painted == []
    assert any("certified gap" in text for text in stayed)
