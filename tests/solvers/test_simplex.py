"""The quadratic programme over the simplex: optimality conditions, singular Gram matrices, warm starts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank.solvers.bundle.simplex import maximise_over_simplex


def duality_gap(A, b, alpha, x):
    w = -(x @ A) / alpha
    return (A @ w + b).max() + 0.5 * alpha * w @ w - (x @ b - 0.5 * alpha * w @ w)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    d=st.integers(1, 12),
    alpha=st.sampled_from([1.0, 1e-2, 1e-5]),
    duplicates=st.booleans(),
)
@settings(max_examples=500)
def test_reaches_the_maximum(seed, n, d, alpha, duplicates):
    rng = np.random.default_rng(seed)
    A, b = 0.3 * rng.standard_normal((n, d)), rng.uniform(0, 1, n)
    if duplicates:
        A, b = np.repeat(A, 2, axis=0), np.repeat(b, 2)
    G = A @ A.T
    start = np.zeros(b.size)
    start[0] = 1.0
    x = maximise_over_simplex(G, b, alpha, start)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1.0, abs=1e-12)
    size = 1 + G.max() / alpha
    assert duality_gap(A, b, alpha, x) <= 1e-9 * size
    again = maximise_over_simplex(G, b, alpha, x)
    np.testing.assert_allclose(again @ A, x @ A, atol=1e-9)


def test_planes_without_slope():
    x = maximise_over_simplex(np.zeros((3, 3)), np.array([0.1, 0.7, 0.3]), 1.0, np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(x, [0, 1, 0], atol=1e-12)


@pytest.mark.parametrize("slope", [1e-2, 1e-5, 1e-10, 1e-17, 1e-30])
def test_planes_almost_without_slope(slope):
    """A large alpha, or gradients that are rounding: heights alone decide."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A, b = slope * rng.standard_normal((20, 5)), 1.0 - 10.0 ** -rng.uniform(0, 14, 20)
        x = maximise_over_simplex(A @ A.T, b, 1.0, np.eye(20)[0])
        assert duality_gap(A, b, 1.0, x) <= 1e-13
