"""`linrank inspect MODEL --data FILE --intervals`."""

import json

import numpy as np
import pytest
from pandas import DataFrame

from linrank import LinearRanker, load, save


@pytest.mark.filterwarnings("ignore:Only 9 queries")
def test_intervals_of_a_model(run, files):
    answer = run("inspect", files.model, "--data", files.train, "--intervals")
    assert "Only 9 queries are independent" in answer.stderr
    assert "std err" in answer.stdout
    assert "feature 4" in answer.stdout
    found = json.loads(run("inspect", files.model, "--data", files.train, "--intervals", "--json").stdout)
    exact = files.ranker.inference(*files.data["train"])
    assert [row["feature"] for row in found["weights"]] == [f"feature {j}" for j in range(1, 5)]
    np.testing.assert_allclose([row["standard_error"] for row in found["weights"]], exact.standard_errors, rtol=1e-6)
    assert (found["queries"], found["n_units"], found["df"]) == (9, 9, 8)
    some = run("inspect", files.model, "--data", files.train, "--intervals", "--json", "--feature", "feature 2").stdout
    assert [row["feature"] for row in json.loads(some)["weights"]] == ["feature 2"]


def test_columns_of_a_table_have_names(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = ["relevance,query,price,[red]age"]
    rows += [f"{rng.integers(0, 3)},{k // 5},{rng.random():.4f},{rng.random():.4f}" for k in range(300)]
    (tmp_path / "train.csv").write_text("\n".join(rows) + "\n")
    run("train", "train.csv", "--label", "relevance", "--query", "query", "-o", "model.json")
    answer = run(
        "inspect", "model.json", "--data", "train.csv", "--label", "relevance", "--query", "query", "--intervals"
    )
    assert "[red]age" in answer.stdout
    assert "valid feature names" not in answer.stderr


@pytest.mark.filterwarnings("ignore:Only 1 quer", "ignore:Only 20 rows")
def test_pairs_by_id(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"item{k},{rng.random():.4f},{rng.random():.4f}" for k in range(40)]
    (tmp_path / "items.csv").write_text("\n".join(["item,a,b", *rows]) + "\n")
    judged = [f"item{i},item{j}" for i, j in rng.integers(0, 40, (90, 2)) if i != j]
    (tmp_path / "judged.csv").write_text("\n".join(["winner,loser", *judged]) + "\n")
    told = ("--id", "item", "--pairs", "judged.csv")
    run("train", "items.csv", *told, "--loss", "logistic", "-o", "model.json")
    found = json.loads(run("inspect", "model.json", "--data", "items.csv", *told, "--intervals", "--json").stdout)
    model = load("model.json")
    pairs = [[int(name[4:]) for name in line.split(",")] for line in judged]
    X = [[float(cell) for cell in row.split(",")[1:]] for row in rows]
    exact = model.inference(DataFrame(X, columns=["a", "b"]), pairs=pairs).standard_errors
    np.testing.assert_allclose([row["standard_error"] for row in found["weights"]], exact, rtol=1e-9)


def test_what_is_refused(run, files, tmp_path):
    assert "go together" in run("inspect", files.model, "--intervals", code=2).stderr
    assert "go together" in run("inspect", files.model, "--data", files.train, code=2).stderr
    other = run("inspect", files.model, "--data", files.test, "--intervals", code=1)
    assert "give the data that it was fitted to" in other.stderr
    assert other.stdout == ""
    save(LinearRanker("hinge").fit(*files.data["train"]), tmp_path / "hinge.json")
    asked = ("inspect", tmp_path / "hinge.json", "--data", files.train, "--intervals")
    assert "use --method bootstrap" in run(*asked, code=1).stderr
    text = run(*asked, "--method", "bootstrap").stdout
    assert "bootstrap" in text
