"""The command line as a stranger meets it: real processes, pipes, a pseudo-terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys

import pytest

from linrank.io import Dataset, write_csv, write_parquet, write_svmlight
from linrank.testing import make_ranking

COMMAND = [sys.executable, "-c", "from linrank.cli import main; main()"]
#: What a terminal is told: colours, cursor movements, hidden cursor.
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def linrank(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=os.environ | environment, timeout=120
    )


def in_terminal(*arguments: str, columns: int = 80, before: str = "", **environment: str) -> str:
    """All that a command shows on a pseudo-terminal; `before` is run first, in the same process."""
    sizes = {"COLUMNS": str(columns), "LINES": "24", "TERM": "xterm-256color"}
    main, other = pty.openpty()
    process = subprocess.Popen([*COMMAND[:2], before + COMMAND[2], *arguments], stdin=other, stdout=other, stderr=other,
                               env=os.environ | sizes | environment)  # fmt: skip
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
    return shown.decode()


def test_demo_trains_evaluates_and_shows(run):
    in_ascii = linrank("demo", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert in_ascii.returncode == 0, in_ascii.stderr
    for done, bar in ((run("demo"), "█"), (in_ascii, "#")):
        model, single = (float(x) for x in re.findall(r"([\d.]+)%", done.stdout)[:2])
        assert model > single > 60
        assert "certified" in done.stdout
        assert bar * 10 in done.stdout
        assert "LinearRanker" in done.stdout
        assert "iteration" in done.stderr
        assert all(len(line.rstrip()) <= 80 for line in done.stdout.splitlines())


def test_errors_are_one_sentence(run):
    assert run("demo", "--alpha", "-1", code=1).stderr == "Error: --alpha -1.0 must be a finite number above 0.\n"
    done = linrank("predict", "none.json", "none.txt", "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_usage_errors_and_version():
    assert linrank("nonsense").returncode == 2
    assert linrank("--version").stdout.startswith("linrank, version ")


def test_help_imports_nothing_heavy():
    """That of `export` names the targets, whose modules import numpy."""
    code = (
        "import sys; from linrank.cli import COMMANDS, cli\n"
        "for name in ('', *(set(COMMANDS) - {'export'}), 'export'):\n"
        "    if name == 'export': assert 'numpy' not in sys.modules\n"
        "    try: cli.main([*name.split(), '--help'])\n"
        "    except SystemExit as done: assert done.code == 0\n"
        "print([m for m in ('numba', 'sklearn', 'scipy', 'rich', 'dask', 'distributed') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_predict_does_without_scikit_learn(files):
    code = (
        "import sys; from linrank.cli import cli\n"
        "try: cli.main(['predict', *sys.argv[1:]])\n"
        "except SystemExit as done: assert done.code == 0\n"
        "print([m for m in ('sklearn', 'pandas', 'scipy.stats', 'rich', 'dask') if m in sys.modules])"
    )
    words = [sys.executable, "-c", code, files.model, files.test]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1] == "[]"


def test_training_on_a_terminal(files, tmp_path):
    options = ["--valid", files.vali, "--solver", "bundle", "--loss", "hinge", "--tol", "1e-6"]
    shown = in_terminal("train", files.train, "-o", str(tmp_path / "m.json"), *options)
    assert "\x1b[1m" in shown  # titles are bold
    text = ESCAPES.sub("", shown)
    assert "iteration" in text
    assert "gap" in text
    assert "pairwise_accuracy" in text
    fixed = [line for part in text.split("\n") for line in part.split("\r") if files.folder.name not in line]
    assert max(len(line.rstrip()) for line in fixed) <= 80


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("utf-8", marks=pytest.mark.slow)])
def test_a_path_drawn_without_colour(files, encoding):
    shown = in_terminal("tune", files.train, "--alphas", "5", NO_COLOR="1", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    colours = re.findall(r"\x1b\[[0-9;]*3[0-9](?:;[0-9;]*)?m", shown)
    assert colours == []
    assert ("──●──" if encoding == "utf-8" else "--o--") in shown
    assert "<- chosen" in shown
    assert encoding == "utf-8" or shown.isascii()
    assert all(len(ESCAPES.sub("", line).rstrip()) <= 80 for line in re.split(r"[\r\n]+", shown))


def test_quiet_off_a_terminal_and_silent_pipes(files, tmp_path):
    done = linrank("train", files.train, "-o", str(tmp_path / "m.json"), "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["model"]["status"] == "converged"


def test_a_closed_pipe_is_no_error(files, tmp_path):
    big = tmp_path / "big.txt"
    with open(files.test) as file:
        text = re.sub(r"#.*", "", file.read())
    big.write_text(text * 400)
    process = subprocess.Popen(
        [*COMMAND, "predict", files.model, str(big)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    float(process.stdout.readline())
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) in (0, 1)


@pytest.mark.parametrize("command", ["predict", pytest.param("evaluate", marks=pytest.mark.slow)])
def test_a_full_disk(files, command):
    words = [command, files.model, files.test]
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert (
        done.stderr == "Error: Standard output cannot be written, as the disk is full: free some space and try again.\n"
    )


def test_a_full_disk_below_a_file(run, files):
    done = run("predict", files.model, files.test, "-o", "/dev/full", code=1)
    assert done.stderr == "Error: /dev/full cannot be written, as the disk is full: free some space and try again.\n"


def test_control_c(files, tmp_path):
    output = tmp_path / "m.json"
    output.write_text("before")
    process = subprocess.Popen(
        [*COMMAND, "train", files.train, "-o", str(output), "--solver", "sgd", "--steps", "500000000", "-v"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the tests may run in the background
    )  # fmt: skip
    try:
        while "objective" not in process.stderr.readline():  # it has read the data, compiled what it needs, and begun
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert "Interrupted: files are as they were before." in said.splitlines()
    assert "Traceback" not in said
    assert process.returncode == 130
    assert output.read_text() == "before"
    assert os.listdir(tmp_path) == ["m.json"]


LIMITED = """
import os, resource, sys
from linrank.cli import cli
try:
    cli.main(sys.argv[1:])  # all is compiled now, and the compiler's own files are written
except SystemExit as done:
    assert not done.code
os.remove("m" if os.path.exists("m") else "out")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
cli.main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "words",
    ["convert data.txt out", pytest.param("train data.txt -o m --stream --checkpoint out", marks=pytest.mark.slow)],
)
def test_a_file_that_the_system_cuts_short_is_named(tmp_path, words):
    """It refuses bytes beyond 1000, as it does on a full disk."""
    row = " ".join(f"{j}:0.{j}" for j in range(1, 200))
    (tmp_path / "data.txt").write_text("".join(f"{k % 3} qid:1 {row}{k}\n" for k in range(60)))
    code = [sys.executable, "-c", LIMITED, *words.split()]
    done = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.stderr.endswith("Error: out cannot be used (File too large): check it and try again.\n")
    assert done.returncode == 1
    assert os.listdir(tmp_path) == ["data.txt"]


ENDLESS = """
import sys
from linrank.cli import cli
from linrank.rankers.training import Training
solve = Training.path
def endless(self, *given):
    sys.stderr.write("begun\\n")  # in one piece: print writes the end of the line apart
    while True:
        solve(self, *given)
Training.path = endless
cli.main(sys.argv[1:])
"""


@pytest.mark.parametrize("jobs", ["2", pytest.param("1", marks=pytest.mark.slow)])
def test_control_c_in_tune_does_not_wait_for_the_folds(files, tmp_path, jobs):
    """The folds would go on for ever; the process ends all the same, and says so."""
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, "tune", files.train, "-o", str(tmp_path / "m.json"), "--jobs", jobs],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        for _ in range(int(jobs)):
            assert process.stderr.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert said == "Interrupted: files are as they were before.\n"
    assert process.returncode == 130
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("ending", "columns"), [("txt", 80), ("txt.gz", 120), ("csv", 80), ("parquet", 80)])
def test_reading_shows_a_bar_of_bytes_on_a_terminal(tmp_path, ending, columns):
    X, y, qid = make_ranking(3000, 5, 100, 3, seed=0)
    path = tmp_path / f"x.{ending}"
    if ending == "csv":
        write_csv(path, Dataset(X, y, qid))
    else:
        (write_parquet if ending == "parquet" else write_svmlight)(path, X, y, qid)
    at_once = "import linrank._bars as b, linrank.io._texts as t; b.AFTER = 0.0; t.BLOCK_BYTES = 1 << 16;"
    shown = in_terminal("inspect", str(path), columns=columns, before=at_once)
    bars = [line for line in re.split(r"[\r\n]", ESCAPES.sub("", shown)) if line.startswith("reading")]
    assert bars, shown
    assert all(len(bar) <= columns for bar in bars)
    assert any(re.search(r"%  [\d.]+ (kB|MB|bytes) of [\d.]+ (kB|MB|bytes)", bar) for bar in bars), bars
    quiet = in_terminal("inspect", str(path), columns=columns, before="import linrank._bars as b; b.AFTER = 60.0;")
    assert "reading x" not in quiet  # it took less than that
