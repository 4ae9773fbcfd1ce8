"""alpha and scale from the data: the rules themselves, and that the default is about as good as tuning."""

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import KFold

from linrank import (
    AUCClassifier,
    DataError,
    LinearRanker,
    LinearRankerCV,
    NoPairsError,
    ParameterError,
    RankingData,
    SGDRanker,
)
from linrank.defaults import STRENGTH, all_in_order, choose_scale
from linrank.engines import Facts, LocalEngine
from linrank.losses import LOSSES
from linrank.losses.wrong_pairs import WrongPairs
from linrank.metrics import pairwise_accuracy
from linrank.testing import enumerate_pairs, loss_at, make_ranking, naive_accuracy
from strategies import problems

pytestmark = pytest.mark.smoke


def effective_rows(data):
    """How many rows there are to learn from."""
    return Facts.of(data).row_weights.effective


def mixed(n: int = 400, seed: int = 0):
    """Two numeric columns, and words of which each row has a few."""
    rng = np.random.default_rng(seed)
    words = rng.poisson(0.15, (n, 30)).astype(float)
    X = np.hstack([rng.normal(5, 3, (n, 1)), rng.normal(0, 1e-4, (n, 1)), words])
    y = X[:, 0] + 1e4 * X[:, 1] + words @ rng.normal(size=30) * 2 + rng.normal(size=n)
    return X, y


def test_dense_columns_are_divided_by_their_deviation_and_sparse_ones_by_one_number():
    X, y = mixed()
    scale = LinearRanker().fit(X, y).scale_
    np.testing.assert_allclose(scale[:2], X[:, :2].std(axis=0))
    size = [np.sqrt(np.mean(column[column != 0] ** 2)) for column in X[:, 2:].T]
    np.testing.assert_allclose(scale[2:], np.sort(size)[(len(size) - 1) // 2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asfortranarray, sp.csr_array, sp.csc_matrix])
def test_the_same_numbers_get_the_same_defaults_however_they_are_stored(kind, dtype):
    X, y = mixed()
    X = X.astype(dtype)
    a, b = LinearRanker().fit(X, y), LinearRanker().fit(kind(X), y)
    np.testing.assert_allclose(a.scale_, b.scale_, rtol=1e-12)
    assert a.alpha_ == pytest.approx(b.alpha_, rel=1e-12)


@pytest.mark.parametrize("n", [22, 33, 46, 51])
def test_rounding_does_not_decide_which_columns_are_sparse_or_alike(n):
    """Exactly half of a column, and sizes that differ by a power of ten: every layout is on the same side."""
    rng = np.random.default_rng(n)
    X = np.zeros((n, 4))
    X[: n // 4, 0], X[n // 4 : n // 2, 1], X[: n // 3, 2], X[: n // 2, 3] = 1.0, 1.0, 10.0, 3.0
    X = X[rng.permutation(n)]
    y = rng.integers(0, 3, n)
    expected = LinearRanker().fit(X, y)
    twice = LinearRanker().fit(np.vstack([X, X]), np.r_[y, y])
    np.testing.assert_allclose(twice.scale_, expected.scale_)
    for given in (np.asfortranarray(X), sp.csr_array(X), X.astype(np.float32)):
        ranker = LinearRanker().fit(given, y)
        np.testing.assert_allclose(ranker.scale_, expected.scale_)
        assert ranker.alpha_ == pytest.approx(expected.alpha_)


@pytest.mark.parametrize("size", [1e300, 1e308])
def test_huge_sparse_columns_do_not_overflow(size):
    rng = np.random.default_rng(0)
    X = (rng.random((50, 4)) < 0.3) * size
    y = X[:, 0] / size + 2.0 * (X[:, 1] / size)
    ranker = LinearRanker().fit(X, y)
    assert np.all(np.isfinite(ranker.scale_))
    assert ranker.score(X, y) == 1.0


@pytest.mark.parametrize("factor", [1e-162, 1e-170, 1e160])
def test_variances_beyond_all_numbers_are_named(factor):
    X, y = mixed()
    for ranker in (LinearRanker(scale=False), LinearRankerCV(3, cv=2, scale=False), SGDRanker(scale=False)):
        with pytest.raises(DataError, match=r"over- or underflow.*scale=True"):
            ranker.fit(X[:, :1] * factor, y)


def test_the_unit_of_weights_does_not_matter_unless_they_count_rows():
    X, y, qid = make_ranking(200, 4, 10, 4)
    alpha = LinearRanker().fit(X, y, qid).alpha_
    for weight in (1.0, 1000.0, 999.5, 0.5):
        given = LinearRanker().fit(X, y, qid, sample_weight=np.full(200, weight))
        assert given.alpha_ == pytest.approx(alpha)
    prices = np.random.default_rng(0).integers(100, 400, 200)
    a, b = (LinearRanker().fit(X, y, qid, sample_weight=w).alpha_ for w in (prices, prices / 7))
    assert a == pytest.approx(b)


def test_weights_of_rows_are_nothing_to_explicit_pairs():
    X, _, _ = make_ranking(20, 3, 1, 4)
    pairs = [(0, 1), (2, 3), (4, 5)]
    some = np.zeros(20)
    some[3] = 1.0
    plain = RankingData(X, pairs=pairs)
    assert effective_rows(plain) == effective_rows(RankingData(X, pairs=pairs, sample_weight=some)) == 6.0


def test_a_numpy_boolean_is_a_boolean():
    X, y = mixed()
    for alpha in ("auto", 0.01):
        a, b = (SGDRanker(alpha=alpha, scale=s, random_state=0).fit(X, y) for s in (True, np.True_))
        np.testing.assert_array_equal(a.coef_, b.coef_)


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_a_sparse_column_in_other_units_stays_learnable_and_harmless(factor):
    X, y = mixed()
    plain = LinearRanker().fit(X, y).score(X, y)
    X[:, 2] *= factor
    ranker = LinearRanker().fit(X, y)
    assert ranker.score(X, y) == pytest.approx(plain, abs=0.01)
    others = LinearRanker().fit(np.delete(X, 2, axis=1), y)
    assert ranker.score(X, y) > others.score(np.delete(X, 2, axis=1), y)  # it was learned


def test_alpha_is_the_sum_of_the_scaled_variances_over_the_rows():
    X, y = mixed()
    for loss, c in STRENGTH.items():
        ranker = LinearRanker(loss, tol=0.1).fit(X, y)
        assert ranker.alpha_ == pytest.approx(c * (X / ranker.scale_).var(axis=0).sum() / X.shape[0])
    assert LinearRanker(scale=False, tol=0.1).fit(X, y).alpha_ == pytest.approx(
        STRENGTH["squared_hinge"] * X.var(axis=0).sum() / X.shape[0]
    )


def test_every_loss_has_a_strength():
    assert set(STRENGTH) == set(LOSSES)


def test_a_number_means_itself():
    X, y = mixed()
    ranker = LinearRanker(alpha=0.03, scale=True).fit(X, y)
    assert ranker.alpha_ == 0.03
    np.testing.assert_allclose(ranker.scale_, X.std(axis=0))


def test_rows_without_pairs_and_weights_count_as_they_should():
    X, y, qid = make_ranking(300, 4, 10, 4)
    n = LinearRanker(scale=False).fit(X, y, qid).alpha_
    lonely = np.vstack([X, X])
    more = LinearRanker(scale=False).fit(lonely, np.r_[y, y], np.r_[qid, 100 + np.arange(300)])
    assert more.alpha_ == pytest.approx(n)  # the same variances, and no further row to learn from
    weights = np.random.default_rng(0).integers(1, 4, 300)
    repeated = [np.repeat(a, weights, axis=0) for a in (X, y, qid)]
    a = LinearRanker().fit(X, y, qid, sample_weight=weights)
    assert a.alpha_ == pytest.approx(LinearRanker().fit(*repeated).alpha_)
    v = np.random.default_rng(1).random(300)
    b = LinearRanker().fit(X, y, qid, sample_weight=v).alpha_
    assert b == pytest.approx(LinearRanker().fit(X, y, qid, sample_weight=1e-3 * v).alpha_)
    assert effective_rows(RankingData(X, y, qid, sample_weight=v)) == pytest.approx(v.sum() ** 2 / (v**2).sum())


def test_columns_without_any_variance_do_no_harm():
    X, y = mixed()
    flat = np.hstack([X, np.full((400, 1), 3.0), np.zeros((400, 1))])
    a, b = LinearRanker().fit(X, y), LinearRanker().fit(flat, y)
    assert a.alpha_ == pytest.approx(b.alpha_)
    assert LinearRanker().fit(np.ones((4, 2)), [0, 1, 2, 3]).alpha_ == 1.0


def test_nothing_but_auto_or_a_number():
    X, y = mixed()
    for wrong in ({"alpha": "automatic"}, {"alpha": 0.0}, {"alpha": None}, {"scale": "yes"}, {"scale": None}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            LinearRanker(**wrong).fit(X, y)
    with pytest.raises((DataError, NoPairsError)):
        LinearRanker().fit(X, np.ones(400))


def test_columns_of_an_engine_by_the_definition():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < [1, 0.9, 0.5, 0.2, 0.02, 0])
    v = rng.random(50)
    y = rng.normal(size=50)
    for given in (X, np.asfortranarray(X), sp.csr_array(X), X.astype(np.float32)):
        with LocalEngine(RankingData(given, y, sample_weight=v)) as engine:
            columns = engine.columns()
        dense = np.asarray(given.todense() if sp.issparse(given) else given, dtype=np.float64)
        mean = np.average(dense, axis=0, weights=v)
        np.testing.assert_allclose(columns.mean, mean, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(columns.deviation**2, np.average((dense - mean) ** 2, axis=0, weights=v), rtol=1e-10)
        np.testing.assert_allclose(columns.share, np.average(dense != 0, axis=0, weights=v), rtol=1e-12)
        with np.errstate(invalid="ignore"):
            size = np.sqrt((v @ dense**2) / (v @ (dense != 0)))
        np.testing.assert_allclose(columns.size, np.nan_to_num(size), rtol=1e-10)
        assert choose_scale(False, columns) is None


@pytest.mark.kernels
@hypothesis.given(problem=problems())
@hypothesis.settings(max_examples=150)
def test_wrong_pairs_are_those_that_the_accuracy_misses(problem):
    try:
        data = RankingData(np.zeros((problem.y.size, 1)), problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    point = loss_at(WrongPairs(), problem.scores, data)
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    assert 1 - point.value == pytest.approx(naive_accuracy(problem.scores, pairs), abs=1e-12)
    assert point.sums.weight == pytest.approx(pairs.c.sum())
    assert not np.any(point.gradient)
    if "pairs" not in problem.options:
        accuracy = pairwise_accuracy(problem.y, problem.scores, problem.qid, **problem.options)
        assert 1 - point.value == pytest.approx(accuracy, abs=1e-12)


def test_all_in_order_is_nearly_all():
    X = np.arange(1000.0)[:, None]
    for y, expected in ((X.ravel(), True), (-X.ravel(), False), (np.where(X < 3, X[::-1], X).ravel(), False)):
        with LocalEngine(RankingData(X, y)) as engine:
            assert all_in_order(engine, engine.scores(np.ones(1))) == expected
    y = X.ravel().copy()
    y[[0, 1]] = y[[1, 0]]  # one pair of half a million
    with LocalEngine(RankingData(X, y)) as engine:
        assert all_in_order(engine, engine.scores(np.ones(1)))
        assert not all_in_order(engine, engine.scores(np.zeros(1)))  # ties count one half


SETS = {"diabetes": load_diabetes, "breast_cancer": load_breast_cancer, "wine": load_wine}


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("name", SETS)
def test_the_default_ranks_about_as_well_as_the_best_of_a_grid(name, loss):
    X, y = SETS[name](return_X_y=True)
    grid = [{"alpha": alpha, "scale": scale} for alpha in 10.0 ** np.arange(-4, 3) for scale in (True, False)]
    scores = np.zeros(len(grid) + 1)
    for seed in (0, 1):
        for train, test in KFold(2, shuffle=True, random_state=seed).split(X):
            for k, parameters in enumerate([{}, *grid]):
                ranker = LinearRanker(loss, tol=1e-2, **parameters).fit(X[train], y[train])
                scores[k] += ranker.score(X[test], y[test]) / 4
    assert scores[0] > scores[1:].max() - 0.015


def test_other_rankers_have_the_same_defaults():
    X, y = mixed()
    exact = LinearRanker("hinge").fit(X, y)
    drawn = SGDRanker(random_state=0).fit(X, y)
    np.testing.assert_array_equal(drawn.scale_, exact.scale_)
    assert drawn.alpha_ == exact.alpha_
    assert drawn.score(X, y) == pytest.approx(exact.score(X, y), abs=0.01)
    positive = y > np.median(y)
    assert AUCClassifier().fit(X, positive).alpha_ == LinearRanker().fit(X, positive).alpha_
