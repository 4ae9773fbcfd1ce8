"""What `evaluate` and `compare` take beside models: scores, TREC runs with qrels, weights by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from linrank import metrics


def told(run, *words):
    return json.loads(run(*words, "--json").stdout)


def write_runs(folder, seed=0):
    """Judgements of some documents, two runs that hold some of them and others, and both as dictionaries."""
    rng = np.random.default_rng(seed)
    qrels, runs = {}, [{}, {}]
    for q in range(12):
        qrels[f"q{q}"] = {f"d{d}": int(rng.integers(0, 3)) for d in rng.choice(30, 15, replace=False)}
        for found in runs:
            scores = np.round(rng.normal(size=18), 1)  # with ties
            found[f"q{q}"] = {f"d{d}": float(s) for d, s in zip(rng.choice(30, 18, replace=False), scores, strict=True)}
    qrels["q0"] = dict.fromkeys(qrels["q0"], 0)  # nothing is relevant
    folder = Path(folder)
    lines = [f"{q} 0 {d} {grade}" for q, found in qrels.items() for d, grade in found.items()]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    for name, found in zip("ab", runs, strict=True):
        rows = [(q, d, s) for q, docs in found.items() for d, s in docs.items()]
        (folder / f"{name}.txt").write_text("".join(f"{q} Q0 {d} 0 {s!r} tag\n" for q, d, s in rows))
    return qrels, runs


def test_a_file_of_scores_is_judged_as_the_model_that_wrote_it(run, files):
    run("predict", files.model, files.test, "-o", "scores.txt")
    run("predict", files.model, files.test, "--rank", "-o", "run.txt")
    expected = told(run, "evaluate", files.model, files.test)["metrics"]
    assert told(run, "evaluate", "scores.txt", files.test)["metrics"] == expected
    assert told(run, "evaluate", "run.txt", files.test)["metrics"] == expected


def test_scores_of_other_rows_are_refused(run, files):
    n = len(files.data["test"][1])
    Path("few.txt").write_text("1.0\n" * (n - 1))
    Path("many.txt").write_text("1.0\n" * (n + 1))
    Path("words.txt").write_text("1.0\nx\n")
    assert "has more rows" in run("evaluate", "few.txt", files.test, code=1).stderr
    assert f"{n + 1} scores for the {n} rows" in run("evaluate", "many.txt", files.test, code=1).stderr
    assert "words.txt, line 2" in run("evaluate", "words.txt", files.test, code=1).stderr
    Path("neither.txt").write_text("a b c\n")
    assert "neither a model" in run("evaluate", "neither.txt", files.test, code=1).stderr


def test_a_run_with_qrels_gives_the_numbers_of_trec_eval(run):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, runs = write_runs(".")
    names = {
        "ndcg": "ndcg", "ndcg@5": "ndcg_cut_5", "ndcg@1000": "ndcg_cut_1000", "map": "map", "map@10": "map_cut_10",
        "mrr": "recip_rank", "precision@5": "P_5", "precision@30": "P_30", "recall@10": "recall_10",
        "recall@1000": "recall_1000", "hit@1": "success_1",
    }  # fmt: skip
    judge = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures)
    theirs = judge.evaluate(runs[0])
    words = [word for name in names for word in ("-m", name)]
    ours = told(run, "evaluate", "a.txt", "qrels.txt", "--preset", "trec", *words)["metrics"]
    for name, measure in names.items():
        mean = np.mean([values[measure] for values in theirs.values()])
        assert ours[name] == pytest.approx(mean, abs=2e-7), name


def test_two_runs_are_compared_by_qrels(run):
    write_runs(".")
    found = told(run, "compare", "a.txt", "b.txt", "qrels.txt", "--preset", "trec", "-m", "map")
    means = [
        told(run, "evaluate", f"{name}.txt", "qrels.txt", "--preset", "trec", "-m", "map")["metrics"]["map"]
        for name in "ab"
    ]
    assert [found["mean_a"], found["mean_b"]] == pytest.approx(means)
    assert found["n_queries"] == 12
    run("evaluate", "a.txt", "qrels.txt", "--preset", "trec", "-m", "ndcg@1,3", "--per-query", "values.csv")
    assert Path("values.csv").read_text().startswith("qid,ndcg@1,ndcg@3\nq0,0.0,0.0\n")


def test_queries_that_are_not_in_the_run_are_told(run):
    write_runs(".")
    text = Path("a.txt").read_text().splitlines()
    Path("part.txt").write_text("\n".join(line for line in text if not line.startswith("q1 ")) + "\n")
    assert "1 of 12 judged queries are not in the run" in run("evaluate", "part.txt", "qrels.txt").stderr
    Path("other.txt").write_text("other Q0 d1 1 0.5 tag\n")
    assert "judges no query" in run("evaluate", "other.txt", "qrels.txt", code=1).stderr


def test_weights_by_hand_are_judged_and_compared(run, files):
    X, y, qid = files.data["test"]
    Path("hand.json").write_text('{"1": 0.5, "3": -2}')
    ours = told(run, "evaluate", "hand.json", files.test, "-m", "ndcg@5")["metrics"]["ndcg@5"]
    assert ours == pytest.approx(metrics.ndcg(y, 0.5 * X[:, 0] - 2 * X[:, 2], qid, k=5))
    found = told(run, "compare", files.model, "hand.json", files.test, "-m", "ndcg@5")
    assert found["mean_b"] == pytest.approx(ours)


def test_weights_by_name_are_for_tables(run, files):
    Path("hand.json").write_text('{"clicks": 2, "price": -1}')
    Path("t.csv").write_text("qid,grade,price,other,clicks\n1,0,3,9,1\n1,1,2,9,2\n2,1,1,0,1\n2,0,5,0,1\n")
    found = told(run, "evaluate", "hand.json", "t.csv", "-m", "pairwise_accuracy")
    assert found["metrics"]["pairwise_accuracy"] == 1.0
    assert "names features" in run("evaluate", "hand.json", files.test, code=1).stderr
    Path("odd.json").write_text('{"clicks": "much"}')
    assert "weights by name" in run("evaluate", "odd.json", "t.csv", code=1).stderr
    exported = run("export", "hand.json", "--to", "sql").stdout
    assert "clicks" in exported


@pytest.mark.parametrize("text", ["", "\n# no row\n"])
def test_a_file_without_rows_is_told_so(run, files, text):
    Path("none.txt").write_text(text)
    Path("pairs.txt").write_text("1 2\n")
    for words in (
        ["train", "none.txt", "-o", "m.json"],
        ["tune", "none.txt"],
        ["evaluate", files.model, "none.txt"],
        ["evaluate", files.model, "none.txt", "--pairs", "pairs.txt"],
        ["compare", files.model, files.model, "none.txt"],
    ):
        assert "none.txt holds no row" in run(*words, code=1).stderr


def test_several_cuts_in_one_word(run, files):
    listed = told(run, "evaluate", files.model, files.test, "-m", "ndcg@1,3,5,map")["metrics"]
    words = [word for name in ("ndcg@1", "ndcg@3", "ndcg@5", "map") for word in ("-m", name)]
    assert listed == told(run, "evaluate", files.model, files.test, *words)["metrics"]
    assert "names 2 metrics" in run("compare", files.model, files.model, files.test, "-m", "ndcg@1,3", code=2).stderr
