"""`linrank tune train.txt --valid vali.txt`: LETOR's protocol."""

import json

import numpy as np
import pytest

from linrank import LinearRanker, load, metrics


def test_alpha_is_chosen_by_the_validation_file_and_the_model_is_of_the_training_file(run, files):
    words = ["tune", files.train, "--valid", files.vali, "-m", "ndcg@5", "--alphas", "1,0.1,0.01,0.001", "--json"]
    told = json.loads(run(*words, "-o", "m.json").stdout)
    X, y, qid = files.data["vali"]
    scores = []
    for alpha in told["path"]["alpha"]:
        ranker = LinearRanker(alpha=alpha, tol=1e-6).fit(*files.data["train"])
        scores.append(metrics.ndcg(y, ranker.predict(X), qid, k=5))
    assert told["path"]["mean_score"] == pytest.approx(scores, abs=0.03)
    assert told["chosen"] == told["path"]["alpha"][int(np.argmax(told["path"]["mean_score"]))]
    assert told["path"]["standard_error"] is None
    model = load("m.json")
    expected = LinearRanker(alpha=told["chosen"]).fit(*files.data["train"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    assert model.n_rows_ == len(files.data["train"][1])
    assert "not known" in run(*words[:-1]).stdout


def test_an_l1_part_signs_and_bounds_are_minded(run, files):
    told = ["--l1-ratio", "0.9", "--monotonic", "2=-1", "--bounds", "1=:0.1", "--alphas", "5"]
    words = ["tune", files.train, "--valid", files.vali, *told, "-o", "m.json"]
    path = json.loads(run(*words, "--json").stdout)["path"]
    assert path["n_features"][0] == 0
    assert path["n_features"][-1] > 0
    model = load("m.json")
    asked = {"l1_ratio": 0.9, "monotonic_cst": [0, -1, 0, 0], "bounds": [(None, 0.1), *[(None, None)] * 3]}
    expected = LinearRanker(alpha=model.alpha_, tol=1e-6, **asked).fit(*files.data["train"])
    assert abs(model.objective_ - expected.objective_) <= model.gap_ + expected.gap_
    assert "features" in run(*words).stdout.splitlines()[0]


def test_ways_to_choose_are_not_mixed(run, files):
    words = ["tune", files.train, "--valid", files.vali]
    assert "two ways" in run(*words, "--cv", "3", code=2).stderr
    assert "--valid has none" in run(*words, "--one-standard-error", code=2).stderr
    assert "exact solvers" in run(*words, "--solver", "sgd", code=2).stderr
    assert "none.txt" in run("tune", files.train, "--valid", "none.txt", code=1).stderr
