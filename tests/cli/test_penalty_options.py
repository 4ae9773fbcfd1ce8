"""--l1-ratio, --monotonic and --bounds of `train` and `tune`, and what `inspect` says of them."""

import json
from pathlib import Path

import numpy as np
import pytest

import linrank
from linrank import LinearRanker, LinearRankerCV
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    X, y, qid = make_ranking(300, 3, 15, 3, noise=1.0, seed=2)
    lines = ["label,qid,price,match,sales"]
    lines += [f"{g:g},{q},{','.join(map(repr, row.tolist()))}" for g, q, row in zip(y, qid, X, strict=True)]
    path = tmp_path_factory.mktemp("shop") / "shop.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path), (X, y, qid)


def test_signs_and_bounds_by_name(run, shop):
    path, data = shop
    told = "--monotonic", "price=-1,match=1", "--monotonic", "sales=1", "--bounds", "match=0.1:", "--alpha", "0.1"
    run("train", path, "-o", "m.json", *told)
    expected = LinearRanker(alpha=0.1, monotonic_cst=[-1, 1, 1], bounds=[(None, None), (0.1, None), (None, None)])
    model = linrank.load("m.json")
    np.testing.assert_allclose(model.coef_, expected.fit(*data).coef_, rtol=1e-9)
    assert model.monotonic_cst == {"price": -1, "match": 1, "sales": 1}
    shown = " ".join(run("inspect", "m.json").stdout.split())
    assert "price at most 0; match at least 0.1; sales at least 0" in shown
    about = json.loads(run("inspect", "m.json", "--json").stdout)["parameters"]
    assert about["bounds"] == {"match": [0.1, None]}


def test_bounds_for_every_weight_and_an_l1_part(run, shop):
    path, data = shop
    text = run("train", path, "-o", "m.json", "--bounds", "0.05:0.5", "--l1-ratio", "0.5", "--alpha", "0.2").stdout
    expected = LinearRanker(alpha=0.2, l1_ratio=0.5, bounds=(0.05, 0.5)).fit(*data).coef_
    np.testing.assert_allclose(linrank.load("m.json").coef_, expected, rtol=1e-9)
    assert "3 of 3 have a weight" in text
    shown = " ".join(run("inspect", "m.json").stdout.split())
    assert "all weights from 0.05 to 0.5" in shown
    assert "l1 ratio 0.5: 3 of 3 features have a weight" in shown


def test_features_without_names_go_by_their_number(run, files):
    run("train", files.train, "-o", "m.json", "--monotonic", "2=-1")
    assert linrank.load("m.json").coef_[1] <= 0.0
    assert "which is no feature of X" in run("train", files.train, "-o", "n.json", "--monotonic", "9=-1", code=1).stderr


@pytest.mark.filterwarnings("ignore:Only 9 queries")
@pytest.mark.parametrize("command", [["train"], ["tune", "--alphas", "2", "--cv", "2"]], ids=lambda words: words[0])
def test_a_model_of_features_without_names_is_shown_judged_and_fitted_again(run, files, command):
    run(*command, files.train, "-o", "m.json", "--monotonic", "2=-1", "--bounds", "1=:0.1,3=-1:1")
    shown = " ".join(run("inspect", "m.json").stdout.split())
    assert "feature 1 at most 0.1; feature 2 at most 0; feature 3 from -1 to 1" in shown
    model = linrank.load("m.json")
    assert model.monotonic_cst == [0, -1, 0, 0]
    assert model.bounds == [[None, 0.1], [None, None], [-1.0, 1.0], [None, None]]
    assert "feature 4" in run("inspect", "m.json", "--data", files.train, "--intervals").stdout
    coef = model.coef_
    np.testing.assert_allclose(model.fit(*files.data["train"]).coef_, coef, rtol=1e-6)


def test_features_without_names_that_begin_at_zero(run, files):
    text = "".join(f"{k % 3} qid:{k // 6} 0:{(k * 7) % 5} 1:{(k * 3) % 4}\n" for k in range(60))
    (zero := Path("zero.txt")).write_text(text)
    run("train", zero, "--zero-based", "-o", "m.json", "--monotonic", "0=-1", "--alpha", "1")
    assert linrank.load("m.json").monotonic_cst == [-1, 0]
    assert (
        "which is no feature" in run("train", zero, "--zero-based", "-o", "m.json", "--bounds", "2=0:", code=1).stderr
    )


def test_auto_is_said_aloud(run, shop):
    assert "LinearRankerCV (linrank tune)" in run("train", shop[0], "-o", "m.json", "--l1-ratio", "0.9").stderr


def test_tune_prints_the_number_of_features(run, shop):
    path, data = shop
    told = "--l1-ratio", "0.9", "--alphas", "6", "--cv", "3", "--one-standard-error", "-o", "m.json"
    text = run("tune", path, *told).stdout
    expected = LinearRankerCV(6, cv=3, l1_ratio=0.9, one_standard_error=True).fit(*data)
    header, *rows = text.splitlines()
    assert "features" in header.split()
    assert [int(row.split()[3]) for row in rows[:6]] == expected.cv_results_["n_features"].tolist()
    assert linrank.load("m.json").alpha_ == pytest.approx(expected.alpha_)
    path_of = json.loads(run("tune", path, *told, "--json").stdout)["path"]
    assert path_of["n_features"] == expected.cv_results_["n_features"].tolist()
    assert "features" not in run("tune", path, "--alphas", "2", "--cv", "2").stdout


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [
        (["--monotonic", "price"], 2, "write NAME=1 or NAME=-1"),
        (["--monotonic", "price=down"], 2, "write price=1 or price=-1"),
        (["--bounds", "price=1"], 2, "is not a pair of bounds"),
        (["--bounds", "price=a:b"], 2, "is not a pair of bounds"),
        (["--bounds", "price=1:0"], 1, "may have no weight at all"),
        (["--monotonic", "prize=-1"], 1, "did you mean 'price'"),
        (["--l1-ratio", "2"], 1, "from 0 to 1"),
        (["--l1-ratio", "0.5", "--solver", "bundle"], 1, "are for Newton's method"),
        (["--l1-ratio", "0.5", "--solver", "sgd"], 2, "--l1-ratio is for the exact solvers"),
        (["--monotonic", "price=-1", "--solver", "sgd"], 2, "--monotonic is for the exact solvers"),
        (["--bounds", "0:1", "--method", "treersvm", "--lambda", "1"], 2, "--bounds is no parameter of treersvm"),
    ],
)
def test_what_cannot_be_meant(run, shop, told, code, words):
    assert words in " ".join(run("train", shop[0], "-o", "m.json", *told, code=code).stderr.split())


def test_tune_by_descent_refuses_them(run, shop):
    assert "--l1-ratio is for" in run("tune", shop[0], "--solver", "sgd", "--l1-ratio", "0.5", code=2).stderr
