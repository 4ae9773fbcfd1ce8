"""Every counting kernel against the walk over all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank._errors import NoPairsError
from linrank._work import Work
from linrank.data import active
from linrank.data.ordering import sort_padded
from linrank.data.ranking_data import make_preferences
from linrank.kernels import counting
from linrank.testing import enumerate_pairs, naive_counts
from strategies import Problem, problems

pytestmark = pytest.mark.kernels

#: (short, few_levels): which kernel counts.
KERNELS = {"direct": (10**9, 512), "levels": (0, 10**9), "tree": (0, 0), "chosen": (200, 1024)}


def row_counts(problem: Problem, margin: float) -> tuple[np.ndarray, np.ndarray] | None:
    """c and d by the kernels, back in row order and with all weights multiplied in."""
    try:
        p = make_preferences(problem.y.size, problem.y, problem.qid, **problem.options)[2]
    except NoPairsError:
        return None
    s = np.ascontiguousarray(problem.scores[p.row])
    c, d = np.full(s.size, np.nan), np.full(s.size, np.nan)
    active.active_counts(s, p, margin, c, d, Work())
    weight = np.repeat(p.u, np.diff(p.ranking_ptr)) * (1.0 if p.v is None else p.v)
    rows = problem.y.size
    return np.bincount(p.row, weight * c, rows), np.bincount(p.row, weight * d, rows)


@pytest.mark.parametrize("kernel", KERNELS)
@given(problem=problems(), margin=st.sampled_from([1.0, 0.5, 0.0, 5e-324]))
@settings(max_examples=220)
def test_counts_equal_the_walk_over_all_pairs(kernel, problem, margin):
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active, "TUNING", replace(active.TUNING, short=KERNELS[kernel][0]))
        patch.setattr(active, "TUNING", replace(active.TUNING, few_levels=KERNELS[kernel][1]))
        patch.setattr(active, "TUNING", replace(active.TUNING, few_levels_to_sum=KERNELS[kernel][1]))
        counted = row_counts(problem, margin)
    if counted is None:
        assert pairs.c.size == 0
        return
    for ours, naive in zip(counted, naive_counts(problem.scores, pairs, margin), strict=True):
        np.testing.assert_allclose(ours, naive, rtol=1e-12, atol=1e-12 * pairs.c.sum())


@pytest.mark.parametrize("kernel", KERNELS)
@given(problem=problems(options=False))
@settings(max_examples=150)
def test_both_totals_are_the_same_integer(kernel, problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active, "TUNING", replace(active.TUNING, short=KERNELS[kernel][0]))
        patch.setattr(active, "TUNING", replace(active.TUNING, few_levels=KERNELS[kernel][1]))
        counted = row_counts(problem, 1.0)
    if counted is not None:
        c, d = counted
        assert c.sum() == d.sum() == int(c.sum())
        pairs = enumerate_pairs(problem.y, problem.qid)
        for ours, naive in zip(counted, naive_counts(problem.scores, pairs), strict=True):
            np.testing.assert_array_equal(ours, naive)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60), margin=st.sampled_from([1.0, 0.3, 0.0, 5e-324]))
def test_windows_are_first_positions(seed, n, margin):
    s = np.sort(np.random.default_rng(seed).integers(0, 9, n) / 3.0)
    bounds = np.empty(2 * n, np.int32)
    counting.windows(np.r_[-np.inf, s, np.inf], margin, 0, 2 * n, 0, n, bounds)
    right, left = bounds[:n], bounds[n:]
    inactive = s[:, None] - s[None, :] >= margin  # [q, p]: winner q, loser p
    for p in range(n):
        assert right[p] == (np.argmax(inactive[:, p]) if inactive[:, p].any() else n)
        assert left[p] == inactive[p].sum()


@pytest.mark.parametrize("n", [63, 64, 65, 2047, 2049])
def test_tree_at_the_edges_of_its_words_and_nodes(n):
    rng = np.random.default_rng(n)
    check_sorted_kernels(rng.standard_normal(n), np.arange(n + 1, dtype=np.int64))


def check_sorted_kernels(s: np.ndarray, levels: np.ndarray) -> None:
    """The tree against the recounted bitmap, which shares nothing but the sweep."""
    n = s.size
    tree, recount = np.empty((2, n)), np.empty((2, n))
    with pytest.MonkeyPatch.context() as patch:
        for limit, out in ((0, tree), (10**9, recount)):
            patch.setattr(active, "TUNING", replace(active.TUNING, few_levels=limit))
            ranking = active.SortedRanking(sort_padded(s, work := Work()), levels, 0, 1.0, work)
            ranking.counts(out[0], out[1], work)
    np.testing.assert_array_equal(tree, recount)
