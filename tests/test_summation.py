"""Fast sums of erfc and Gaussians: the bound (19) for all accuracies and shapes of points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc

from linrank import DataError, ParameterError
from linrank.kernels.erfc import direct_erfc
from linrank.summation import erfc_sums, gauss_sums, parameters

pytestmark = pytest.mark.kernels

POINTS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "wide": lambda rng, n: 30 * rng.standard_normal(n),
    "clustered": lambda rng, n: rng.choice([-7.0, 0.0, 0.3, 20.0], n) + 1e-6 * rng.standard_normal(n),
    "far apart": lambda rng, n: rng.choice([-1e12, -3.0, 0.0, 1e12], n) + rng.standard_normal(n),
    "very far apart": lambda rng, n: np.r_[-1e17, 8 * rng.standard_normal(n - 1)],
    "coincident": lambda rng, n: np.full(n, 2.5),
    "offset": lambda rng, n: 1e6 + rng.standard_normal(n),
}


@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-9, 1e-12])
@given(sources=st.sampled_from(sorted(POINTS)), targets=st.sampled_from(sorted(POINTS)), seed=st.integers(0, 999))
@settings(max_examples=40)
def test_errors_are_within_eps_of_the_weights(eps, sources, targets, seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 60, 2)
    z, y, q = POINTS[sources](rng, n), POINTS[targets](rng, m), rng.standard_normal(n)
    difference = y[:, None] - z
    bound = eps * np.abs(q).sum()
    assert np.abs(erfc_sums(y, z, q, eps) - erfc(difference) @ q).max() <= bound
    assert np.abs(gauss_sums(y, z, q, eps) - np.exp(-(difference**2)) @ q).max() <= bound


def test_spans_of_a_trillion_take_memory_by_points_not_by_cells():
    z = np.linspace(-1e12, 1e12, 1001)
    answer = erfc_sums(z, z, np.ones(z.size), 1e-6)
    np.testing.assert_allclose(answer, 2.0 * np.arange(z.size)[::-1] + 1.0, atol=1e-3)


def test_parameters_of_the_paper():
    """Figure 4: p = 12 keeps the error of the series below 1e-6 for |z| <= 4."""
    n = np.arange(1, 24, 2)
    h = np.pi / (3 * (4 + 3.5))
    z = np.linspace(-4, 4, 4001)
    series = 1 - 4 / np.pi * (np.exp(-((n * h) ** 2)) / n * np.sin(2 * h * np.outer(z, n))).sum(axis=1)
    assert n.size == 12
    assert np.abs(series - erfc(z)).max() < 1e-6
    assert [parameters(eps).p for eps in (1e-3, 1e-6, 1e-9, 1e-12)] == [8, 16, 24, 32]


def test_direct_twin():
    rng = np.random.default_rng(0)
    y, z, q, out = rng.standard_normal(5), rng.standard_normal(7), rng.standard_normal(7), np.empty(5)
    direct_erfc(y, z, q, out)
    np.testing.assert_allclose(out, erfc(y[:, None] - z) @ q, rtol=1e-13)


def test_nothing_and_nonsense():
    assert erfc_sums([], [1.0], [1.0]).size == 0
    np.testing.assert_array_equal(erfc_sums([1.0, 2.0], [], []), [0.0, 0.0])
    for bad in ((np.nan, [0.0], [1.0]), ([0.0], [np.inf], [1.0]), ([0.0], [0.0, 1.0], [1.0])):
        with pytest.raises(DataError):
            erfc_sums(*bad)
    with pytest.raises(ParameterError, match="eps"):
        erfc_sums([0.0], [0.0], [1.0], eps=0.0)
