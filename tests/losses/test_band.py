"""A narrow Huberised hinge keeps its digits in long rankings."""

import numpy as np
import pytest

from linrank import RankingData
from linrank.losses import HuberHinge
from linrank.testing.rows import loss_at


def by_pairs(s, y, v, mu):
    """Value, slopes, hinges and gradient, pair by pair in long double."""
    s, v = s.astype(np.longdouble), v.astype(np.longdouble)
    c = (y[:, None] > y) * v[:, None] * v
    z = s[:, None] - s
    h = np.maximum(1 - z, 0)
    slope = c * np.minimum(h / np.longdouble(mu), 1)
    value = np.sum(c * np.where(h > mu, h - np.longdouble(mu) / 2, h * h / (2 * np.longdouble(mu))))
    return value, slope.sum(), np.sum(c * h), slope.sum(axis=0) - slope.sum(axis=1)


@pytest.mark.parametrize("mu", [2.0**-7, 2.0**-20])
@pytest.mark.parametrize("levels", [3, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_sums_of_long_rankings_are_those_over_pairs(mu, levels, weighted):
    rng = np.random.default_rng(0)
    n = 2500
    y = rng.standard_normal(n) if levels is None else rng.integers(0, levels, n).astype(float)
    s, v = 100 * rng.standard_normal(n), rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    data = RankingData(s[:, None], y, sample_weight=v)
    found = loss_at(HuberHinge(mu), s, data)
    value, slope, hinge, gradient = by_pairs(s, y, v, mu)
    N, sums = found.sums.weight, found.sums
    assert sums.value == pytest.approx(float(value), rel=1e-14)  # two squared hinges would leave 1e-10 to 1e-7
    assert sums.hinge.slope == pytest.approx(float(slope), rel=1e-13)
    assert sums.hinge.hinge == pytest.approx(float(hinge), rel=1e-14)
    np.testing.assert_allclose(
        N * found.gradient, gradient.astype(float), rtol=0, atol=1e-11 * float(np.abs(gradient).max())
    )
