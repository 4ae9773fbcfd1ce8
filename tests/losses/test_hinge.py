"""The hinge loss against the walk over all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings

from linrank import NoPairsError, RankingData
from linrank.losses import Hinge
from linrank.testing import PairHinge, enumerate_pairs, loss_at, make_ranking, naive_hinge
from strategies import problems


@pytest.mark.kernels
@given(problem=problems())
@settings(max_examples=700)
def test_value_and_subgradient_equal_the_naive_twin(problem):
    try:
        data = RankingData(np.zeros((problem.y.size, 1)), problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    ours, naive = loss_at(Hinge(), problem.scores, data), naive_hinge(problem.scores, pairs)
    assert ours.value == pytest.approx(naive.value, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(ours.gradient, naive.gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n_queries", "n_levels"), [(1, None), (1, 5), (40, None), (40, 3)])
def test_pair_rsvm_gives_the_same(n_queries, n_levels):
    X, y, qid = make_ranking(3000, 4, n_queries, n_levels)
    data = RankingData(X, y, qid)
    scores = X @ np.ones(4)
    tree, pair = loss_at(Hinge(), scores, data), loss_at(PairHinge(), scores, data)
    assert tree.value == pytest.approx(pair.value, rel=1e-12)
    np.testing.assert_allclose(tree.gradient, pair.gradient, rtol=1e-12, atol=1e-18)


def test_an_offset_of_a_million_costs_no_digits():
    X, y, qid = make_ranking(2000, 4, 3, None)
    data = RankingData(X, y, qid)
    scores = np.round(X @ np.ones(4), 6)
    exact, moved = (loss_at(Hinge(), scores + offset, data).value for offset in (0.0, 2.0**20))
    assert moved == pytest.approx(exact, rel=1e-9)


def test_row_order_changes_nothing_beyond_rounding():
    X, y, qid = make_ranking(1000, 4, 7, None)
    order = np.random.default_rng(0).permutation(y.size)
    scores = X @ np.ones(4)
    one = loss_at(Hinge(), scores, RankingData(X, y, qid))
    other = loss_at(Hinge(), scores[order], RankingData(X[order], y[order], qid[order]))
    assert other.value == pytest.approx(one.value, rel=1e-12)
    np.testing.assert_array_equal(other.gradient, one.gradient[order])


@pytest.mark.kernels
@pytest.mark.parametrize("far", [1e6, 2.2e12, 3.3e15])
@pytest.mark.parametrize("weights", [None, 0.1 + np.arange(9) % 3])
def test_a_score_far_out_leaves_the_others_their_digits(far, weights):
    """Its pairs are all inactive, so that the value is that of the others."""
    scores, y = np.array([0, 0.3, 0, 0, far, 0, 0.7, 0, 0]), np.array([0, 1, 0, 0, 2, 1, 0, 1, 0])
    data = RankingData(np.zeros((9, 1)), y, sample_weight=weights)
    found = loss_at(Hinge(), scores, data).value
    assert found == pytest.approx(naive_hinge(scores, enumerate_pairs(y, sample_weight=weights)).value, rel=1e-15)
