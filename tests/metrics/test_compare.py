"""Comparison of two rankings: uniform p-values where there is nothing to find, DeLong's variance, and what is said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from linrank import DataError, ParameterError, compare, labels, metrics
from linrank.metrics._compare import bootstrap_means, influences, randomisation_p_value
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


def null_p_value(seed):
    """Two rankings of 25 queries that are right to the same degree."""
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, 3, 150), np.repeat(np.arange(25), 6)
    a, b = y + 2 * rng.standard_normal((2, 150))
    return compare(y, a, b, qid, "ndcg@3", n_resamples=299, random_state=seed).p_value


def null_p_value_within(seed):
    """Two rankings of one query, their errors being alike and partly shared."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 250)
    a, b = y + rng.standard_normal(250) + rng.standard_normal((2, 250))
    return compare(y, a, b, metric="pairwise_accuracy").p_value


@pytest.mark.parametrize("draw", [null_p_value, null_p_value_within])
def test_p_values_are_uniform_where_there_is_nothing_to_find(draw):
    p = np.array([draw(seed) for seed in range(1000)])
    assert kstest(p, "uniform").pvalue > 0.01
    assert abs(np.mean(p <= 0.05) - 0.05) < 0.02


def test_differences_are_found_and_intervals_hold_them():
    rng = np.random.default_rng(0)
    held = 0
    for seed in range(100):
        d = rng.exponential(1.0, 60)
        low, high = np.quantile(bootstrap_means(d, 400, np.random.default_rng(seed)), [0.05, 0.95])
        held += low <= 1.0 <= high
    assert 78 <= held <= 97
    _, y, qid = make_ranking(600, 2, 60, 4)
    good, bad = y + rng.standard_normal(600), y + 4 * rng.standard_normal(600)
    found = compare(y, good, bad, qid)
    assert found.p_value < 0.01
    assert 0 < found.interval[0] < found.difference < found.interval[1]
    assert found.wins > found.losses
    assert found.wins + found.ties + found.losses == found.n_queries


def test_the_same_scores_do_not_differ():
    _, y, qid = make_ranking(100, 2, 10, 4)
    found = compare(y, y, 2 * y, qid, "map")
    assert (found.p_value, found.interval, found.wins, found.losses) == (1.0, (0.0, 0.0), 0, 0)
    within = compare(y, y, 2 * y, metric="pairwise_accuracy")
    assert (within.p_value, within.difference, within.ties) == (1.0, 0.0, 1)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 9))
def test_the_randomisation_test_by_its_definition(seed, n):
    rng = np.random.default_rng(seed)
    d = rng.integers(-3, 4, n) / 7
    signs = np.array(np.meshgrid(*[[-1, 1]] * n)).reshape(n, -1)
    right = np.mean(np.abs(signs.T @ d) >= abs(d.sum()) - 1e-9)
    p, exact = randomisation_p_value(d, 1000, rng)
    assert exact
    assert p == pytest.approx(right)
    _, exact = randomisation_p_value(np.r_[d, np.zeros(20)], 1, rng)
    assert exact == bool(np.count_nonzero(d) == 0)
    if np.count_nonzero(d) > 6:
        p, exact = randomisation_p_value(d, 2 ** np.count_nonzero(d) - 1, rng)
        assert not exact
        assert p == pytest.approx(right, abs=0.2)


def delong(y, a, b):
    """Variance of the difference of two areas, by DeLong et al. (1988), pair by pair."""
    up, down = np.flatnonzero(y == 1), np.flatnonzero(y == 0)

    def right(s):
        z = s[up][:, None] - s[down]
        return (z > 0) + 0.5 * (z == 0)

    d = right(a) - right(b)
    return d.mean(), d.mean(axis=1).var(ddof=1) / up.size + d.mean(axis=0).var(ddof=1) / down.size


@given(seed=st.integers(0, 2**32 - 1))
def test_two_levels_are_delong(seed):
    rng = np.random.default_rng(seed)
    y = np.r_[0, 0, 1, 1, rng.integers(0, 2, rng.integers(0, 40))]
    a, b = (np.round(y + rng.standard_normal(y.size), int(rng.integers(0, 3))) for _ in range(2))
    difference, variance = delong(y, a, b)
    found = compare(y, a, b, metric="auc", confidence=0.6826894921370859)
    assert found.difference == pytest.approx(difference, abs=1e-12)
    assert (found.interval[1] - found.interval[0]) / 2 == pytest.approx(np.sqrt(variance), abs=1e-12)
    error = compare(y, a, b, metric="pairwise_error")
    assert (error.difference, error.p_value) == (pytest.approx(-difference, abs=1e-12), pytest.approx(found.p_value))


@given(seed=st.integers(0, 2**32 - 1), tie=st.sampled_from([0.0, 0.5, 1.0]), kind=st.sampled_from(["full", "chain"]))
def test_influences_pair_by_pair(seed, tie, kind):
    from linrank.data.ranking_data import make_preferences
    from linrank.testing import enumerate_pairs

    rng = np.random.default_rng(seed)
    y, s = np.r_[0, 1, rng.integers(0, 4, 20)], rng.integers(0, 6, 22).astype(float)
    theta, pull = influences(s, make_preferences(22, y, preferences=kind)[2], tie)
    pairs = enumerate_pairs(y, preferences=kind)
    z = s[pairs.winner] - s[pairs.loser]
    right = np.where(z == 0, tie, z > 0)
    naive = np.bincount(pairs.winner, right - right.mean(), 22) + np.bincount(pairs.loser, right - right.mean(), 22)
    assert theta == pytest.approx(right.mean())
    np.testing.assert_allclose(pull, naive, atol=1e-9)


def test_what_is_said():
    _, y, qid = make_ranking(200, 2, 20, 3)
    rng = np.random.default_rng(1)
    a, b = y + rng.standard_normal((2, 200))
    found = compare(labels(y, qid), a, b, metric="map", preset="letor", n_resamples=500)
    text = str(found)
    assert "map over 20 queries" in text
    assert f"{found.mean_a:.4f} against {found.mean_b:.4f}" in text
    assert "500 draws" in text
    assert found == compare(y, a, b, qid, "map", preset="letor", n_resamples=500)
    assert found != compare(y, a, b, qid, "map", preset="letor", n_resamples=500, random_state=1)
    assert found.mean_a == pytest.approx(metrics.average_precision(y, a, qid, preset="letor"))
    error = compare(y, a, b, qid, "pairwise_error", n_resamples=200)
    accuracy = compare(y, a, b, qid, "pairwise_accuracy", n_resamples=200)
    assert (error.wins, error.losses) == (accuracy.wins, accuracy.losses)  # a smaller error is a win
    assert error.difference == pytest.approx(-accuracy.difference)
    assert "over 1 query" in str(compare(y, a, b, metric="wmw", ties="correct"))


@pytest.mark.parametrize(
    ("kwargs", "error", "text"),
    [
        (dict(metric="ndcg@10"), DataError, "sample of one"),
        (dict(metric="auc"), DataError, "two levels"),
        (dict(metric="wmw", query_weighting="pairs"), ParameterError, "query_weighting"),
        (dict(metric="nonsense"), ParameterError, "not known"),
        (dict(n_resamples=0), ParameterError, "n_resamples"),
        (dict(confidence=95), ParameterError, "confidence"),
        (dict(metric="auc", threshold=2.0), DataError, "single row"),
        (dict(qid=[0, 0, 1, 1], metric="map", threshold=2.0), DataError, "defined for 1 queries"),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_named(kwargs, error, text):
    with pytest.raises(error, match=text):
        compare([0, 1, 0, 2], [1, 2, 3, 4], [4, 3, 2, 1], **kwargs)
