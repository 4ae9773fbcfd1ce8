"""Rows by query and falling value, and by small keys, against numpy's stable sorts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank.data import ordering

pytestmark = pytest.mark.kernels

VALUES = {
    "tied": lambda rng, n: rng.integers(0, 3, n) - 1.0,
    "distinct": lambda rng, n: rng.standard_normal(n),
    "zeros": lambda rng, n: rng.choice([0.0, -0.0, 1.0], n),
    "crowded": lambda rng, n: 1e9 + rng.integers(0, 3, n) * 2.0**-22,
    "tiny": lambda rng, n: 5e-324 * rng.integers(-3, 4, n),
}


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(sorted(VALUES)), n_queries=st.integers(1, 9))
def test_rows_are_ordered_as_by_comparison(seed, kind, n_queries):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    query, values = rng.integers(0, n_queries, n), VALUES[kind](rng, n)
    found = ordering.order_within(query, n_queries, values)
    np.testing.assert_array_equal(found.row, np.lexsort((-values, query)))
    np.testing.assert_array_equal(found.value, values[found.row])
    np.testing.assert_array_equal(found.ptr, np.searchsorted(np.sort(query), np.arange(n_queries + 1)))


@pytest.mark.parametrize("make", ["crowded", "huge", "many queries", "skewed"])
def test_orders_that_the_packed_keys_cannot_tell(make, monkeypatch):
    rng = np.random.default_rng(0)
    query, values = np.zeros(300, dtype=np.int64), rng.standard_normal(300)
    if make == "crowded":
        values = np.r_[0.0, np.nextafter(1.0, 2.0) + rng.integers(0, 200, 299) * 2.0**-52]
        values[0] = 1e300  # the centre stays near 1 all the same; leave few bits
        monkeypatch.setattr(ordering, "FEWEST_VALUE_BITS", 65)
    if make == "huge":
        values *= 1e308 / np.abs(values).max()
    if make == "many queries":
        query = rng.integers(0, 250, 300)
    if make == "skewed":
        query = np.where(rng.random(300) < 0.8, 0, rng.integers(0, 60, 300))
    found = ordering.order_within(query, int(query.max()) + 1, values)
    np.testing.assert_array_equal(found.row, np.lexsort((-values, query)))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 50), largest=st.sampled_from([1, 5, 60, 10**6]))
def test_small_keys_are_counted_and_large_ones_sorted(seed, n, largest):
    keys = np.random.default_rng(seed).integers(0, largest, n)
    np.testing.assert_array_equal(ordering.stable_order(keys), np.argsort(keys, kind="stable"))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 50))
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float64])
def test_levels_are_numbered_from_the_smallest(dtype, seed, n):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, rng.choice([3, 100]), n).astype(dtype)
    if dtype is np.float64:
        values = values / rng.choice([1, 2, 4]) - 2
    if dtype is np.uint64:
        values = values + np.uint64(2**63)
    check_numbers(values)


def check_numbers(values):
    number, distinct = ordering.number_distinct(values)
    expected, inverse = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(distinct, expected)
    assert distinct.dtype == values.dtype
    np.testing.assert_array_equal(number, inverse)


@pytest.mark.parametrize("kind", ["few", "few floats", "many", "wide", "unsigned", "zeros", "bool", "text"])
def test_distinct_values_are_numbered_by_counting_hashing_or_sorting(kind, monkeypatch):
    monkeypatch.setattr(ordering, "FEW_KEYS", 0)
    monkeypatch.setattr(ordering, "FEW_VALUES", 64)
    rng = np.random.default_rng(3)
    check_numbers({
        "few": rng.choice(rng.integers(-(2**62), 2**62, 50), 400),
        "few floats": rng.choice(rng.standard_normal(50), 400),
        "many": rng.standard_normal(400),
        "wide": rng.integers(-(2**62), 2**62, 400),
        "unsigned": rng.choice(np.array([2**64 - 1, 2**63, 0, 7], dtype=np.uint64), 400),
        "zeros": rng.choice([0.0, -0.0, 0.5], 400),
        "bool": rng.random(400) < 0.3,
        "text": rng.choice(["b", "a", "ab"], 400),
    }[kind])  # fmt: skip
