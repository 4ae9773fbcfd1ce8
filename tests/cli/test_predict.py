"""`linrank predict`, `evaluate` and `compare`."""

import csv
import json

import numpy as np
import pytest

import linrank
from linrank import metrics, write_svmlight
from linrank.cli import _files
from linrank.io import read, write_csv

pytestmark = pytest.mark.smoke


@pytest.fixture(params=[False, True], ids=["one chunk", "many chunks"])
def chunked(request, monkeypatch):
    """Chunks of a few rows each: shorter than a query."""
    if request.param:
        monkeypatch.setattr(_files, "CHUNK_BYTES", 200)
        monkeypatch.setattr("linrank.io.svmlight.logger.warning", lambda *words: None)  # of queries that are split


def scores_of(text):
    return np.array([float(line) for line in text.splitlines()])


def test_scores_are_those_of_the_library(run, files, chunked):
    expected = files.ranker.predict(files.data["test"][0])
    np.testing.assert_allclose(scores_of(run("predict", files.model, files.test).stdout), expected, rtol=1e-12)
    with open(files.test, "rb") as file:
        piped = run("predict", files.model, "-", stdin=file.read())
    np.testing.assert_allclose(scores_of(piped.stdout), expected, rtol=1e-12)
    run("predict", files.model, files.test, "-o", "scores.txt")
    np.testing.assert_allclose(np.loadtxt("scores.txt"), expected, rtol=1e-12)


def test_a_run_is_ranked_within_queries(run, files, chunked):
    X, _, qid = files.data["test"]
    words = [
        line.split() for line in run("predict", files.model, files.test, "--rank", "--tag", "me").stdout.splitlines()
    ]
    assert len(words) == len(X)
    scores, rank = files.ranker.predict(X), files.ranker.rank(X, qid)
    expected = {f"test-{k}": (str(qid[k]), rank[k], scores[k]) for k in range(len(X))}
    for query, q0, docid, position, score, tag in words:
        assert (q0, tag) == ("Q0", "me")
        assert (query, int(position)) == expected[docid][:2]
        assert float(score) == pytest.approx(expected[docid][2], rel=1e-12)
    assert [w[0] for w in words] == [str(q) for q in qid]  # queries in the file's order


def test_ids_of_a_run(run, files, chunked, tmp_path):
    X, y, qid = (part[:6] for part in files.data["test"])
    write_svmlight(tmp_path / "plain.txt", X, y, qid)
    found = run("predict", files.model, "plain.txt", "--rank").stdout
    assert sorted(line.split()[2] for line in found.splitlines()) == [str(k) for k in range(1, 7)]
    write_svmlight(tmp_path / "blanks.txt", X, y, qid, comments=["a title with blanks", *"bcdef"])
    assert " a_title_with_blanks " in run("predict", files.model, "blanks.txt", "--rank").stdout
    write_svmlight(tmp_path / "mixed.txt", X[:3], y[:3], [1, 2, 1])
    assert "sort mixed.txt by its queries" in run("predict", files.model, "mixed.txt", "--rank", code=1).stderr
    for tag in ("a b", "", "\x1b[31m", "\udcff"):
        assert "--tag" in run("predict", files.model, "plain.txt", "--rank", "--tag", tag, code=2).stderr


def test_tables_are_matched_by_name(run, files, tmp_path):
    data = read(files.train)
    write_csv(tmp_path / "train.csv", data)
    run("train", "train.csv", "-o", "named.json", "-q")
    table = read("train.csv")
    shuffled = linrank.io.Dataset(table.X[:, ::-1], table.y, table.qid, None, None, table.feature_names[::-1])
    write_csv("shuffled.csv", shuffled)
    expected = scores_of(run("predict", "named.json", "train.csv").stdout)
    assert np.array_equal(scores_of(run("predict", "named.json", "shuffled.csv").stdout), expected)
    np.testing.assert_allclose(expected, files.ranker.predict(data.X), rtol=1e-9)
    found = run("predict", "named.json", "shuffled.csv", "--rank").stdout.splitlines()
    queries = [line.split()[0] for line in found]
    assert queries == sorted(queries, key=queries.index)  # each query in one piece
    write_csv("few.csv", linrank.io.Dataset(table.X[:, :2], table.y, table.qid, None, None, table.feature_names[:2]))
    assert "no column 'f3'" in run("predict", "named.json", "few.csv", code=1).stderr
    assert "few.csv has 2 features" in run("predict", files.model, "few.csv", code=1).stderr


def test_rows_of_scattered_queries_in_a_table(run, files):
    X, y, qid = files.data["test"]
    order = np.random.default_rng(0).permutation(len(y))
    write_csv("mixed.csv", linrank.io.Dataset(X[order], y[order], qid[order], None, None, None))
    found = [line.split() for line in run("predict", files.model, "mixed.csv", "--rank").stdout.splitlines()]
    positions = [int(words[3]) for words in found]
    assert positions == [k for q in dict.fromkeys(qid[order].tolist()) for k in range(1, np.sum(qid == q) + 1)]


def test_evaluate_is_what_the_metrics_say(run, files, chunked):
    X, y, qid = files.data["test"]
    found = json.loads(run("evaluate", files.model, files.test, "--json").stdout)
    assert (found["rows"], found["queries"]) == (len(y), len(np.unique(qid)))
    scores = files.ranker.predict(X)
    assert list(found["metrics"]) == ["pairwise_accuracy", "ndcg@10", "map", "mrr"]
    for name, value in found["metrics"].items():
        assert value == pytest.approx(metrics.parse(name)(y, scores, qid))
    text = run("evaluate", files.model, files.test, "-m", "ndcg@3", "-m", "auc", "--threshold", "2").stdout
    assert f"{metrics.ndcg(y, scores, qid, k=3):.4f}" in text
    assert f"{metrics.auc(y, scores, qid, threshold=2):.4f}" in text


def test_evaluate_by_presets(run, files, chunked):
    X, y, qid = files.data["test"]
    scores, docid = files.ranker.predict(X), [f"test-{k}" for k in range(len(y))]
    found = json.loads(run("evaluate", files.model, files.test, "-m", "map", "--preset", "trec", "--json").stdout)
    assert found["metrics"]["map"] == pytest.approx(
        metrics.average_precision(y, scores, qid, preset="trec", docid=docid)
    )


def test_values_of_each_query(run, files, chunked):
    X, y, qid = files.data["test"]
    run(
        "evaluate",
        files.model,
        files.test,
        "-m",
        "ndcg@5",
        "-m",
        "auc",
        "--threshold",
        "3",
        "--per-query",
        "values.csv",
    )
    with open("values.csv") as file:
        rows = list(csv.DictReader(file))
    expected = metrics.ndcg(y, files.ranker.predict(X), qid, k=5, per_query=True)
    assert [row["qid"] for row in rows] == [str(q) for q in np.unique(qid)]
    np.testing.assert_allclose([float(row["ndcg@5"]) for row in rows], expected)
    onto_output = run("evaluate", files.model, files.test, "-m", "ndcg@5", "--per-query", "-").stdout
    assert onto_output.splitlines()[0] == "qid,ndcg@5"


def test_labels_that_are_not_grades(run, files):
    X, y, qid = files.data["test"]
    write_svmlight("real.txt", X, y - 0.5, qid)
    found = json.loads(run("evaluate", files.model, "real.txt", "--json").stdout)["metrics"]
    assert list(found) == ["pairwise_accuracy", "kendall_tau"]
    write_svmlight("equal.txt", X, np.zeros(len(y)), qid)
    result = run("evaluate", files.model, "equal.txt", "-m", "pairwise_accuracy", "-m", "ndcg", "--json")
    assert set(json.loads(result.stdout)["metrics"].values()) == {None}
    assert "Warning: " in result.stderr
    assert "not defined" in run("evaluate", files.model, "equal.txt", "-m", "pairwise_accuracy").stdout


def test_side_files_are_read_whole(run, files):
    X, y, qid = files.data["test"]
    write_svmlight("side.txt", X, y)
    with open("side.txt.query", "w") as file:
        file.writelines(f"{n}\n" for n in np.unique(qid, return_counts=True)[1])
    found = json.loads(run("evaluate", files.model, "side.txt", "-m", "ndcg", "--json").stdout)
    assert found["metrics"]["ndcg"] == pytest.approx(metrics.ndcg(y, files.ranker.predict(X), qid))


def test_compare(run, files):
    X, y, qid = files.data["test"]
    run("train", files.train, "-o", "other.json", "--alpha", "10")
    found = json.loads(run("compare", files.model, "other.json", files.test, "-m", "ndcg@5", "--json").stdout)
    other = linrank.load("other.json")
    expected = linrank.compare(y, files.ranker.predict(X), other.predict(X), qid, "ndcg@5")
    assert found["p_value"] == pytest.approx(expected.p_value)
    assert found["difference"] == pytest.approx(expected.difference)
    text = run("compare", files.model, "other.json", files.test, "-m", "map", "--preset", "trec").stdout
    assert "better in" in text
    assert "A is" in text


def test_compare_models_of_different_features(run, files):
    run("convert", files.test, "test.csv")
    run("train", "test.csv", "-o", "two.json", "--drop", "f1", "--drop", "f2")
    run("train", "test.csv", "-o", "four.json")
    found = json.loads(run("compare", "two.json", "four.json", "test.csv", "--json", "-m", "pairwise_accuracy").stdout)
    assert found["mean_a"] < found["mean_b"]
    assert "different features" in run("compare", "two.json", "four.json", "-", "--format", "csv", code=1).stderr


GRAPH = "1<0,2<1,3<2:0.5"  # against the order of the grades


def test_a_model_of_a_preference_graph_is_judged_by_it(run, files):
    X, y, qid = files.data["test"]
    report = json.loads(
        run("train", files.train, "-o", "graph.json", "--preferences", GRAPH, "--valid", files.test, "--json",
            "-m", "wmw").stdout
    )  # fmt: skip
    ranker = linrank.load("graph.json")
    own = ranker.score(X, y, qid)
    assert report["validation"]["metrics"]["wmw"] == pytest.approx(own)
    found = json.loads(run("evaluate", "graph.json", files.test, "--json").stdout)
    assert found["metrics"]["pairwise_accuracy"] == pytest.approx(own)
    assert found["preferences"] == [[1, 0, 1], [2, 1, 1], [3, 2, 0.5]]
    text = run("evaluate", "graph.json", files.test).stdout
    assert "1<0, 2<1, 3<2:0.5" in text
    assert "as trained" in text
    assert "full" in run("evaluate", files.model, files.test).stdout
    assert "preferences" not in run("evaluate", "graph.json", files.test, "-m", "map").stdout
    shown = run("train", files.train, "-o", "graph.json", "--preferences", "chain", "--valid", files.test).stdout
    assert "chain" in shown.split("test.txt")[1]


def test_preferences_and_ties_of_an_evaluation(run, files):
    X, y, qid = files.data["test"]
    scores = files.ranker.predict(X)

    def found(*options):
        return json.loads(run("evaluate", files.model, files.test, "--json", *options).stdout)["metrics"]

    graph = [(0, 1), (1, 3, 0.5)]
    right = metrics.pairwise_accuracy(y, scores, qid, preferences=graph)
    assert found("--preferences", "0<1,1<3:0.5")["pairwise_accuracy"] == pytest.approx(right)
    X = np.sign(X)
    write_svmlight("tied.txt", X, y, qid)
    scores = files.ranker.predict(X)
    tied = json.loads(
        run("evaluate", files.model, "tied.txt", "-m", "pairwise_error", "-m", "ndcg", "--json",
            "--ties", "correct", "--ties", "input").stdout
    )["metrics"]  # fmt: skip
    assert tied["pairwise_error"] == pytest.approx(metrics.pairwise_error(y, scores, qid, ties="correct"))
    assert tied["pairwise_error"] < metrics.pairwise_error(y, scores, qid)
    assert tied["ndcg"] == pytest.approx(metrics.ndcg(y, scores, qid, ties="input"))
    by_id = json.loads(run("evaluate", files.model, files.test, "-m", "map", "--ties", "docid", "--json").stdout)
    docid = [f"test-{k}" for k in range(len(y))]
    right = metrics.average_precision(y, files.ranker.predict(files.data["test"][0]), qid, ties="docid", docid=docid)
    assert by_id["metrics"]["map"] == pytest.approx(right)
    none = run("evaluate", files.model, files.test, "-m", "ndcg", "--ties", "correct", code=2).stderr
    assert "--ties correct" in none
    twice = run("evaluate", files.model, files.test, "--ties", "correct", "--ties", "half", code=2).stderr
    assert "--ties" in twice
    none = run("evaluate", files.model, files.test, "-m", "ndcg", "--preferences", "chain", code=2).stderr
    assert "--preferences" in none


def test_compare_by_preferences_and_ties(run, files):
    X, y, qid = files.data["test"]
    for name, alpha in (("a", "0.001"), ("b", "10")):
        run("train", files.train, "-o", f"{name}.json", "--preferences", "chain", "--alpha", alpha)
    a, b = (linrank.load(f"{name}.json").predict(X) for name in "ab")
    call = ("compare", "a.json", "b.json", files.test, "-m", "pairwise_error")
    found = json.loads(run(*call, "--json").stdout)
    right = linrank.compare(y, a, b, qid, "pairwise_error", preferences="chain")
    assert found["mean_a"] == pytest.approx(right.mean_a)
    assert found["preferences"] == "chain"
    assert "chain" in run(*call).stdout
    found = json.loads(run(*call, "--preferences", "full", "--ties", "correct", "--json").stdout)
    right = linrank.compare(y, a, b, qid, "pairwise_error", ties="correct")
    assert found["mean_b"] == pytest.approx(right.mean_b)
    other = ("compare", "a.json", files.model, files.test, "-m", "wmw")
    assert "--preferences" in run(*other, code=1).stderr  # trained on other preferences: say by which
    assert "full" in run(*other, "--preferences", "full").stdout
    assert run("compare", "a.json", files.model, files.test, "-m", "map").stdout
