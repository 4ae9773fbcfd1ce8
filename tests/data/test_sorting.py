"""Sorting by digits against numpy's comparison sorts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank._work import Work
from linrank.data import ordering

pytestmark = pytest.mark.kernels

SCORES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "tied": lambda rng, n: rng.integers(-2, 3, n) / 2.0,
    "crowded": lambda rng, n: 1.0 + rng.integers(0, 50, n) * 2.0**-52,  # far below the bits that the keys keep
    "offset": lambda rng, n: 1e6 + rng.standard_normal(n),
    "zeros": lambda rng, n: rng.choice([0.0, -0.0, 1e-310, -1e-310, 1.0], n),
    "octaves": lambda rng, n: rng.choice([-1.0, 1.0], n) * 2.0 ** rng.uniform(-1070, 1020, n),
    "huge": lambda rng, n: rng.uniform(-1.0, 1.0, n) * 1.7e308,  # differences overflow
    "equal": lambda rng, n: np.full(n, 3.5),
}


def check_sorted(s):
    found = ordering.sort_padded(s, Work())
    order, sorted_s = found.order, found.s
    np.testing.assert_array_equal(sorted_s, np.sort(s))
    np.testing.assert_array_equal(s[order], sorted_s)
    np.testing.assert_array_equal(np.sort(order), np.arange(s.size))


@pytest.mark.parametrize(("few", "scores"), [(1, 1), (10**9, 1), (10**9, 10**9)], ids=["digits", "keys", "comparison"])
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 300), kind=st.sampled_from(sorted(SCORES)))
def test_scores_are_sorted(few, scores, seed, n, kind):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "FEW_KEYS", few)
        patch.setattr(ordering, "FEW_SCORES", scores)
        check_sorted(SCORES[kind](np.random.default_rng(seed), n))


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize(
    "n", [ordering.FEW_SCORES - 1, ordering.FEW_SCORES, ordering.FEW_KEYS - 1, ordering.FEW_KEYS, 5000]
)
def test_many_scores_are_sorted(kind, n):
    check_sorted(SCORES[kind](np.random.default_rng(n), n))


@pytest.mark.parametrize("few", [1, 10**9], ids=["digits", "comparison"])
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 300), first_bit=st.integers(9, 63))
def test_keys_are_sorted_by_their_leading_bits(few, seed, n, first_bit):
    rng = np.random.default_rng(seed)
    leading = rng.integers(0, 2 ** min(63, 64 - first_bit), n, dtype=np.uint64) >> np.uint64(rng.integers(0, 12))
    keys = (leading << np.uint64(first_bit)) | np.arange(n, dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "FEW_KEYS", few)
        np.testing.assert_array_equal(ordering.sort_keys(keys.copy(), first_bit), np.sort(keys))


def test_the_same_work_gives_the_same_answer_again():
    work = Work()
    first = [array.copy() for array in ordering.sort_padded(np.random.default_rng(0).standard_normal(3000), work)[:2]]
    again = ordering.sort_padded(np.random.default_rng(0).standard_normal(3000), work)[:2]
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
