"""The tree of counts where all of its levels are in use: compiled only, a case of 2.2 million positions."""

from dataclasses import replace

import numpy as np

from linrank._work import Work
from linrank.data import active
from linrank.data.ordering import sort_padded


def test_tree_agrees_with_sorting_on_millions_of_rows(monkeypatch):
    rng = np.random.default_rng(0)
    n = 2_200_000
    s = rng.standard_normal(n)
    levels = np.linspace(0, n, 8).astype(np.int64)
    tree, recount = np.empty((2, n)), np.empty((2, n))
    for limit, out in ((0, tree), (512, recount)):
        monkeypatch.setattr(active, "TUNING", replace(active.TUNING, few_levels=limit))
        ranking = active.SortedRanking(sort_padded(s, work := Work()), levels, 0, 1.0, work)
        ranking.counts(out[0], out[1], work)
    np.testing.assert_array_equal(tree, recount)
    lowest, highest = s[: levels[1]], np.sort(s[levels[1] :])
    np.testing.assert_array_equal(tree[0][:1000], np.searchsorted(highest, lowest[:1000] + 1.0))
    assert tree[0].sum() == tree[1].sum()
