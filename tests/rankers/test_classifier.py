"""AUCClassifier: scikit-learn's checks, the sigmoid, folds by content, and why class weights change nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from interrupts import interrupting, wait_for_threads
from linrank import AUCClassifier, DataError, LinearRanker, ParameterError
from linrank.metrics import scorer
from linrank.model_selection.folds import content_folds, row_hashes
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@parametrize_with_checks([AUCClassifier(), AUCClassifier("hinge", cv=None)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    """3 % positive rows, features with offsets; the first half is for training."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 6)) + 50 * np.arange(6)
    logit = 1.5 * (X - 50 * np.arange(6)) @ rng.standard_normal(6) - 6.5
    return X, (rng.random(8000) < 1 / (1 + np.exp(-logit))).astype(int)


@pytest.fixture(scope="module")
def halves(problem):
    X, y = problem
    return X[:4000], y[:4000], X[4000:], y[4000:]


def test_ranks_as_the_ranker_and_predicts_at_one_half(halves):
    X, y, Z, truth = halves
    model = AUCClassifier().fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], LinearRanker().fit(X, y).coef_)
    np.testing.assert_allclose(model.decision_function(Z), Z @ model.coef_[0] + model.intercept_[0], rtol=1e-9)
    p = model.predict_proba(Z)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(Z), (p[:, 1] > 0.5).astype(int))
    assert roc_auc_score(truth, p[:, 1]) == roc_auc_score(truth, model.decision_function(Z)) > 0.9
    assert scorer("auc", one_query=True)(model, Z, truth) == pytest.approx(roc_auc_score(truth, p[:, 1]))


def test_probabilities_are_calibrated(halves):
    X, y, Z, truth = halves
    model = AUCClassifier().fit(X, y)
    p = model.predict_proba(Z)[:, 1]
    assert p.mean() == pytest.approx(truth.mean(), rel=0.15)
    observed, predicted = calibration_curve(truth, p, n_bins=8, strategy="quantile")
    assert np.max(np.abs(observed - predicted)) < 0.04
    assert log_loss(truth, p) < 0.75 * log_loss(truth, np.full(truth.size, y.mean()))


@pytest.mark.parametrize("factor", [0.1, 30.0])
def test_class_weights_change_no_ranking(halves, factor):
    X, y, _, _ = halves
    plain = AUCClassifier(tol=1e-8, cv=None).fit(X, y)
    weighted = AUCClassifier(tol=1e-8, cv=None).fit(X, y, sample_weight=np.where(y == 1, factor, 1.0))
    # The columns' scale is weighted too, and so is the alpha that goes by it: compare without them.
    a, b = (
        AUCClassifier(alpha=1e-3, tol=1e-10, cv=None, scale=False).fit(X - X.mean(0), y, sample_weight=w)
        for w in (None, np.where(y == 1, factor, 1.0))
    )
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-5, atol=1e-8)
    assert np.corrcoef(plain.coef_[0], weighted.coef_[0])[0, 1] > 0.999


def test_text_classes_sparse_data_and_threads(halves):
    X, y, Z, _ = halves
    names = np.array(["no", "yes"])[y]
    plain = AUCClassifier().fit(X, y)
    for model in (AUCClassifier().fit(X, names), AUCClassifier(n_jobs=2).fit(X, y)):
        np.testing.assert_array_equal(model.predict_proba(Z), plain.predict_proba(Z))
    assert set(AUCClassifier().fit(X, names).predict(Z)) == {"no", "yes"}
    sparse, dense = AUCClassifier(tol=1e-7).fit(sp.csr_array(X), y), AUCClassifier(tol=1e-7).fit(X, y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(Z)), dense.predict_proba(Z), atol=1e-3)


def test_scores_that_say_nothing_keep_their_order():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 20)), rng.integers(0, 2, 60)
    model = AUCClassifier(alpha=10.0).fit(X, y)
    assert model.slope_ > 0
    order = np.argsort(model.ranker_.predict(X))
    assert np.all(np.diff(model.decision_function(X)[order]) >= 0)
    flat = AUCClassifier().fit(np.ones((10, 2)), [0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(flat.predict_proba(np.ones((1, 2)))[0, 1], 4 / 12, rtol=1e-9)


def test_weights_mean_repetition_in_the_calibration_too(halves):
    X, y, Z, _ = halves
    times = np.random.default_rng(0).integers(0, 4, y.size)
    weighted = AUCClassifier(tol=1e-12).fit(X, y, sample_weight=times)
    repeated = AUCClassifier(tol=1e-12).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(Z), repeated.predict_proba(Z), rtol=1e-4, atol=1e-9)


def test_folds_can_be_given(halves):
    X, y, Z, _ = halves
    by_splitter, by_rows = (
        AUCClassifier(cv=cv).fit(X, y) for cv in (StratifiedKFold(3), list(StratifiedKFold(3).split(X, y)))
    )
    np.testing.assert_array_equal(by_splitter.predict_proba(Z), by_rows.predict_proba(Z))
    np.testing.assert_allclose(by_rows.predict_proba(Z), AUCClassifier().fit(X, y).predict_proba(Z), atol=0.05)


def fold_of(X, positive, used=None, n_folds=5):
    fold = np.full(positive.size, -1)
    for k, (train, test) in enumerate(
        content_folds(X, positive, np.ones(positive.size, bool) if used is None else used, n_folds)
    ):
        fold[test] = k
        assert not set(train) & set(test)
    return fold


def test_folds_by_content():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 4)) * 1.0
    positive = rng.random(200) < 0.3
    fold = fold_of(X, positive)
    assert set(fold) == set(range(5))
    order = rng.permutation(200)
    np.testing.assert_array_equal(fold_of(X[order], positive[order]), fold[order])
    np.testing.assert_array_equal(fold_of(np.r_[X, X], np.r_[positive, positive]), np.r_[fold, fold])
    used = np.r_[np.ones(200, bool), np.zeros(200, bool)]
    np.testing.assert_array_equal(
        fold_of(np.r_[X, X + 9], np.r_[positive, positive], used), np.r_[fold, np.full(200, -1)]
    )
    np.testing.assert_array_equal(row_hashes(sp.csr_array(X)), row_hashes(X))
    np.testing.assert_array_equal(row_hashes(X.astype(np.float32)), row_hashes(np.where(X == 0, -0.0, X)))
    assert np.unique(row_hashes(rng.standard_normal((5000, 3)))).size == 5000
    assert content_folds(X[:3], np.array([True, False, False]), np.ones(3, bool), 5) == []


def test_what_it_refuses(halves):
    X, y, _, _ = halves
    for cv in (1, True, "five", 2.5, 0):
        with pytest.raises(ParameterError, match="cv="):
            AUCClassifier(cv=cv).fit(X, y)
    with pytest.raises(DataError, match="Only binary"):
        AUCClassifier().fit(X, np.arange(y.size) % 3)
    with pytest.raises(DataError, match="one class"):
        AUCClassifier().fit(X, np.ones(y.size))
    with pytest.raises(DataError, match="one class"):
        AUCClassifier().fit(X, y, sample_weight=y)
    with pytest.raises(DataError, match="y has 3 values"):
        AUCClassifier().fit(X, [0, 1, 1])
    with pytest.raises(ParameterError, match="alpha"):
        AUCClassifier(alpha=-1).fit(X, y)


def test_one_row_of_a_class_is_calibrated_on_itself(caplog):
    with caplog.at_level("INFO", logger="linrank"):
        model = AUCClassifier().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert "calibrated on the training rows" in caplog.text
    np.testing.assert_array_equal(np.argsort(model.predict_proba([[0.0], [1.0], [2.0]])[:, 1]), [0, 1, 2])


def test_control_c_does_not_wait_for_the_other_folds(monkeypatch):
    """The first fit is that to all rows; Ctrl-C comes in the first fold."""
    X, y, _ = make_ranking(300, 3, 20, 3)
    done = interrupting(monkeypatch, LinearRanker, "fit", after=1)
    model = AUCClassifier()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y > 1)
    wait_for_threads()
    assert (done.begun, done.ended) == (2, 1)
    assert not hasattr(model, "coef_")
