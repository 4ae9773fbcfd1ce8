"""`linrank inspect`, `convert`, `export` and `explain`."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import scipy.sparse as sp

import linrank
from linrank import AUCClassifier, LinearRanker, write_svmlight
from linrank.cli._describe import columns, describe
from linrank.export import TARGETS
from linrank.io import Dataset, read
from linrank.testing import enumerate_pairs

pytestmark = pytest.mark.smoke


def test_inspect_data(run, files):
    text = run("inspect", files.train).stdout
    found = json.loads(run("inspect", files.train, "--json").stdout)
    _, y, qid = files.data["train"]
    assert found["pairs"] == len(enumerate_pairs(y, qid).c)
    assert found["longest_query"] == np.bincount(qid).max()
    assert f"{found['pairs']:,}" in text
    assert found["kind"] == "data"


def test_counts_of_data():
    X = np.array([[1.0, 0, np.nan, 3], [1, 2, np.nan, 3], [1, 0, 5, 4]])
    for matrix in (X, sp.csr_matrix(X)):
        facts = describe(Dataset(matrix, np.array([0.0, 1, 1]), np.array(["a", "a", "b"])))
        assert facts.constant_columns == ["1", "3"]
        assert facts.missing_values == 2
        assert (facts.queries, facts.queries_without_pairs, facts.pairs) == (2, 1, 1)
    constant, missing = columns(sp.csr_matrix(np.array([[0.0, 1, 2], [0, 1, 0]])))
    assert (constant.tolist(), missing) == ([0, 1], 0)
    nothing = describe(Dataset(np.ones((2, 1)), np.zeros(2), feature_names=["x"]))
    assert (nothing.pairs, nothing.queries_without_pairs, nothing.constant_columns) == (0, 1, ["x"])
    many = describe(Dataset(np.ones((20, 1)), np.arange(20.0)))
    assert (many.levels, many.n_levels) == (None, 20)


def test_inspect_models(run, files):
    text = run("inspect", files.model, "--top", "2").stdout
    assert "squared_hinge" in text
    assert "and 2 more" in text
    found = json.loads(run("inspect", files.model, "--json").stdout)
    assert [entry["weight"] for entry in found["weights"]] == sorted(
        files.ranker.coef_, key=lambda w: -abs(w * files.ranker.scale_[files.ranker.coef_.tolist().index(w)])
    )
    run("export", files.model, "--to", "svmrank", "-o", "svm.dat")
    assert "LinearRanker" in run("inspect", "svm.dat").stdout


def test_a_table_is_data_whatever_it_begins_with(run, tmp_path):
    (tmp_path / "x.csv").write_text("{a,label\n1,0\n2,1\n")
    assert json.loads(run("inspect", "x.csv", "--json").stdout)["kind"] == "data"


@pytest.mark.parametrize("ending", ["txt.gz", "parquet", "csv", "tsv", "csv.zst"])
def test_convert_keeps_everything(run, files, ending):
    run("convert", files.train, f"there.{ending}")
    run("convert", f"there.{ending}", "back.txt")
    first, back = read(files.train), read("back.txt")
    assert np.array_equal(first.X, back.X)
    assert np.array_equal(first.y, back.y)
    assert np.array_equal(first.qid, back.qid)
    assert [text.strip() for text in first.comments] == [text.strip() for text in back.comments]


def test_convert_to_standard_output_and_models(run, files):
    text = run("convert", files.train, "-").stdout
    with open(files.train) as file:
        assert text == file.read()
    run("export", files.model, "--to", "liblinear", "-o", "linear.model")
    run("convert", "linear.model", "model.json")
    assert np.array_equal(linrank.load("model.json").coef_, files.ranker.coef_)
    assert "name one" in run("convert", "model.json", "-", code=2).stderr
    assert "parquet" in run("convert", files.train, "x.arrow", code=2).stderr


def test_convert_holes_weights_and_names(run, tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:x cost:2 1:nan 2:1\n0 qid:x 1:2 2:1\n")
    run("convert", "a.txt", "a.csv")
    assert (tmp_path / "a.csv").read_text() == "label,qid,weight,f1,f2\n1,x,2,,1.0\n0,x,1,2.0,1.0\n"
    back = read("a.csv", missing="keep")
    assert np.isnan(back.X[0, 0])
    assert back.sample_weight.tolist() == [2.0, 1.0]
    (tmp_path / "b.csv").write_text("y,label,qid\n1,2,3\n4,5,6\n")
    assert "different names" in run("convert", "b.csv", "c.csv", "--label", "y", "--query", "", code=1).stderr


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_export_and_verify(run, files, target):
    result = run("export", files.model, "--to", target, "-o", "out", "--verify", files.test)
    assert f"Verified: {len(files.data['test'][1])} rows score the same" in result.stderr
    assert result.stdout == ""
    if target in ("solr", "elasticsearch", "opensearch"):
        assert "Lucene refuses negative scores: use --offset auto" in result.stderr
    if target != "onnx":
        assert run("export", files.model, "--to", target).stdout == Path("out").read_text()


def test_export_with_an_offset(run, files):
    result = run("export", files.model, "--to", "solr", "--offset", "auto", "--verify", files.test)
    weights = json.loads(result.stdout)["params"]["weights"]
    assert weights["linrank_offset"] == pytest.approx(-files.ranker.predict(files.data["test"][0]).min(), rel=1e-4)
    assert "no place for an offset" in result.stderr
    assert "Lucene" not in result.stderr
    found = json.loads(run("export", files.model, "--to", "vespa", "--offset", "2.5", "-o", "v", "--json").stdout)
    assert (found["offset"], found["verification"]) == (2.5, None)
    for options in (["--offset", "auto"], ["--offset", "x"], ["--json"]):
        run("export", files.model, "--to", "solr", *options, code=2)


def test_export_options_reach_the_target(run, files):
    text = run("export", files.model, "--to", "sql", "--table", "products", "--column", "relevance").stdout
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE products (f1, f2, f3, f4)")
    connection.executemany("INSERT INTO products VALUES (?, ?, ?, ?)", files.data["test"][0].tolist())
    cursor = connection.execute(text)
    assert [column[0] for column in cursor.description][-1] == "relevance"
    found = [row[-1] for row in cursor]
    connection.close()
    np.testing.assert_allclose(found, files.ranker.predict(files.data["test"][0]), rtol=1e-12)
    solr = json.loads(run("export", files.model, "--to", "solr", "--name", "m", "--store", "s").stdout)
    assert (solr["name"], solr["store"]) == ("m", "s")
    run("export", files.model, "--to", "onnx", "--dtype", "float64", "-o", "m.onnx")
    session = onnxruntime.InferenceSession("m.onnx")
    (scores,) = session.run(None, {"X": files.data["test"][0]})
    np.testing.assert_allclose(scores.ravel(), files.ranker.predict(files.data["test"][0]), rtol=1e-12)


def test_export_of_named_features_and_means(run, tmp_path):
    (tmp_path / "t.csv").write_text("label,qid,price in EUR,stars\n1,1,2,\n0,1,3,4\n2,1,1,5\n")
    run("train", "t.csv", "-o", "m.json", "--missing", "mean")
    assert '"price in EUR"' in run("export", "m.json", "--to", "sql", "--verify", "t.csv").stdout
    assert "cannot take the name 'price in EUR'" in run("export", "m.json", "--to", "solr", code=1).stderr
    assert "takes a missing value for 0" in run("export", "m.json", "--to", "ranklib", "--verify", "t.csv").stderr


def test_explain(run, files):
    X, _, qid = files.data["test"]
    here = np.flatnonzero(qid == qid[-1])
    best, second = here[np.argsort(-files.ranker.predict(X[here]))][:2]
    result = run("explain", files.model, files.test, "--query", qid[-1], "--json")
    found = json.loads(result.stdout)
    assert (found["a"]["id"], found["b"]["id"]) == (f"test-{best}", f"test-{second}")
    expected = files.ranker.explain(X[best], X[second])
    assert found["difference"] == pytest.approx(expected.difference)
    assert [entry["feature"] for entry in found["features"]] == list(expected.names)
    text = run("explain", files.model, files.test, "--query", qid[-1], "--above", f"test-{second}").stdout
    assert f"a: test-{second}" in text
    assert "position 2 of" in text
    last = run("explain", files.model, files.test, "--above", "test-1", "--below", "test-0", "--top", "1").stdout
    assert "3 more" in last
    assert "has no query 99" in run("explain", files.model, files.test, "--query", "99", code=1).stderr
    assert "no row 'x'" in run("explain", files.model, files.test, "--above", "x", code=1).stderr


def test_explain_names_and_single_rows(run, tmp_path):
    (tmp_path / "t.csv").write_text("label,qid,id,price,stars\n1,a,x,2,3\n0,a,y,3,4\n2,b,z,1,5\n")
    run("train", "t.csv", "-o", "m.json")
    text = run("explain", "m.json", "t.csv").stdout
    assert "price" in text
    assert "a: x" in text
    assert "one row only" in run("explain", "m.json", "t.csv", "--query", "b", code=1).stderr
    assert "a: z" in run("explain", "m.json", "t.csv", "--query-column", "", "--above", "z").stdout


def test_classifiers_and_cross_validated_models(run, files, tmp_path):
    X, y, _ = files.data["train"]
    linrank.save(AUCClassifier().fit(X, y > 1), tmp_path / "auc.json")
    write_svmlight(tmp_path / "one.txt", X, y > 1)
    found = json.loads(run("evaluate", "auc.json", "one.txt", "-m", "auc", "--json").stdout)
    assert found["metrics"]["auc"] > 0.8
    run("export", "auc.json", "--to", "sql", "--verify", "one.txt")
    run("explain", "auc.json", "one.txt")
    ranker = LinearRanker(missing="zero").fit(X, y)
    linrank.save(ranker, tmp_path / "zero.json")
    assert "zero" in run("inspect", "zero.json").stdout
