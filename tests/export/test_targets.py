"""Exports, read back by readers that know nothing of how they were written."""

import json
import re
import sqlite3
import subprocess
import sys
import warnings

import numpy as np
import onnxruntime
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import linrank
from linrank import AUCClassifier, LinearRanker, ParameterError
from linrank.export import TARGETS, LinearFunction, Options, lowest_score, verify
from linrank.export._function import refuse_repeated
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke

VESPA_NAMES = ["bm25(title)", "attribute(price)", "freshness(day).logscale", "nativeRank", "age_days"]


def function(seed, d=5, fill=False, offset=0.0, names=None, zeros=False):
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(d) * 10.0 ** rng.integers(-3, 3, d)
    if zeros:
        weights[rng.integers(0, d)] = 0.0
    names = tuple(names or [f"f{j}" for j in range(1, d + 1)])
    return LinearFunction(weights, names, rng.standard_normal(d) if fill else None, offset)


def rows(seed, n=7, d=5, holes=False):
    rng = np.random.default_rng(seed + 1)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d)
    if holes:
        X[rng.random((n, d)) < 0.3] = np.nan
    return X


@pytest.mark.parametrize("name", sorted(TARGETS))
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    fill=st.booleans(),
    offset=st.sampled_from([0.0, 3.25, -1e-3]),
    dtype=st.sampled_from(["float32", "float64"]),
)
@example(seed=0, fill=True, offset=1.5, dtype="float64")
def test_every_export_scores_as_the_ranker_does(name, seed, fill, offset, dtype):
    f = function(seed, fill=fill, offset=offset, zeros=bool(seed % 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of offsets and fills that the target has no place for: tested below
        text = TARGETS[name].write(f, Options(dtype=dtype))
    X = rows(seed, holes=fill)
    found = verify(TARGETS[name], text, f, [X, sp.csr_matrix(X)])
    assert found.rows == 14
    complete = np.where(np.isnan(X), f.fill, X) if fill else X
    allowed = (1e-6 if TARGETS[name].rounding > 1e-10 else 1e-15) * f.size(complete).max()
    assert found.largest_difference <= allowed
    served = complete if TARGETS[name].fills else np.nan_to_num(X, nan=0.0)
    assert found.lowest == pytest.approx(f(served).min(), abs=allowed)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_an_export_of_something_else_is_found_out(name):
    f = function(3)
    changed = LinearFunction(f.weights * np.array([1, 1, 1.001, 1, 1]), f.names)
    text = TARGETS[name].write(changed, Options())
    with pytest.raises(linrank.LinrankError, match="does not score as the model does"):
        verify(TARGETS[name], text, f, [rows(3)])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fill", [False, True])
def test_onnx_runs_in_onnxruntime(dtype, fill):
    f = function(5, fill=fill, offset=2.0)
    session = onnxruntime.InferenceSession(TARGETS["onnx"].write(f, Options(dtype=dtype)))
    X = rows(5, holes=fill)
    (scores,) = session.run(None, {session.get_inputs()[0].name: X.astype(dtype)})
    expected = f(np.where(np.isnan(X), f.fill, X) if fill else X)
    np.testing.assert_allclose(scores.ravel(), expected, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-4)
    assert json.loads(session.get_modelmeta().custom_metadata_map["feature_names"]) == list(f.names)


@pytest.fixture(scope="module")
def fitted():
    X, y, qid = make_ranking(n_rows=200, n_features=4, n_queries=8, n_levels=3, seed=0)
    return LinearRanker().fit(X, y, qid), X, qid


def test_methods_of_rankers(fitted, tmp_path):
    ranker, X, _ = fitted
    f = LinearFunction.of(ranker)
    for name, target in TARGETS.items():
        text = getattr(ranker, f"to_{name}")()
        assert isinstance(text, bytes if name == "onnx" else str)
        verify(target, text if isinstance(text, bytes) else text.encode(), f, [X])
    for name in ("svmrank", "liblinear"):  # linrank's own reader of these files is a third opinion
        path = tmp_path / name
        path.write_text(getattr(ranker, f"to_{name}")(offset=3.0))
        assert np.array_equal(linrank.load(path).coef_, ranker.coef_)


def test_the_standalone_function_needs_python_alone(fitted, tmp_path):
    ranker, X, _ = fitted
    (tmp_path / "exported.py").write_text(ranker.to_python())
    row = {f"f{j + 1}": float(value) for j, value in enumerate(X[0])}
    code = f"import exported, sys; print(exported.score({row!r})); assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, '.'); {code}"],
                          cwd=tmp_path, capture_output=True, text=True, check=True)  # fmt: skip
    assert float(done.stdout) == pytest.approx(ranker.predict(X[:1])[0], rel=1e-14)


def test_the_standalone_function_names_what_is_missing():
    space = {}
    exec(TARGETS["python"].write(function(1, d=2), Options()), space)
    for features in ({"f1": 1.0}, {"f1": 1.0, "f2": None}, {"f1": 1.0, "f2": float("nan")}):
        with pytest.raises(ValueError, match="'f2' is missing"):
            space["score"](features)


def test_documents_of_solr_and_elasticsearch(fitted):
    ranker = fitted[0]
    solr = json.loads(ranker.to_solr(model="m", store="s"))
    assert solr["class"] == "org.apache.solr.ltr.model.LinearModel"
    assert (solr["name"], solr["store"]) == ("m", "s")
    assert [feature["name"] for feature in solr["features"]] == list(solr["params"]["weights"])
    assert list(solr["params"]["weights"].values()) == ranker.coef_.tolist()
    body = json.loads(ranker.to_elasticsearch(model="m"))["model"]
    assert body["name"] == "m"
    assert body["model"]["type"] == "model/linear"
    assert isinstance(body["model"]["definition"], str)
    assert list(json.loads(body["model"]["definition"]).values()) == ranker.coef_.tolist()
    assert ranker.to_opensearch(model="m") == ranker.to_elasticsearch(model="m")


def test_sql_of_many_features_and_any_names():
    d = 1500
    f = function(2, d=d, names=[f'a "quoted" näme; DROP TABLE x --{j}' for j in range(d)], offset=1.0)
    text = TARGETS["sql"].write(f, Options(table='my "table"', column="my score"))
    verify(TARGETS["sql"], text, f, [rows(2, d=d)])
    big = function(2, d=40_000)
    many = TARGETS["sql"].write(big, Options()).decode()
    assert sqlite3.complete_statement(many)
    with pytest.raises(linrank.DataError, match="SQLite holds fewer than 2000 columns"):
        verify(TARGETS["sql"], many.encode(), big, [np.ones((1, 40_000))])


@pytest.mark.parametrize("table", ["FROM", "FROM ", "a FROM b", 'x";\nFROM "y', "two\nlines", '"', "order"])
def test_a_table_called_from_is_verified(table):
    f = function(2, names=['FROM "t";\n', "FROM", ' FROM ""', "select", ";"], offset=1.0)
    text = TARGETS["sql"].write(f, Options(table=table))
    assert verify(TARGETS["sql"], text, f, [rows(2)]).rows == 7


def test_a_table_that_sqlite_refuses_is_named():
    text = TARGETS["sql"].write(function(2), Options(table="sqlite_master"))
    with pytest.raises(linrank.DataError, match=r"SQLite.*another --table"):
        verify(TARGETS["sql"], text, function(2), [rows(2)])


def test_names_that_are_no_text_are_not_exported(fitted):
    ranker = LinearRanker().fit(*(part[:50] for part in (fitted[1], fitted[1][:, 0])))
    ranker.feature_names_in_ = np.array(["a", "b", "c", "\udce9"], dtype=object)
    with pytest.raises(ParameterError, match=r"udce9.*rename"):
        ranker.to_sql()


def test_sql_keeps_columns_and_null():
    ranker = LinearRanker().fit(np.array([[1.0, 2.0], [3.0, 1.0]]), [0, 1])
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE documents (id TEXT, f1 INTEGER, f2 REAL)")
    connection.execute("INSERT INTO documents VALUES ('a', 3, 1), ('b', NULL, 2)")
    found = connection.execute(ranker.to_sql()).fetchall()
    connection.close()
    assert found[0][:3] == ("a", 3, 1.0)
    assert found[0][3] == pytest.approx(ranker.predict([[3.0, 1.0]])[0])
    assert found[1][3] is None


def test_vespa_takes_rank_features_and_nothing_else():
    f = function(4, names=VESPA_NAMES, fill=True, offset=0.5)
    text = TARGETS["vespa"].write(f, Options(model="my_profile"))
    verify(TARGETS["vespa"], text, f, [rows(4, holes=True)])
    assert text.startswith(b"rank-profile my_profile {")
    for bad in ("two words", "1st", "a+b", "bm25(title", "if", ""):
        with pytest.raises(ParameterError, match=r"Vespa cannot take the name .*rank feature"):
            TARGETS["vespa"].write(function(4, d=1, names=[bad]), Options())
    with pytest.raises(ParameterError, match="rank profile's name"):
        TARGETS["vespa"].write(f, Options(model="my profile"))


@pytest.mark.parametrize(("target", "bad"), [("solr", "a b"), ("solr", "x=1"), ("elasticsearch", ""), ("sql", "a\0b")])
def test_names_that_a_target_cannot_take(target, bad):
    with pytest.raises(ParameterError, match=re.escape(f"cannot take the name {bad!r}")):
        TARGETS[target].write(function(0, d=2, names=["good", bad]), Options())


def test_names_must_tell_features_apart():
    refuse_repeated(["a", "b"], "them")
    with pytest.raises(ParameterError, match="named 'a'"):
        refuse_repeated(["a", "b", "a"], "them")
    with pytest.raises(ParameterError, match="SQL ignores case"):
        TARGETS["sql"].write(function(0, d=2, names=["Price", "price"]), Options())


@pytest.mark.parametrize("target", ["solr", "elasticsearch"])
def test_an_offset_becomes_a_constant_feature(target):
    f = function(6, offset=7.5)
    with pytest.warns(UserWarning, match="no place for an offset"):
        text = TARGETS[target].write(f, Options())
    assert verify(TARGETS[target], text, f, [rows(6)]).rows == 7
    with pytest.raises(ParameterError, match="needed for the offset"):
        TARGETS[target].write(function(6, d=1, names=["linrank_offset"], offset=1.0), Options())


@pytest.mark.parametrize("target", [name for name, target in TARGETS.items() if not target.fills])
def test_means_of_missing_values_that_a_target_cannot_hold(target):
    with pytest.warns(UserWarning, match="takes a missing value for 0"):
        TARGETS[target].write(function(6, fill=True), Options())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # zeros are what every target puts there
        TARGETS[target].write(LinearFunction(np.ones(2), ("a", "b"), np.zeros(2)), Options())


def test_offset_from_the_lowest_score(fitted):
    ranker, X, _ = fitted
    lowest = lowest_score(LinearFunction.of(ranker), [X[:50], sp.csr_matrix(X[50:])])
    assert lowest == pytest.approx(ranker.predict(X).min())
    moved = LinearFunction.of(ranker, offset=-lowest)
    assert moved(X).min() == pytest.approx(0.0, abs=1e-12)
    assert lowest_score(moved, []) == 0.0


def test_an_offset_found_for_a_target_leaves_nothing_negative_there():
    f, X, solr = function(9), rows(9, n=500), TARGETS["solr"]
    for scale in (1.0, 1e6):
        lowest = lowest_score(f, [scale * X], solr)
        moved = LinearFunction(f.weights, f.names, offset=-lowest)
        with pytest.warns(UserWarning, match="offset"):
            text = solr.write(moved, Options())
        assert 0 <= verify(solr, text, moved, [scale * X]).lowest < 1e-3 * f.size(scale * X).max()


def test_bad_options(fitted):
    ranker = fitted[0]
    for options, text in [({"model": ""}, "model=''"), ({"store": 3}, "store=3"), ({"offset": np.nan}, "offset=nan")]:
        with pytest.raises(ParameterError, match=text):
            ranker.to_solr(**options)
    with pytest.raises(ParameterError, match="dtype='float16'"):
        ranker.to_onnx(dtype="float16")
    with pytest.raises(ParameterError, match="float32"):
        TARGETS["solr"].write(LinearFunction(np.array([1e39]), ("a",)), Options())
    broken = LinearRanker().fit([[1.0], [2.0]], [0, 1])
    broken.coef_ = np.array([np.nan])
    with pytest.raises(ParameterError, match="NaN"):
        broken.to_sql()


def test_a_classifier_is_exported_with_its_intercept():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + rng.standard_normal(60) > 1
    model = AUCClassifier().fit(X, y)
    np.testing.assert_allclose(LinearFunction.of(model)(X), model.decision_function(X), rtol=1e-12)


def test_onnx_says_which_extra_it_needs(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(linrank.LinrankError, match=r"linrank\[onnx\]"):
        fitted[0].to_onnx()
