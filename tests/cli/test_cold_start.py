"""The first use, with nothing compiled; and the second, with nothing left to compile."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linrank import kernels

#: Runs commands in one process, and prints how many kernels each of them compiled.
COUNT = """
import json, sys
from linrank.cli import cli
found = []
for words in json.loads(sys.argv[1]):
    from linrank.kernels._compiling import compiled
    before = len(compiled.names)
    try:
        cli.main(words, "linrank")
    except SystemExit as done:
        assert not done.code, words
    found.append(compiled.names[before:])
print("\\n" + json.dumps(found))
"""


#: Modules of the parser's kernels.
TEXT = tuple(f"{path.stem}." for path in (Path(kernels.__file__).parent / "text").glob("[a-z]*.py"))


def compiled_by(*commands: list[str], cache: object = None) -> tuple[list[list[str]], str]:
    """Kernels that each command compiles, and what stood on standard error."""
    environment = os.environ if cache is None else os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", COUNT, json.dumps(commands)], capture_output=True, text=True, env=environment, check=True
    )
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_a_cold_train_compiles_so_many_kernels_and_no_more(files, tmp_path):
    """So that a first use does not take longer unnoticed: raise the number only for what it is worth."""
    train = ["train", files.train, "-o", str(tmp_path / "m.json"), "--valid", files.vali]
    (names,), said = compiled_by(train, cache=tmp_path / "cache")
    assert len([name for name in names if name.startswith(TEXT)]) <= 16, names
    assert len([name for name in names if not name.startswith(TEXT)]) <= 26, names
    assert said.startswith("Compiling kernels once")
    assert compiled_by(train, cache=tmp_path / "cache")[0] == [[]]


def test_a_cold_demo_compiles_so_many_kernels_and_no_more(tmp_path):
    (names,), said = compiled_by(["demo"], cache=tmp_path)
    assert len(names) <= 24, names
    assert said.startswith("Compiling kernels once")
    assert compiled_by(["demo"], cache=tmp_path)[0] == [[]]


@pytest.mark.slow
def test_compile_leaves_nothing_to_compile(files, tmp_path):
    model, output = files.model, str(tmp_path / "m.json")
    rest = [
        ["demo"],
        ["train", files.train, "-o", output, "--valid", files.vali],
        ["train", files.train, "-o", output, "--loss", "hinge", "--float32"],
        ["train", files.train, "-o", output, "--loss", "logistic", "-j", "2"],
        ["train", files.train, "-o", output, "--solver", "sgd"],
        ["train", files.train, "-o", output, "--stream"],
        ["evaluate", model, files.test, "-m", "ndcg@1,3,5,map,mrr,err,recall@5,pairwise_accuracy"],
        ["predict", model, files.test, "-o", str(tmp_path / "scores.txt")],
        ["tune", files.train, "--alphas", "3"],
        ["compare", model, output, files.test],
        ["explain", model, files.test],
        ["inspect", files.train],
    ]
    found, _ = compiled_by(["compile", "--quiet"], *rest)
    assert found[1:] == [[]] * len(rest)
