"""Files to run commands on, and a runner that keeps standard output and error apart."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner, Result

from linrank import LinearRanker, _bars, save, write_svmlight
from linrank.cli import cli
from linrank.testing import make_ranking


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> SimpleNamespace:
    """train, vali, test: rows of whole queries, with document ids; model: fitted to train."""
    folder = tmp_path_factory.mktemp("files")
    X, y, qid = make_ranking(300, 4, 15, 4, seed=1)
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    parts = {"train": qid < 9, "vali": (qid >= 9) & (qid < 12), "test": qid >= 12}
    found = SimpleNamespace(folder=folder, data={})
    for name, here in parts.items():
        comments = [f"docid = {name}-{k} inc = 1" for k in range(int(here.sum()))]
        path = folder / f"{name}.txt"
        write_svmlight(path, X[here], y[here], qid[here], comments=comments)
        setattr(found, name, str(path))
        found.data[name] = (X[here], y[here], qid[here])
    found.ranker = LinearRanker().fit(*found.data["train"])
    found.model = str(folder / "model.json")
    save(found.ranker, found.model)
    return found


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command line in an empty folder; returns its result, after checking the exit code."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_bars, "WHILE", math.inf)  # a kernel that is compiled now, on a busy machine, says nothing

    def call(*arguments: object, code: int = 0, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)
        assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr, result.exception)
        assert "Traceback" not in result.stderr
        return result

    return call


def lines(path: str | Path) -> list[str]:
    return Path(path).read_text().splitlines()
