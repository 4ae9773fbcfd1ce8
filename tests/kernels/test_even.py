"""What even losses are made of, against plain numpy: levels in sorted order, gaps, the linear part; pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank.kernels import even, logistic, logistic_direct

pytestmark = pytest.mark.kernels

SIZES = st.lists(st.integers(0, 9), min_size=1, max_size=8)


def pointers(sizes):
    return np.r_[0, np.cumsum(sizes)].astype(np.int64)


@given(sizes=SIZES, seed=st.integers(0, 99))
def test_levels_keep_the_order_of_scores(sizes, seed):
    ptr = pointers(sizes)
    order = np.random.default_rng(seed).permutation(ptr[-1]).astype(np.int32)
    level, cursor, grouped = (np.empty(n, dtype=np.int32) for n in (order.size, len(sizes), order.size))
    even.to_levels(order, ptr, 0, level, cursor, grouped)
    of_rows = np.repeat(np.arange(len(sizes)), sizes)
    np.testing.assert_array_equal(grouped, np.argsort(of_rows[order], kind="stable"))


@given(sizes=SIZES, seed=st.integers(0, 99), spread=st.sampled_from([0.0, 1e-9, 0.01, 0.06, 1.0, 700.0, 1e6]))
def test_gaps_are_exponentials_to_the_last_place(sizes, seed, spread):
    ptr, rng = pointers(sizes), np.random.default_rng(seed)
    s = np.concatenate([np.sort(spread * rng.standard_normal(n)) for n in sizes])
    x = np.empty(s.size)
    logistic.gaps(ptr, s, x)
    expected = np.exp(-np.maximum(np.diff(s, prepend=0.0), 0.0))
    expected[ptr[:-1][np.array(sizes) > 0]] = 0.0
    np.testing.assert_allclose(x, expected, rtol=3e-16)


@given(sizes=SIZES, seed=st.integers(0, 99))
def test_the_linear_part(sizes, seed):
    ptr, rng = pointers(sizes), np.random.default_rng(seed)
    s, v, balance, T = rng.standard_normal((4, ptr[-1]))
    v, part = np.abs(v), np.abs(v) * (s - 0.5)
    found = even.linear_sums(s, 0.5, v, balance)
    np.testing.assert_allclose(found, [part @ balance, np.abs(part * balance).sum(), np.abs(part).sum()], atol=1e-12)
    order, out = rng.permutation(s.size).astype(np.int32), balance.copy()
    even.add_sorted(order, T, v, 2.0, out)
    expected = balance.copy()
    expected[order] += T
    np.testing.assert_allclose(out, 2.0 * v * expected, atol=1e-14)


@given(n=st.integers(2, 40), seed=st.integers(0, 99), spread=st.sampled_from([0.0, 1.0, 30.0, 200.0, 1e4]))
def test_a_product_of_factors_is_as_good_as_a_sum_of_logarithms(n, seed, spread):
    """All weights 1, left out or given as such; sums over pairs, one by one, beside both."""
    rng = np.random.default_rng(seed)
    sizes = np.bincount(rng.integers(0, 3, n - 2), minlength=3) + np.array([1, 1, 0])
    ptr, s = pointers(sizes), spread * rng.standard_normal(n)
    shape = np.array([2.0]), ptr, np.array([0, 3]), np.zeros(1, dtype=np.int32)
    level = np.repeat(np.arange(3), sizes)
    wins = level[:, None] > level
    z = s[:, None] - s
    slopes = np.where(wins, np.exp(-np.logaddexp(0, z)), 0.0)
    for v in (None, np.ones(n)):
        g, up, down = np.empty((3, n))
        value = logistic_direct.logistic_direct(s, v, *shape, g, up, down)
        assert value == pytest.approx(2.0 * np.logaddexp(0, -z)[wins].sum(), abs=1e-11 * n * n, rel=1e-13)
        np.testing.assert_allclose(g, 2.0 * (slopes.sum(axis=0) - slopes.sum(axis=1)), atol=1e-12)
        V, out = rng.standard_normal(n), np.empty(n)
        logistic_direct.logistic_laplacian_direct(s, v, *shape, V, out, up, down)
        h = np.where(wins, np.exp(-np.logaddexp(0, z) - np.logaddexp(0, -z)), 0.0)
        h = h + h.T
        np.testing.assert_allclose(out, 2.0 * (h.sum(axis=1) * V - h @ V), atol=1e-12)
