"""P-SWX in Triton: run by the interpreter through the engine, compiled for two architectures, mutants caught."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linrank import RankingData
from linrank.losses import LOSSES
from linrank.testing import make_ranking

pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
pytest.importorskip("triton", reason="Triton is not installed: pip install triton")
pytestmark = pytest.mark.torch

from linrank.engines.torch import pairs  # noqa: E402
from linrank.engines.torch.engine import TorchEngine  # noqa: E402

SCRIPT = Path(__file__).with_name("triton_process.py")


def run(*args, interpreted=True):
    environment = {**os.environ, "TRITON_INTERPRET": "1" if interpreted else "0"}
    return subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), *args],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_the_engine_keeps_its_contract_through_the_kernels():
    names = ["one pair", "queries of one row", "queries without pairs", "row weights", "pairs at the margin"]
    names += ["real utilities", "an offset of a million", "stored as float32 C"]
    done = run("interpret", "float64", *names)
    assert done.returncode == 0, done.stderr
    evaluated, multiplied = map(int, done.stdout.split())
    assert evaluated >= 40 * len(names)
    assert multiplied >= 40 * len(names)


def test_the_same_at_scores_in_float32():
    done = run("interpret", "float32", "queries of one row", "row weights")
    assert done.returncode == 0, done.stderr
    evaluated, multiplied = map(int, done.stdout.split())
    assert evaluated >= 80
    assert multiplied >= 80


def test_the_kernels_without_a_change():
    done = run("mutant", "z < m", "z < m")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("z < m", "z <= m"),
        ("level_j > level_i", "level_j >= level_i"),
        ("v + j, mask=real_j, other=0.0", "v + j"),
        ("mask=real_i)", "mask=real_i | True)"),
    ],
)
def test_mutants_are_caught(old, new):
    done = run("mutant", old, new)
    assert done.returncode < 0 or "AssertionError" in done.stderr  # stores beyond the end may end the process


@pytest.mark.parametrize("kind", ["fp64", "fp32"])
@pytest.mark.parametrize("architecture", ["80", "90"])
def test_kernels_compile(architecture, kind):
    done = run("compile", architecture, kind, interpreted=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 7


def test_without_cuda_or_the_interpreter_sums_go_by_sorting(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    X, y, qid = make_ranking(60, 3, 3, 3)
    before = dict(pairs.launches)
    with TorchEngine(RankingData(X, y, qid), "torch:cpu") as engine:
        engine.evaluate(LOSSES["squared_hinge"], engine.scores(np.ones(3)))
        assert not pairs.fits(LOSSES["squared_hinge"], engine.layout)
    assert pairs.launches == before
