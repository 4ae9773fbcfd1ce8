"""Explicit pairs on the command line: items of a Parquet file with embeddings, judged two by two."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from linrank import LinearRanker, LinearRankerCV, load, write_svmlight


@pytest.fixture
def items(tmp_path):
    """items.parquet with ids and embeddings, pairs.csv by id, rows.txt by row; what they hold."""
    rng = np.random.default_rng(0)
    E, w = rng.normal(size=(40, 3)), rng.normal(size=3)
    pairs = np.array([rng.choice(40, 2, replace=False) for _ in range(150)])
    turned = (E[pairs[:, 0]] - E[pairs[:, 1]]) @ w + rng.normal(size=150) < 0
    pairs[turned] = pairs[turned, ::-1]
    table = pyarrow.table({"item_id": [f"sku {k}" for k in range(40)], "e": E.tolist()})
    pyarrow.parquet.write_table(table, tmp_path / "items.parquet")
    named = "".join(f"sku {i},sku {j}\n" for i, j in pairs)
    (tmp_path / "pairs.csv").write_text("winner,loser\n" + named)
    (tmp_path / "rows.txt").write_text("".join(f"{i + 1} {j + 1}\n" for i, j in pairs))
    write_svmlight(tmp_path / "items.txt", E, np.zeros(40))
    return E, pairs


def test_train_on_pairs_by_the_id_column(run, items):
    E, pairs = items
    result = run("train", "items.parquet", "--pairs", "pairs.csv", "-o", "m.json", "--loss", "logistic")
    np.testing.assert_array_equal(load("m.json").coef_, LinearRanker("logistic").fit(E, pairs=pairs).coef_)
    assert load("m.json").feature_names_in_.tolist() == ["e_0", "e_1", "e_2"]
    assert "none found" not in result.stderr  # no pairs but those given are compared


def test_the_report_of_a_pairs_only_training_counts_the_pairs_given(run, items):
    _, pairs = items
    n = len(np.unique(pairs, axis=0))
    text = run("train", "items.parquet", "--pairs", "pairs.csv", "-o", "m.json").stdout
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.split()[:1] in (["pairs"], ["labels"])]
    assert lines == [["labels", "none"], ["pairs", str(n)]]
    assert "levels" not in text
    found = json.loads(run("train", "items.parquet", "--pairs", "pairs.csv", "-o", "m.json", "--json").stdout)
    assert found["data"]["pairs"] == n
    text = run("inspect", "items.parquet").stdout
    assert "labels" in text
    assert "pairs" not in text


def test_evaluate_by_pairs(run, items):
    E, pairs = items
    run("train", "items.parquet", "--pairs", "pairs.csv", "-o", "m.json", "--loss", "logistic")
    found = json.loads(run("evaluate", "m.json", "items.parquet", "--pairs", "pairs.csv", "--json").stdout)
    assert (found["rows"], found["pairs"]) == (40, 150)
    assert found["metrics"]["pairwise_accuracy"] == LinearRanker("logistic").fit(E, pairs=pairs).score(E, pairs=pairs)
    assert 0 < found["metrics"]["log_loss"] < np.log(2)
    assert "40 rows, 150 pairs" in run("evaluate", "m.json", "items.parquet", "--pairs", "pairs.csv").stdout
    by_row = run("train", "items.txt", "--pairs", "rows.txt", "-o", "n.json", "--loss", "logistic", code=0)
    assert "pairs" in by_row.stdout
    assert "pairs" in run("evaluate", "n.json", "items.txt", "--pairs", "rows.txt").stdout
    assert "log_loss" in run("evaluate", "m.json", "items.parquet", "--pairs", "pairs.csv", "-m", "map", code=2).stderr


def test_tune_by_pairs_folds_over_them(run, items):
    E, pairs = items
    words = ["tune", "items.parquet", "--pairs", "pairs.csv", "--loss", "logistic", "--metric", "log_loss"]
    found = json.loads(run(*words, "--alphas", "1,0.1,0.01", "--cv", "4", "--json", "-o", "m.json").stdout)
    expected = LinearRankerCV([1, 0.1, 0.01], cv=4, loss="logistic", metric="log_loss").fit(E, pairs=pairs)
    assert found["path"]["mean_score"] == expected.cv_results_["mean_score"].tolist()
    assert found["chosen"] == expected.alpha_
    assert "do not go together" in run(*words, "--solver", "sgd", code=2).stderr


def test_a_file_of_pairs_that_is_wrong_is_told_by_its_line(run, items, tmp_path):
    for text, message in (
        ("sku 1,sku 99\n", "bad.csv, line 1: 'sku 99' is none of the data's ids"),
        ("sku 1,sku 2\nalone\n", "bad.csv, line 2: expected winner, loser"),
        ("sku 1,sku 2,heavy\n", "bad.csv, line 1: expected winner, loser"),
        ("", "bad.csv is empty"),
    ):
        (tmp_path / "bad.csv").write_text(text)
        assert message in run("train", "items.parquet", "--pairs", "bad.csv", "-o", "m.json", code=1).stderr


def test_an_svmrank_model_shows_its_weights_once(run, items):
    run("train", "items.parquet", "--pairs", "pairs.csv", "-o", "m.json")
    run("export", "m.json", "--to", "svmrank", "-o", "m.svmrank")
    header = next(line for line in run("inspect", "m.svmrank").stdout.splitlines() if line.startswith("feature"))
    assert header.split() == ["feature", "weight"]
