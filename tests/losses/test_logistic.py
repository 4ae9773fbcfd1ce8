"""The logistic loss: value, gradient, Hessian products and exact Hessians against sums over all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from hessians import exact_hessian
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc

from linrank import LinearRanker, NoPairsError, ParameterError, RankingData
from linrank.data import active
from linrank.kernels import logistic
from linrank.losses import Logistic, LogisticErfc, logistic_erfc
from linrank.losses.logistic_erfc import A
from linrank.testing import check_loss, enumerate_pairs, loss_at, make_ranking, naive_laplacian, naive_loss
from strategies import problems

pytestmark = pytest.mark.kernels

#: Limits that make all rankings long, and all of them short.
LOW, HIGH = 0, 10**9


def sigma(z):
    return 0.5 * (1 + np.tanh(0.5 * z))


def phi(z):
    return np.logaddexp(0, -z)


def second(z):
    return sigma(z) * sigma(-z)


def errors(point):
    """What a point admits of the mean loss and of its gradient."""
    return point.sums.error / point.sums.weight, point.sums.gradient_error / point.sums.weight


@pytest.mark.parametrize("limit", [LOW, HIGH], ids=["sorted", "direct"])
@given(problem=problems(max_rows=25), seed=st.integers(0, 99))
@settings(max_examples=150)
def test_equal_sums_over_all_pairs(limit, problem, seed):
    X = np.random.default_rng(seed).standard_normal((problem.y.size, 3))
    try:
        data = RankingData(X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    naive = naive_loss(phi, lambda z: -sigma(-z), problem.scores, pairs)
    L = naive_laplacian(second, problem.scores, pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active, "TUNING", replace(active.TUNING, short_logistic=limit))
        ours = loss_at(Logistic(), problem.scores, data)
        product = np.column_stack([ours.product(x) for x in X.T])
        H = exact_hessian(Logistic(), problem.scores, data, np.array([1.0, 2.0, 0.5]))
    assert abs(ours.value - naive.value) <= 1e-14 * (1 + abs(naive.value)) + errors(ours)[0]
    np.testing.assert_allclose(ours.gradient, naive.gradient, atol=5e-12)
    np.testing.assert_allclose(product, L @ X, atol=1e-10)
    np.testing.assert_allclose(H, X.T @ L @ X / np.outer([1, 2, 0.5], [1, 2, 0.5]), atol=1e-10)


def test_contract():
    check_loss(Logistic())


@pytest.mark.parametrize("terms", [4, 8, 12, 16, 20])
def test_series_is_within_its_bound(terms):
    d, error = logistic.series(terms)
    x = np.linspace(0, 1, 20_001)
    D = np.polynomial.polynomial.polyval(x, [0.0, *map(float, d)])
    P = np.polynomial.polynomial.polyval(x, [0.0, *(float(c) / k for k, c in enumerate(d, 1))])
    assert sum(d) == 1 / 2  # the slopes of both sides of z = 0 agree
    assert np.abs(D - x / (1 + x)).max() <= error + 1e-15
    assert np.abs(P - np.log1p(x)).max() <= error + 1e-15
    assert error <= 1.1 * 5.83 ** (1 - terms)


def test_far_apart_and_coincident_scores():
    """Spans of 1e12, offsets, ties: nothing overflows, and equal scores are worth log 2."""
    y = np.tile([0.0, 1.0, 2.0], 200)
    pairs = enumerate_pairs(y, None)
    for scores in (
        np.linspace(-1e12, 1e12, 600),
        np.zeros(600),
        np.full(600, 1e6),
        np.where(np.arange(600) < 300, -1e9, 1e9),
        800.0 * y,
        np.linspace(-299.0, 299.0, 600),  # products of few factors
        np.linspace(-20.0, 20.0, 600)[::-1],
    ):
        data = RankingData(np.zeros((600, 1)), y)
        naive = naive_loss(phi, lambda z: -sigma(-z), scores, pairs)
        for limit in (LOW, HIGH):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(active, "TUNING", replace(active.TUNING, short_logistic=limit))
                ours = loss_at(Logistic(), scores, data)
            assert abs(ours.value - naive.value) <= 1e-13 * naive.value + errors(ours)[0]
            np.testing.assert_allclose(ours.gradient, naive.gradient, atol=5e-12)


@pytest.mark.parametrize("levels", [2, 3, None])
@pytest.mark.parametrize("spread", [0, 3, 6])
def test_errors_are_told_where_weights_are_uneven(levels, spread):
    """Sums that cancel lose digits: never more than the point admits."""
    rng = np.random.default_rng(spread)
    X, y, _ = make_ranking(1200, 2, 1, levels)
    scores, v = X @ [1.0, 0.5], 10.0 ** rng.uniform(-spread, spread, y.size)
    data = RankingData(X, y, sample_weight=v)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active, "TUNING", replace(active.TUNING, short_logistic=HIGH))
        exact = loss_at(Logistic(), scores, data)
        patch.setattr(active, "TUNING", replace(active.TUNING, short_logistic=LOW))
        ours = loss_at(Logistic(), scores, data)
    error, gradient_error = errors(ours)
    assert abs(ours.value - exact.value) <= error
    assert np.abs(ours.gradient - exact.gradient).sum() <= max(gradient_error, 1e-11)


def test_two_levels_do_not_cancel():
    """Rows of 1e6 against rows of 1e-6: all pairs weigh 1."""
    X, y, _ = make_ranking(1500, 3, 1, 2)
    v = np.where(y == y.min(), 1e6, 1e-6)
    plain, uneven = (
        LinearRanker("logistic", 1e-3, scale=False, tol=1e-6).fit(X, y, sample_weight=w) for w in (None, v)
    )
    assert uneven.objective_ == pytest.approx(plain.objective_, abs=1e-6)
    assert uneven.status_ == "converged"


def test_sparse_data_with_more_levels_than_memory_for_their_square():
    """100,000 distinct levels in one query; the gradient sums to zero and the Hessian annihilates constants."""
    X, y, _ = make_ranking(100_000, 2, 1, None)
    point = loss_at(Logistic(), X @ np.ones(2), RankingData(X, y))
    assert abs(point.gradient.sum()) < 1e-12
    np.testing.assert_allclose(point.product(np.ones(y.size)), 0.0, atol=1e-16)


# The paper's stand-in.


def surrogate(z):
    return np.exp(-((A * z) ** 2)) / (2 * A * np.sqrt(np.pi)) - z * erfc(A * z) / 2


@pytest.mark.parametrize("limit", [LOW, HIGH], ids=["sorted", "direct"])
@given(problem=problems(max_rows=25), seed=st.integers(0, 99))
@settings(max_examples=80)
def test_the_stand_in_equals_sums_over_all_pairs(limit, problem, seed):
    X = np.random.default_rng(seed).standard_normal((problem.y.size, 3))
    try:
        data = RankingData(X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    naive = naive_loss(surrogate, lambda z: -erfc(A * z) / 2, problem.scores, pairs)
    L = naive_laplacian(lambda z: A * np.exp(-((A * z) ** 2)) / np.sqrt(np.pi), problem.scores, pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active, "TUNING", replace(active.TUNING, short_logistic=limit))
        patch.setattr(logistic_erfc, "SMALL_LEVEL", 3)
        ours = loss_at(LogisticErfc(), problem.scores, data)
        product = np.column_stack([ours.product(x) for x in X.T])
    error, gradient_error = errors(ours)
    assert abs(ours.value - naive.value) <= 1e-14 * (1 + abs(naive.value)) + error
    assert np.abs(ours.gradient - naive.gradient).sum() <= 1e-12 + gradient_error
    np.testing.assert_allclose(product, L @ X, atol=1e-7)


def test_the_stand_in_is_within_its_distance_of_the_sigmoid():
    check_loss(LogisticErfc())
    z = np.linspace(-30, 30, 10_001)
    assert 0.0225 < np.abs(1 - erfc(A * z) / 2 - sigma(z)).max() < 0.023


def test_loose_sums_are_told_in_the_certificate():
    X, y, _ = make_ranking(3000, 3, 1, 6)
    data, scores = RankingData(X, y), X @ np.ones(3)
    tight, loose = (loss_at(LogisticErfc(eps), scores, data) for eps in (1e-13, 1e-3))
    error, gradient_error = errors(loose)
    assert abs(tight.value - loose.value) <= error
    assert 0 < np.abs(tight.gradient - loose.gradient).sum() <= gradient_error
    with pytest.raises(ParameterError, match="between 0 and 1"):
        LogisticErfc(2.0)
