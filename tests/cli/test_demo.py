"""`linrank demo` as a stranger runs it."""

import os
import re
import subprocess
import sys

import pytest


def linrank(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from linrank.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=120)


@pytest.mark.parametrize(("encoding", "bar"), [("utf-8", "█"), ("ascii", "#")])
def test_demo_trains_evaluates_and_shows(encoding, bar):
    done = linrank("demo", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    model, single = (float(x) for x in re.findall(r"([\d.]+)%", done.stdout)[:2])
    assert model > single > 60
    assert "certified" in done.stdout
    assert bar * 10 in done.stdout
    assert "LinearRanker" in done.stdout
    assert "iteration" in done.stderr
    assert all(len(line.rstrip()) <= 80 for line in done.stdout.splitlines())


def test_errors_are_one_sentence():
    done = linrank("demo", "--alpha", "-1")
    assert done.returncode == 1
    assert "alpha=-1.0 must be a finite number above 0." in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in linrank("--debug", "demo", "--alpha", "-1").stderr


def test_usage_errors_and_help():
    assert linrank("nonsense").returncode == 2
    assert "demo" in linrank("--help").stdout
    assert linrank("--version").stdout.startswith("linrank, version ")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from linrank.cli import cli; print([m for m in ('numba', 'sklearn', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
