"""Exports of rankers that replace missing values, as the target serves them."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import linrank
from linrank import LinearRanker, ParameterError
from linrank.cli import cli
from linrank.export import TARGETS, LinearFunction, Options, lowest_score, solr, verify
from linrank.testing import make_ranking

SERVE_ZERO = sorted(name for name, target in TARGETS.items() if not target.fills)
LUCENE = sorted(name for name, target in TARGETS.items() if target.refuses_negative)


@pytest.fixture
def holes():
    """Features far from 0, where they speak for a row, a third missing; and a ranker that puts means there."""
    X, y, qid = make_ranking(n_rows=300, n_features=4, n_queries=15, n_levels=4, seed=2)
    X = X + 1.2 * np.sign(LinearRanker().fit(X, y, qid).coef_)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    return LinearRanker(missing="mean").fit(X, y, qid), X, y, qid


def written(target, ranker, offset=0.0):
    function = LinearFunction.of(ranker, offset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function, TARGETS[target].write(function, Options())


@pytest.mark.parametrize("target", SERVE_ZERO)
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_are_served_otherwise_are_counted(holes, target, sparse):
    ranker, X, _, _ = holes
    function, text = written(target, ranker)
    found = verify(TARGETS[target], text, function, [sp.csr_matrix(X[:100]) if sparse else X[:100], X[100:]])
    served = np.nan_to_num(X, nan=0.0) @ ranker.coef_
    difference = np.abs(served - ranker.predict(X))
    assert found.rows == 300
    assert found.differing == np.sum(difference > 1e-4) > 200
    assert found.served_difference == pytest.approx(difference.max(), rel=1e-4)
    assert found.largest_difference < 1e-4  # the export itself is right
    assert found.lowest == pytest.approx(served.min(), abs=1e-4)


@pytest.mark.parametrize("target", sorted(set(TARGETS) - set(SERVE_ZERO)))
def test_targets_that_replace_missing_values_serve_every_row_alike(holes, target):
    ranker, X, _, _ = holes
    function, text = written(target, ranker)
    found = verify(TARGETS[target], text, function, [X])
    assert (found.differing, found.served_difference) == (0, 0.0)
    assert found.lowest == pytest.approx(ranker.predict(X).min(), abs=1e-4)


@pytest.mark.parametrize("target", SERVE_ZERO)
def test_zeros_are_served_as_zeros(holes, target):
    _, X, y, qid = holes
    function, text = written(target, LinearRanker(missing="zero").fit(X, y, qid))
    assert verify(TARGETS[target], text, function, [X]).differing == 0


@pytest.mark.parametrize("target", LUCENE)
def test_the_offset_leaves_nothing_negative_as_served(holes, target):
    ranker, X, _, _ = holes
    lowest = lowest_score(LinearFunction.of(ranker), [X], TARGETS[target])
    served = np.nan_to_num(X, nan=0.0) @ ranker.coef_
    assert lowest <= min(served.min(), ranker.predict(X).min())  # now, and once the means are set there
    assert lowest == pytest.approx(min(served.min(), ranker.predict(X).min()), abs=1e-3)
    function, text = written(target, ranker, -lowest)
    assert verify(TARGETS[target], text, function, [X]).lowest >= 0


@pytest.mark.parametrize("offset", [0.0, 2.5])
def test_features_of_solr_with_default_values(holes, offset):
    ranker, X, _, _ = holes
    features = json.loads(ranker.to_solr_features(store="s", offset=offset))
    assert [feature["name"] for feature in features[:4]] == ["f1", "f2", "f3", "f4"]
    assert {feature["store"] for feature in features} == {"s"}
    assert [feature["params"]["defaultValue"] for feature in features[:4]] == ranker.fill_.tolist()
    assert features[0]["class"] == "org.apache.solr.ltr.feature.FieldValueFeature"
    assert features[0]["params"]["field"] == "f1"
    if offset:
        constant = {"name": "linrank_offset", "class": "org.apache.solr.ltr.feature.ValueFeature"}
        assert constant.items() <= features[4].items()
        assert features[4]["params"] == {"value": 1}
    else:
        assert len(features) == 4
    function, text = written("solr", ranker, offset)
    defaults = solr.default_values(json.dumps(features).encode(), function.names)
    found = verify(TARGETS["solr"], text, function, [X], defaults)
    assert found.differing == 0
    assert found.lowest == pytest.approx(ranker.predict(X).min() + offset, abs=1e-4)
    assert lowest_score(function, [X], TARGETS["solr"], defaults) == pytest.approx(found.lowest, abs=1e-3)


def test_features_of_solr_without_missing_values():
    ranker = LinearRanker().fit(np.array([[1.0, 2.0], [3.0, 1.0]]), [0, 1])
    assert [feature["params"] for feature in json.loads(ranker.to_solr_features())] == [
        {"field": "f1"},
        {"field": "f2"},
    ]
    huge = LinearFunction(np.ones(1), ("a",), np.array([1e39]))
    with pytest.raises(ParameterError, match="float32"):
        solr.write_features(huge, Options())


@pytest.mark.parametrize("target", SERVE_ZERO)
def test_the_warning_says_what_to_set(holes, target):
    ranker = holes[0]
    with pytest.warns(UserWarning, match=rf"takes a missing value for 0.*f1 {ranker.fill_[0]:.6g}"):
        TARGETS[target].write(LinearFunction.of(ranker), Options())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if target == "solr":
            TARGETS[target].write(LinearFunction.of(ranker), Options(defaults=True))


@pytest.fixture
def shop(tmp_path, monkeypatch, holes):
    monkeypatch.chdir(tmp_path)
    _, X, y, qid = holes
    frame = pd.DataFrame(X, columns=["price", "stars", "clicks", "age"]).assign(label=y, qid=qid)
    frame.to_csv("shop.csv", index=False)
    call("train", "shop.csv", "-o", "m.json", "--missing", "mean")
    return linrank.load("m.json"), frame


def call(*words, code=0):
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == code, (result.stdout, result.stderr)
    return result


def served_rows(ranker, frame):
    X = frame[["price", "stars", "clicks", "age"]]
    served = np.nan_to_num(X.to_numpy(), nan=0.0) @ ranker.coef_
    return int(np.sum(np.abs(served - ranker.predict(X)) > 1e-4)), served


@pytest.mark.parametrize("target", SERVE_ZERO)
def test_verify_says_how_many_rows_differ_as_served_and_what_to_set(shop, target):
    ranker, frame = shop
    differing, served = served_rows(ranker, frame)
    result = call("export", "m.json", "--to", target, "--verify", "shop.csv", "-o", "out")
    assert f"{differing} of 300 rows differ by up to" in result.stderr
    assert "300 rows score the same" not in result.stderr
    assert f"price {ranker.fill_[0]:.6g}" in result.stderr
    found = json.loads(call("export", "m.json", "--to", target, "--verify", "shop.csv", "-o", "out", "--json").stdout)
    assert found["verification"]["differing"] == differing
    assert found["verification"]["lowest"] == pytest.approx(served.min(), abs=1e-4)
    assert found["missing"] == {name: value for name, value in zip(ranker.feature_names_in_, ranker.fill_, strict=True)}


@pytest.mark.parametrize("target", ["sql", "python", "onnx"])
def test_verify_of_targets_that_replace_missing_values(shop, target):
    result = call("export", "m.json", "--to", target, "--verify", "shop.csv", "-o", "out")
    assert "Verified: 300 rows score the same" in result.stderr


@pytest.mark.parametrize("target", LUCENE)
def test_offset_auto_leaves_nothing_for_lucene_to_refuse(shop, target):
    words = ["export", "m.json", "--to", target, "--verify", "shop.csv", "-o", "out"]
    assert "Lucene refuses negative scores" in call(*words).stderr
    assert "Lucene" not in call(*words, "--offset", "auto").stderr
    found = json.loads(call(*words, "--offset", "auto", "--json").stdout)
    assert found["verification"]["lowest"] >= 0
    assert served_rows(*shop)[1].min() + found["offset"] >= 0


def test_solr_with_its_features_serves_every_row_alike(shop):
    ranker, frame = shop
    words = [
        "export",
        "m.json",
        "--to",
        "solr",
        "--verify",
        "shop.csv",
        "-o",
        "model.json",
        "--features",
        "features.json",
    ]
    result = call(*words, "--offset", "auto", "--store", "s")
    assert "Verified: 300 rows score the same" in result.stderr
    assert "Warning" not in result.stderr
    with open("features.json") as file:
        features = {feature["name"]: feature for feature in json.load(file)}
    with open("model.json") as file:
        model = json.load(file)
    assert [feature["name"] for feature in model["features"]] == list(features)
    assert {feature["store"] for feature in features.values()} == {"s"}
    assert features["price"]["params"]["defaultValue"] == ranker.fill_[0]
    lowest = ranker.predict(frame[["price", "stars", "clicks", "age"]]).min()
    assert model["params"]["weights"]["linrank_offset"] == pytest.approx(-lowest, rel=1e-4)


def test_features_are_for_solr(shop):
    assert "--features is for solr" in call("export", "m.json", "--to", "vespa", "--features", "x", code=2).stderr
    assert "standard output" in call("export", "m.json", "--to", "solr", "--features", "-", code=2).stderr
