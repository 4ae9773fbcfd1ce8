"""Sums over rankings that the cost model is made of, against their definition."""

import math

import numpy as np
import pytest

from linrank.kernels.pairs import work_sums

pytestmark = pytest.mark.kernels


def test_work_sums_by_their_definition():
    rng = np.random.default_rng(0)
    sizes, levels = rng.integers(2, 60, 40), rng.integers(2, 9, 40)
    levels = np.minimum(levels, sizes)
    pairs = rng.integers(1, sizes * (sizes - 1) // 2 + 1)
    ranking_ptr, ranking_levels = np.r_[0, np.cumsum(sizes)], np.r_[0, np.cumsum(levels)]
    expected = dict.fromkeys(("short", "few", "many", "counted", "doubled", "asked", "missed"), 0.0)
    for n, k, p in zip(sizes.tolist(), levels.tolist(), pairs.tolist(), strict=True):
        kind = "short" if p <= 5 * n else "few" if k <= 4 else "many"
        expected[kind] += p if kind == "short" else n
        expected["counted"] += p if p <= 9 * n else 0
        expected["doubled"] += n * math.log2(n)
        expected["asked"] += n * (1 + math.log2(k))
        expected["missed"] += n * max(math.log2(k / 3.5), 0.0)
    found = work_sums(ranking_ptr, ranking_levels, pairs, 5, 9, 4, 3.5)
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-12)
    assert all(value > 0 for value in found)
