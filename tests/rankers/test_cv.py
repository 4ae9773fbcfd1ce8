"""LinearRankerCV: folds, path, choice."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from interrupts import interrupting, wait_for_threads
from linrank import DataError, LinearRanker, LinearRankerCV, ParameterError, RankingData
from linrank.metrics import pairwise_accuracy
from linrank.model_selection import path
from linrank.model_selection.folds import make_folds
from linrank.rankers.training import Training
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@parametrize_with_checks([LinearRankerCV(3, cv=3)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    return make_ranking(900, 12, 30, 4, noise=4.0, seed=5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_scores_are_those_of_separate_fits(problem, loss):
    X, y, qid = problem
    ranker = LinearRankerCV([1.0, 1e-2, 1e-4], cv=GroupKFold(3), loss=loss, tol=1e-7).fit(X, y, qid)
    for a, alpha in enumerate(ranker.cv_results_["alpha"]):
        for f, (train, test) in enumerate(GroupKFold(3).split(X, y, qid)):
            one = LinearRanker(loss, alpha, tol=1e-7).fit(X[train], y[train], qid[train])
            score = pairwise_accuracy(y[test], one.predict(X[test]), qid[test])
            assert ranker.cv_results_["scores"][a, f] == pytest.approx(score, abs=2e-3)
    best = ranker.cv_results_["alpha"][np.argmax(ranker.cv_results_["mean_score"])]
    assert ranker.alpha_ == best
    np.testing.assert_array_equal(ranker.coef_, LinearRanker(loss, best, tol=1e-7).fit(X, y, qid).coef_)


def test_folds_keep_queries_whole_and_balance_rows(problem):
    X, y, qid = problem
    folds = make_folds(5, RankingData(X, y, qid))
    assert len(folds) == 5
    for train, test in folds:
        assert not set(qid[train]) & set(qid[test])
        assert 0.7 < test.size / (y.size / 5) < 1.3
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(y.size))


def test_a_single_query_is_split_by_rows(caplog):
    X, y, _ = make_ranking(200, 3)
    with caplog.at_level("INFO", logger="linrank"):
        LinearRankerCV(2, cv=3).fit(X, y)
    assert "rows are split" in caplog.text


def test_one_standard_error_is_never_weaker(problem):
    plain, careful = (LinearRankerCV(6, cv=4, one_standard_error=e).fit(*problem) for e in (False, True))
    assert careful.alpha_ >= plain.alpha_
    results = careful.cv_results_
    chosen, best = np.flatnonzero(results["alpha"] == careful.alpha_)[0], np.argmax(results["mean_score"])
    assert results["mean_score"][chosen] >= results["mean_score"][best] - results["standard_error"][best]


def test_threads_and_custom_metric_change_nothing(problem):
    def accuracy(y, scores, query):
        return pairwise_accuracy(y, scores, query)

    one, two, own = (
        LinearRankerCV(4, cv=3, **options).fit(*problem) for options in ({}, {"n_jobs": 2}, {"metric": accuracy})
    )
    np.testing.assert_array_equal(one.cv_results_["scores"], two.cv_results_["scores"])
    np.testing.assert_allclose(one.cv_results_["scores"], own.cv_results_["scores"])
    assert one.score(*problem) == two.score(*problem) > 0.6


def test_warm_starts_save_iterations(problem):
    X, y, qid = problem
    alphas = np.geomspace(1, 1e-5, 8)
    path = LinearRankerCV(alphas, cv=3, loss="hinge", solver="bundle").fit(X, y, qid).cv_results_["n_iter"].sum()
    cold = sum(LinearRanker("hinge", alpha, solver="bundle").fit(X, y, qid).n_iter_ for alpha in alphas)
    assert path / 3 < 0.7 * cold


BAD = [dict(alphas=0), dict(alphas=[-1.0]), dict(cv=1), dict(cv=None), dict(metric="nonsense")]


@pytest.mark.parametrize("parameters", BAD, ids=str)
def test_bad_parameters_are_named(problem, parameters):
    with pytest.raises(ParameterError):
        LinearRankerCV(**parameters).fit(*problem)


def test_folds_without_pairs_are_refused():
    with pytest.raises(DataError, match="No fold"):
        LinearRankerCV(2, cv=[([0, 1], [2])]).fit([[0.0], [1.0], [2.0]], [0, 1, 2])


# --- Ctrl-C


def test_control_c_does_not_wait_for_the_other_folds(monkeypatch):
    done = interrupting(monkeypatch, Training, "path")
    with pytest.raises(KeyboardInterrupt):
        LinearRankerCV([0.1, 0.01], cv=5).fit(*make_ranking(300, 3, 20, 3))
    wait_for_threads()
    assert (done.begun, done.ended) == (1, 0)


@pytest.mark.parametrize("where", ["fit", "path"])
def test_an_interrupted_refit_leaves_the_last_fit_as_it_was(monkeypatch, where):
    first, second = (make_ranking(300, 3, 20, 3, seed=seed) for seed in (1, 2))
    model = LinearRankerCV(3, cv=3).fit(*first)
    before = dict(vars(model))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Training, where, interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(alphas=[0.5, 0.25]).fit(*second)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before if name.endswith("_"))


def noise(strength: float):
    """Many columns, few rows: the more noise, the stronger the best alpha."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 40))
    return X, X[:, 0] + strength * rng.normal(size=60)


def test_the_path_lies_around_the_default():
    X, y = noise(1.0)
    found = LinearRankerCV(7, cv=3).fit(X, y)
    default = LinearRanker().fit(X, y).alpha_
    assert found.cv_results_["default_alpha"] == default
    assert np.min(np.abs(np.log(found.cv_results_["alpha"] / default))) < 1e-9


def test_the_path_grows_where_the_best_alpha_is_at_its_end(monkeypatch, caplog):
    monkeypatch.setattr(path, "REACH", 3.0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    y = X @ [1.0, -2.0, 3.0]  # no noise at all: the weaker, the better
    found = LinearRankerCV(4, cv=3, tol=1e-6).fit(X, y)
    alphas = found.cv_results_["alpha"]
    assert alphas.size > 4
    np.testing.assert_allclose(alphas[1:] / alphas[:-1], alphas[1] / alphas[0])
    assert np.all(np.diff(alphas) < 0)
    assert found.cv_results_["scores"].shape == (alphas.size, 3)
    assert found.cv_results_["n_iter"].shape == (alphas.size, 3)
    short = LinearRankerCV(alphas[:4], cv=3, tol=1e-6).fit(X, y)
    assert found.cv_results_["mean_score"].max() > short.cv_results_["mean_score"].max()
    assert "the best alpha is the smallest one tried" in caplog.text  # the list given does not grow, but says so


def test_of_equal_alphas_the_one_nearest_to_the_default_is_taken():
    X = np.arange(60.0)[:, None]  # every alpha ranks it without error
    for loss in ("squared_hinge", "logistic"):
        found = LinearRankerCV(cv=3, loss=loss).fit(X, X[:, 0])
        alphas, default = (found.cv_results_[name] for name in ("alpha", "default_alpha"))
        assert found.alpha_ == alphas[np.argmin(np.abs(np.log(alphas / default)))]
        assert found.cv_results_["alpha"].size == 20  # nothing is gained beyond


def test_a_path_of_two_does_not_grow_by_millions():
    two = np.array([1e3, 1e-3])
    np.testing.assert_allclose(path._beyond(two, 0), [3e4])
    np.testing.assert_allclose(path._beyond(two, 1), [1e-3 / 30])
    dense = np.array([4.0, 2.0, 1.0])  # as dense as it is, up to thirty times as far
    np.testing.assert_allclose(path._beyond(dense, 0), [128.0, 64.0, 32.0, 16.0, 8.0])
    np.testing.assert_allclose(path._beyond(dense, 2), [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32])


def test_nobody_is_advised_to_use_what_they_use(capsys):
    X = np.arange(60.0)[:, None]
    LinearRankerCV(3, cv=3, verbose=1).fit(X, X[:, 0])
    assert "LinearRankerCV" not in capsys.readouterr().err
    LinearRanker(verbose=1).fit(X, X[:, 0])
    shown = capsys.readouterr().err.splitlines()
    assert "LinearRankerCV" in shown[-1]  # after the last iteration


@pytest.mark.parametrize("alphas", ["auto", [], [0.0], [10**400], None, 0])
def test_alphas_that_cannot_be_meant(alphas):
    with pytest.raises(ParameterError, match="alphas"):
        LinearRankerCV(alphas).fit([[0.0], [1.0]], [0, 1])


def test_a_fold_whose_pairs_stand_on_rows_without_weight():
    X, y, qid = make_ranking(200, 4, 8, 4)
    v = np.where(qid == 0, 2.0, 0.0)
    pairs = [np.flatnonzero(qid == q)[:2] for q in range(1, 8)]
    folds = [(np.flatnonzero(qid != 0), np.flatnonzero(qid == 0))]
    found = LinearRankerCV(3, cv=folds).fit(X, y, qid, sample_weight=v, pairs=pairs)
    assert np.all(np.isfinite(found.cv_results_["scores"]))
