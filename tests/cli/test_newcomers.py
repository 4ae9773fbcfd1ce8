"""A newcomer with each of four files gets a model, a metric and an export, by options that all stand in --help."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linrank import write_svmlight
from linrank.testing import make_ranking

SCRIPTS = Path(__file__).parent.parent.parent / "examples" / "commands"


def letor():
    X, y, qid = make_ranking(900, 6, 60, 3)
    for name, here in (("train", qid < 20), ("vali", (qid >= 20) & (qid < 40)), ("test", qid >= 40)):
        comments = [f"docid = {name}-{k}" for k in range(here.sum())]
        write_svmlight(f"{name}.txt", X[here], y[here], qid[here], comments=comments)


def table():
    X, y, qid = make_ranking(600, 3, 40, 2)
    for name, here in (("searches", qid < 20), ("later", qid >= 20)):
        rows = ["search_id,bought,title,price,clicks,age"]
        for k in np.flatnonzero(here):
            price = "" if k % 50 == 7 else f"{X[k, 0]:.3f}"
            rows.append(f"{qid[k]},{int(y[k])},womens jacket {k},{price},{X[k, 1]:.3f},{X[k, 2]:.3f}")
        Path(f"{name}.csv").write_text("\n".join(rows) + "\n")


def pairs():
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    E, w = rng.standard_normal((80, 16)).astype(np.float32), rng.standard_normal(16)
    ids = [f"item-{k}" for k in range(80)]
    pq.write_table(pa.table({"item": ids, "embedding": list(E)}), "items.parquet")
    for name, n in (("judged", 400), ("held_out", 100)):
        a, b = rng.integers(0, 80, (2, n))
        a, b = a[a != b], b[a != b]
        wins = E[a] @ w > E[b] @ w
        lines = [f"{ids[i]},{ids[j]}" if win else f"{ids[j]},{ids[i]}" for i, j, win in zip(a, b, wins, strict=True)]
        Path(f"{name}.csv").write_text("winner,loser\n" + "\n".join(lines) + "\n")


def large(n_rows=20_000):
    for name, n in (("large", n_rows), ("test", 500)):
        X, y, qid = make_ranking(n, 40, max(10, n // 50), 5)
        write_svmlight(f"{name}.txt", np.round(X, 4), y, qid)


FILES = {"letor": letor, "table": table, "pairs": pairs, "large": large}
EXPORTS = {"letor": "ranklib.txt", "table": "score.sql", "pairs": "score.py", "large": "solr.json"}


def run_script(name):
    program = f"linrank() {{ {shlex.quote(sys.executable)} -c 'from linrank.cli import main; main()' \"$@\"; }}\n"
    text = program + (SCRIPTS / f"{name}.sh").read_text()
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, env=os.environ | {"COLUMNS": "80"})


@pytest.mark.parametrize("name", ["letor", "table", "pairs", pytest.param("large", marks=pytest.mark.slow)])
def test_a_newcomer_gets_a_model_a_metric_and_an_export(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FILES[name]()
    done = run_script(name)
    assert done.returncode == 0, done.stderr
    assert Path("model.json").stat().st_size > 0
    assert Path(EXPORTS[name]).stat().st_size > 0
    values = re.findall(r"(?:ndcg@\d+|map|mrr|pairwise_accuracy)\s+(0\.\d+)", done.stdout)
    assert values
    assert all(float(value) > 0.5 for value in values)
    assert max(map(len, done.stdout.splitlines())) <= 80 or name == "table"  # the export's own lines may be longer


@pytest.mark.parametrize("name", FILES)
def test_every_option_of_the_scripts_stands_in_help(run, name):
    commands = re.findall(r"^linrank (\w+) (.*)$", (SCRIPTS / f"{name}.sh").read_text(), re.MULTILINE)
    assert {"evaluate", "export"} <= {command for command, _ in commands}
    for command, words in commands:
        shown = run(command, "--help").stdout
        for option in re.findall(r"(?:^| )(--?[a-z][a-z0-9-]*)", words):
            assert re.search(rf"(?:^|[ ,/])\s*{option}\b", shown, re.MULTILINE), (command, option)
