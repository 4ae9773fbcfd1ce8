"""One ranking in parts: sorted, windows, counts and sums as they are in one piece, and as over all pairs."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank._threads import Crew
from linrank._work import Work
from linrank.data import active, ordering
from linrank.data.few_levels import FewLevels
from linrank.kernels import counting, tables
from linrank.testing import naive_partner_sums

pytestmark = pytest.mark.kernels

MARGINS = st.sampled_from([1.0, 0.3, 0.0, -0.5, 5e-324, 50.0])


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    """Three threads, and nobody interrupts them."""
    wanted = threading.Event()
    wanted.set()
    with ThreadPoolExecutor(3) as pool:
        yield Crew(pool, 3, wanted)


def scores_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Scores with ties, far from 0, of very different sizes, all alike, or differing in their last bits."""
    return {
        "plain": lambda: rng.standard_normal(n),
        "ties": lambda: rng.integers(0, 9, n) / 3.0,
        "far": lambda: 1e6 + rng.standard_normal(n),
        "sizes": lambda: np.exp(30 * rng.standard_normal(n)),
        "alike": lambda: np.zeros(n),
        "crowd": lambda: 1.0 + 1e-13 * rng.permutation(n),
    }[kind]()


KINDS = st.sampled_from(["plain", "ties", "far", "sizes", "alike", "crowd"])


@given(kind=KINDS, n=st.integers(2, 400), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_scores_sorted_in_parts_are_sorted(crew, kind, n, seed):
    s = scores_of(kind, n, np.random.default_rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "FEW_KEYS", 2)
        patch.setattr(ordering, "LARGE", 8)
        for work in (Work(), Work(crew)):
            found = ordering.sort_padded(s, work)
            np.testing.assert_array_equal(found.order, np.argsort(s, kind="stable"))
            np.testing.assert_array_equal(found.padded, np.r_[-np.inf, np.sort(s), np.inf])


@given(kind=KINDS, n=st.integers(1, 60), margin=MARGINS, seed=st.integers(0, 2**32 - 1), parts=st.integers(1, 5))
def test_windows_in_parts_are_those_in_one(kind, n, margin, seed, parts):
    s = np.sort(scores_of(kind, n, np.random.default_rng(seed)))
    padded, whole, found = np.r_[-np.inf, s, np.inf], np.empty(2 * n, np.int32), np.empty(2 * n, np.int32)
    counting.windows(padded, margin, 0, 2 * n, 0, n, whole)
    cuts = np.array([2 * (n * k // parts) for k in range(parts + 1)])
    p = np.empty(parts + 1, np.int64)
    counting.crossings(padded, margin, cuts, p)
    for k in range(parts):
        counting.windows(padded, margin, cuts[k], cuts[k + 1], p[k], p[k + 1], found)
    np.testing.assert_array_equal(found, whole)
    inactive = s[:, None] - s[None, :] >= margin  # [q, p]: winner q, loser p
    np.testing.assert_array_equal(whole[n:], inactive.sum(axis=1))
    np.testing.assert_array_equal(whole[:n], n - inactive.sum(axis=0))


def views(s: np.ndarray, levels: np.ndarray, margin: float, work: Work) -> Iterator[active.SortedRanking | FewLevels]:
    """All ways of summing that fit, each with its own sorted scores."""
    for how in (active.TUNING, active.tuning("tree"), active.tuning("levels")):
        yield active.SortedRanking(ordering.sort_padded(s, work), levels, 0, margin, work, how)
    if levels.size - 1 <= tables.MOST_LEVELS:
        yield FewLevels(ordering.sort_padded(s, work), levels, margin, work)


@pytest.mark.parametrize("n_levels", [2, 5, 16, 17, None])
@given(kind=KINDS, n=st.integers(20, 150), margin=MARGINS, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_sums_in_parts_are_those_over_all_pairs(crew, n_levels, kind, n, margin, seed):
    rng = np.random.default_rng(seed)
    s, level = scores_of(kind, n, rng), np.sort(rng.integers(0, n_levels, n)) if n_levels else np.arange(n)
    levels = np.r_[np.flatnonzero(ordering.run_starts(level)), n].astype(np.int64)
    values = rng.integers(-50, 50, n) / 4.0  # sums are exact
    exact = naive_partner_sums(s, level, values, margin)
    numbers = naive_partner_sums(s, level, np.ones(n), margin)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "LARGE", 16)
        for work in (Work(), Work(crew)):
            for view in views(s, levels, margin, work):
                c, d, both = np.empty(n), np.empty(n), np.ones(n)
                view.sums(values, c, d, work)
                np.testing.assert_array_equal((c, d), exact)
                view.add(values, -2.0, both, work)
                np.testing.assert_array_equal(both, 1.0 - 2.0 * (exact[0] + exact[1]))
                view.fill(values, both, work)
                np.testing.assert_array_equal(both, exact[0] + exact[1])
                c, d = np.empty(n, np.int32), np.empty(n, np.int32)
                view.counts(c, d, work)
                np.testing.assert_array_equal((c, d), numbers)


@pytest.mark.parametrize("spread", [0.1, 1.0, 100.0])
def test_tables_of_many_rows(crew, spread):
    rng = np.random.default_rng(0)
    n, work = 3001, Work(crew)
    s, levels, values = (
        spread * rng.standard_normal(n),
        np.array([0, 900, 901, 1700, n]),
        rng.integers(-50, 50, n) / 4.0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "LARGE", n)
        found = np.empty((4, 2, n))
        for view, out in zip(views(s, levels, 1.0, work), found, strict=True):
            view.sums(values, *out, work)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("n", [40, 1100, 5000])
def test_a_tree_of_sums_has_the_same_bits_in_parts(n, crew):
    rng = np.random.default_rng(n)
    s, levels, values = rng.standard_normal(n), np.arange(n + 1), rng.standard_normal(n)
    found = []
    for large, work in ((n, Work(crew)), (10**9, Work())):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ordering, "LARGE", large)
            how = replace(active.TUNING, few_levels=0, few_levels_to_sum=0)
            ranking = active.SortedRanking(ordering.sort_padded(s, work), levels, 0, 1.0, work, how)
            c, d = np.empty(n), np.empty(n)
            ranking.sums(values, c, d, work)
        found.append((c, d))
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("n", [70, 2100])
def test_counts_that_begin_filled(n, crew):
    rng = np.random.default_rng(n)
    s, levels = rng.standard_normal(n), np.arange(n + 1)
    found = []
    for large, work in ((n, Work(crew)), (10**9, Work())):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ordering, "LARGE", large)
            ranking = active.SortedRanking(ordering.sort_padded(s, work), levels, 0, 1.0, work, active.tuning("tree"))
            c, d = np.empty(n, np.int32), np.empty(n, np.int32)
            ranking.counts(c, d, work)
        found.append((c, d))
    np.testing.assert_array_equal(found[0], found[1])
