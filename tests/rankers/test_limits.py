"""l1_ratio, monotonic_cst and bounds: what may be said, how exactly it is kept, paths, model files and exports."""

import json
import logging
import sqlite3

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linrank
from linrank import AUCClassifier, DataError, LinearRanker, LinearRankerCV, ParameterError, RankingData
from linrank.losses import LOSSES, Hinge
from linrank.model_selection import cross_validate
from linrank.rankers.limits import Asked, described
from linrank.rankers.training import Training
from linrank.solvers import Bundle, ConjugateGradients, Newton, Tron
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke

QUIET = logging.CRITICAL


@pytest.fixture(autouse=True)
def silence(caplog):
    caplog.set_level(QUIET, "linrank")


@pytest.fixture(scope="module")
def problem():
    return make_ranking(600, 12, 30, 4, noise=2.0, seed=5)


@pytest.fixture(scope="module")
def shop():
    """Offers of 40 searches: dear ones were bought more often in these logs, which must not become a rule."""
    rng = np.random.default_rng(7)
    match, price, sales = rng.random(600), rng.gamma(2.0, 20.0, 600), rng.poisson(5.0, 600)
    X = pd.DataFrame({"match": match, "price": price, "sales": sales, "noise": rng.standard_normal(600)})
    y = np.digitize(2 * match + 0.01 * price + 0.05 * sales + rng.normal(0, 0.4, 600), [1.5, 2.3])
    return X, y, np.repeat(np.arange(40), 15)


@parametrize_with_checks([LinearRanker(tol=1e-9, bounds=(0.0, 1.0))])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scale", [True, False, "auto"])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", list(LOSSES))
def test_bounds_are_kept_exactly_in_the_units_of_the_data(problem, loss, scale, store):
    X, y, qid = problem
    X = np.where(np.abs(X) < 0.3, 0.0, X) * np.geomspace(0.01, 100.0, 12)
    lower, upper = np.full(12, 0.05), np.full(12, 0.5)
    ranker = LinearRanker(loss, scale=scale, bounds=(0.05, 0.5)).fit(store(X), y, qid)
    assert ranker.status_ == "converged"
    assert (ranker.coef_ >= lower).all()
    assert (ranker.coef_ <= upper).all()
    assert np.count_nonzero((ranker.coef_ == lower) | (ranker.coef_ == upper)) > 3


def test_every_way_to_say_bounds_says_the_same(problem):
    X, y, qid = problem
    lower, upper = np.r_[np.zeros(6), np.full(6, -np.inf)], np.r_[np.full(6, np.inf), np.full(6, 0.2)]
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    pairs = list(zip(lower, upper, strict=True))
    by_name = {f"x{j}": (0.0, None) if j < 6 else (None, 0.2) for j in range(12)}
    said = [
        (lower, upper),
        pairs,
        np.array(pairs),
        [[None if np.isinf(end) else end for end in pair] for pair in pairs],
    ]
    fits = [LinearRanker(bounds=bounds).fit(X, y, qid).coef_ for bounds in said]
    named = LinearRanker(bounds=by_name).fit(frame, y, qid).coef_
    np.testing.assert_allclose(named, fits[0], rtol=1e-9, atol=1e-12)  # columns lie apart in a frame: other roundings
    fits.append(LinearRanker(bounds=(None, upper), monotonic_cst=[1] * 6 + [0] * 6).fit(X, y, qid).coef_)
    assert all(np.array_equal(fit, fits[0]) for fit in fits)
    assert np.array_equal(
        LinearRanker(bounds=(-np.inf, None)).fit(X, y, qid).coef_, LinearRanker().fit(X, y, qid).coef_
    )


def test_signs_hold_for_every_loss(shop):
    X, y, qid = shop
    for loss in LOSSES:
        free = LinearRanker(loss).fit(X, y, qid)
        ranker = LinearRanker(loss, monotonic_cst={"price": -1, "match": 1}).fit(X, y, qid)
        assert free.coef_[1] > 0.0
        assert ranker.coef_[1] == 0.0
        assert ranker.coef_[0] > 0.0
        assert ranker.objective_ + ranker.gap_ >= free.objective_ - free.gap_
        array = LinearRanker(loss, monotonic_cst=[1, -1, 0, 0]).fit(X.to_numpy(), y, qid)
        assert np.array_equal(array.coef_, ranker.coef_)


def test_an_l1_part_selects_features(problem):
    X, y, qid = problem
    useless = np.random.default_rng(0).standard_normal((600, 40))
    ranker = LinearRanker(alpha=0.3, l1_ratio=0.9, tol=1e-6).fit(np.hstack([X, useless]), y, qid)
    assert np.count_nonzero(ranker.coef_[12:]) == 0 < np.count_nonzero(ranker.coef_[:12])


def test_auto_is_a_twentieth_of_the_alpha_at_which_all_weights_are_zero(problem, caplog):
    caplog.set_level(logging.WARNING, "linrank")
    ranker = LinearRanker(l1_ratio=0.9).fit(*problem)
    assert "LinearRankerCV" in caplog.text
    assert "a twentieth" in caplog.text
    most = 20.0 * ranker.alpha_
    assert not LinearRanker(alpha=1.001 * most, l1_ratio=0.9).fit(*problem).coef_.any()
    assert LinearRanker(alpha=0.99 * most, l1_ratio=0.9).fit(*problem).coef_.any()


def test_only_permitted_directions_count_for_it(problem):
    X, y, qid = problem
    signs = -np.sign(LinearRanker().fit(X, y, qid).coef_)
    ranker = LinearRanker(l1_ratio=0.5, monotonic_cst=signs).fit(X, y, qid)
    assert 0.0 < ranker.alpha_ < LinearRanker(l1_ratio=0.5).fit(X, y, qid).alpha_


def test_zero_weights_are_an_answer():
    """The one feature has the wrong sign: it may not be used at any alpha."""
    x, y = np.arange(10.0)[:, None], np.arange(10.0)
    for asked in ({"monotonic_cst": [-1]}, {"monotonic_cst": [-1], "l1_ratio": 0.5}):
        ranker = LinearRanker(**asked).fit(x, y)
        assert ranker.coef_.tolist() == [0.0]
        assert ranker.status_ == "converged"
        assert ranker.predict(x).tolist() == [0.0] * 10
        assert ranker.score(x, y) == 0.5


def test_fixed_weights(problem):
    bounds = np.tile([-np.inf, np.inf], (12, 1))
    bounds[3] = 0.25
    assert LinearRanker(bounds=bounds).fit(*problem).coef_[3] == 0.25


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"l1_ratio": 1.5}, ParameterError, "from 0 to 1"),
        ({"l1_ratio": "half"}, ParameterError, "from 0 to 1"),
        ({"l1_ratio": True}, ParameterError, "from 0 to 1"),
        ({"monotonic_cst": {"prize": -1}}, ParameterError, "did you mean 'price'"),
        ({"monotonic_cst": {"zzz": -1}}, ParameterError, "which is no feature of X: they are 'match'"),
        ({"monotonic_cst": {"price": 2}}, ParameterError, "holds 2"),
        ({"monotonic_cst": {"price": "down"}}, ParameterError, "holds 'down'"),
        ({"monotonic_cst": [1, 0]}, ParameterError, r"shape \(2,\), X has 4 features"),
        ({"monotonic_cst": "price"}, ParameterError, "not understood"),
        ({"bounds": {"price": (1.0, 0.0)}}, ParameterError, "Feature 'price' may have no weight at all, from 1 to 0"),
        ({"bounds": {"price": (np.nan, 0.0)}}, ParameterError, "holds nan|hold nan"),
        ({"bounds": {"price": 3.0}}, ParameterError, "bounds hold 3.0"),
        ({"bounds": (0.5, 0.1)}, ParameterError, "no weight at all"),
        ({"bounds": (np.inf, np.inf)}, ParameterError, "no weight at all"),
        ({"bounds": [0.0, 1.0, 2.0]}, ParameterError, "length 3 do not fit 4 features"),
        (
            {"bounds": {"price": (0.1, None)}, "monotonic_cst": {"price": -1}},
            ParameterError,
            "agree with monotonic_cst",
        ),
        ({"bounds": {"one": (0.0, 1.0)}}, DataError, "Feature 'one' is constant"),
        ({"monotonic_cst": {"one": 1}}, DataError, "Feature 'one' is constant"),
    ],
)
@pytest.mark.parametrize("kind", [LinearRanker, LinearRankerCV, AUCClassifier])
def test_what_cannot_be_meant_is_refused_in_a_sentence(shop, asked, error, words, kind):
    X, y, qid = shop
    if "one" in str(asked):
        X = X.assign(one=1.0)
    with pytest.raises(error, match=words) as caught:
        kind(**asked).fit(X, y > 0, **({} if kind is AUCClassifier else {"qid": qid}))
    assert str(caught.value).count(". ") == 0


def test_names_need_names(shop):
    X, y, qid = shop
    with pytest.raises(ParameterError, match="X has no names: give a frame, or an array"):
        LinearRanker(monotonic_cst={"price": -1}).fit(X.to_numpy(), y, qid)


def test_constant_columns_take_bounds_for_all(shop):
    X, y, qid = shop
    assert LinearRanker(bounds=(0.0, 1.0), scale=False).fit(X.assign(one=1.0), y, qid).status_ == "converged"


@pytest.mark.parametrize("solver", ["bundle", "cg", "tron", Bundle(), ConjugateGradients(), Tron()])
def test_other_solvers_refuse_before_any_work(solver):
    with pytest.raises(ParameterError, match="are for Newton's method: use solver='auto' or 'newton'"):
        LinearRanker(l1_ratio=0.5, solver=solver).fit("not even data")


def test_losses_and_rules_that_do_not_fit_are_refused(problem):
    with pytest.raises(ParameterError, match="smooth or can be smoothed"):
        LinearRanker(Hinge(margin=2.0), l1_ratio=0.5).fit(*problem)
    with pytest.raises(ParameterError, match="gradient_tol"):
        LinearRanker(l1_ratio=0.5, solver=Newton(gradient_tol=1e-3)).fit(*problem)


def test_a_warm_start_takes_other_limits(problem):
    ranker = LinearRanker(alpha=0.05, warm_start=True).fit(*problem)
    ranker.set_params(l1_ratio=0.8, bounds=(0.0, None)).fit(*problem)
    cold = LinearRanker(alpha=0.05, l1_ratio=0.8, bounds=(0.0, None)).fit(*problem)
    assert ranker.coef_.min() >= 0.0
    assert abs(ranker.objective_ - cold.objective_) <= ranker.gap_ + cold.gap_


def test_the_same_bits_for_any_number_of_threads(problem):
    fits = [LinearRanker(l1_ratio=0.5, n_jobs=n).fit(*problem).coef_ for n in (1, 2, 4)]
    assert all(np.array_equal(fit, fits[0]) for fit in fits)


def test_a_path_begins_where_all_weights_are_zero(problem):
    X, y, qid = problem
    ranker = LinearRankerCV(12, cv=3, l1_ratio=0.9).fit(X, y, qid)
    found = ranker.cv_results_
    assert ranker.coef_path_.shape == (found["alpha"].size, 12)
    assert found["n_features"][0] == 0
    assert not ranker.coef_path_[0].any()
    assert found["n_features"][1:].min() > 0
    assert found["n_features"].tolist() == np.count_nonzero(ranker.coef_path_, axis=1).tolist()
    assert found["alpha"][0] == pytest.approx(20 * found["default_alpha"])
    place = int(np.flatnonzero(found["alpha"] == ranker.alpha_)[0])
    assert np.array_equal(ranker.coef_, ranker.coef_path_[place])
    one = LinearRanker(alpha=ranker.alpha_, l1_ratio=0.9).fit(X, y, qid)
    assert abs(one.objective_ - ranker.objective_) <= one.gap_ + ranker.gap_


def test_one_standard_error_gives_the_sparsest_model_that_is_as_good(problem):
    X, y, qid = problem
    ranker = LinearRankerCV(15, cv=5, l1_ratio=0.95, one_standard_error=True).fit(X, y, qid)
    found = ranker.cv_results_
    best = int(np.argmax(found["mean_score"]))
    near = found["mean_score"] >= found["mean_score"][best] - found["standard_error"][best]
    assert np.count_nonzero(ranker.coef_) == found["n_features"][near].min()
    assert np.count_nonzero(ranker.coef_) <= found["n_features"][best]


def test_a_path_with_bounds_alone_lies_around_the_default(problem):
    ranker = LinearRankerCV(3, cv=3, bounds=(0.0, None)).fit(*problem)
    found = ranker.cv_results_
    assert found["alpha"][0] > found["default_alpha"] > found["alpha"][-1]
    assert ranker.coef_path_.min() >= 0.0
    assert "n_features" not in LinearRankerCV(2, cv=2).fit(*problem).cv_results_


def test_every_point_of_a_path_is_certified(problem):
    X, y, qid = problem
    data = RankingData(X, y, qid)
    training = Training.of(LinearRanker(l1_ratio=1.0)).over(12)
    alphas = 20 * training.default_alpha(data) * np.geomspace(1.0, 1e-3, 30)
    for fit, alpha in zip(training.path(data, alphas, lambda _: None), alphas, strict=True):
        assert fit.solution.status == "converged"
        cold = LinearRanker(alpha=alpha, l1_ratio=1.0).fit(X, y, qid)
        assert abs(fit.solution.value - cold.objective_) <= fit.solution.gap + cold.gap_


def test_a_classifier_takes_them(shop):
    X, y, _ = shop
    model = AUCClassifier(alpha=0.01, l1_ratio=0.9, monotonic_cst={"price": -1}).fit(X, y > 0)
    assert model.coef_[0, 1] == 0.0
    assert model.ranker_.l1_ratio == 0.9
    rare = X.assign(rare=np.r_[1.0, np.zeros(599)])  # constant in all folds but one
    assert AUCClassifier(bounds={"rare": (0.0, 1.0)}).fit(rare, y > 0).coef_[0, 4] >= 0.0


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cross_validation_takes_folds_in_which_a_bounded_column_is_constant(shop, n_jobs):
    X, y, qid = shop
    rare = X.assign(rare=(np.arange(600) < 2) * np.arange(1.0, 601.0))
    ranker = LinearRanker(monotonic_cst={"rare": 1})
    for model in (ranker, make_pipeline(StandardScaler().set_output(transform="pandas"), ranker)):
        found = cross_validate(model, rare, y, qid, n_jobs=n_jobs, return_estimator=True)
        assert np.all(np.isfinite(found["test_score"]))
        last = [one[-1] if isinstance(one, Pipeline) else one for one in found["estimator"]]
        assert any(one.coef_[-1] == 0.0 for one in last)
    with pytest.raises(DataError, match="Feature 'rare' is constant"):
        ranker.fit(rare[100:], y[100:], qid[100:])


def test_model_files_hold_them(shop, tmp_path):
    X, y, qid = shop
    for asked in (
        {"l1_ratio": 0.5, "monotonic_cst": {"price": -1}},
        {"bounds": {"price": (None, 0.0), "match": (0.1, 3.0)}},
        {"bounds": [(-np.inf, 0.5)] * 4, "monotonic_cst": np.array([1, -1, 0, 0])},
        {"bounds": (0.0, np.inf)},
    ):
        ranker = LinearRanker(alpha=0.05, **asked).fit(X, y, qid)
        linrank.save(ranker, tmp_path / "model.json")
        back = linrank.load(tmp_path / "model.json")
        assert np.array_equal(back.coef_, ranker.coef_)
        assert np.array_equal(clone(back).fit(X, y, qid).coef_, ranker.coef_)


def test_a_model_file_with_other_things_for_bounds_is_damaged(shop, tmp_path):
    linrank.save(LinearRanker(bounds=(0.0, 1.0)).fit(*shop), tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["parameters"]["bounds"] = ["zero", 1.0]
    del document["checksum"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(linrank.ModelFileError, match="holds something else than numbers"):
        linrank.load(tmp_path / "model.json")


def test_a_monotone_model_is_exported(shop):
    """Solr's weights and SQL's scores are those of the ranker: a dearer offer is never above the same at less."""
    X, y, qid = shop
    ranker = LinearRanker(alpha=0.01, l1_ratio=0.5, monotonic_cst={"price": -1}, bounds={"price": (None, -0.002)})
    ranker.fit(X, y, qid)
    solr = json.loads(ranker.to_solr())["params"]["weights"]
    assert solr["price"] == -0.002
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE documents (match REAL, price REAL, sales REAL, noise REAL)")
    dearer = X.assign(price=X["price"] + 10.0)
    base.executemany("INSERT INTO documents VALUES (?, ?, ?, ?)", [*X.to_numpy().tolist(), *dearer.to_numpy().tolist()])
    scores = np.array([row[-1] for row in base.execute(ranker.to_sql())])
    np.testing.assert_allclose(scores[:600], ranker.predict(X), rtol=1e-12, atol=1e-12)
    assert (scores[600:] < scores[:600]).all()


def test_limits_in_words():
    weights, names = np.array([0.0, 0.5, 2.0]), ["a", "b", "c"]
    assert described({"a": -1}, None, weights, names) == "a at most 0 (1 on a bound)"
    assert described(None, (0.0, 2.0), weights, names) == "all weights from 0 to 2 (2 on a bound)"
    assert described(None, {"b": (0.5, None)}, weights, names) == "b at least 0.5 (1 on a bound)"
    assert described([0, 0, 0], None, weights, names) == "none"
    many = described([1] * 20, None, np.ones(20), [f"x{j}" for j in range(20)])
    assert many == "all weights at least 0 (0 on a bound)"
    some = described([1] * 19 + [0], None, np.ones(20), [f"x{j}" for j in range(20)])
    assert some.endswith("11 more (0 on a bound)")


def test_nothing_asked_is_a_ridge():
    assert not Asked().kinks
    assert not Asked(0.0, [0, 0], None).over(2).kinks
    assert not Asked(0.0, None, (None, None)).over(2).kinks


def test_two_arrays_for_two_features_are_not_guessed():
    X, y, qid = make_ranking(60, 2, 6, 3)
    ends = np.zeros(2), np.full(2, 0.3)
    with pytest.raises(ParameterError, match="may be pairs or ends"):
        LinearRanker(bounds=ends).fit(X, y, qid)
    found = LinearRanker(bounds=[(0.0, 0.3), (0.0, 0.3)]).fit(X, y, qid).coef_
    assert np.all((found >= 0) & (found <= 0.3))
