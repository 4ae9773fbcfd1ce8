"""Conjugate gradients: exact in d steps, residuals that never rise, and their end."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank.solvers.newton.conjugate_gradients import conjugate_gradients


def system(seed, d, condition=4.0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (Q * 10.0 ** rng.uniform(0, condition / 2, d)) @ Q.T, rng.normal(size=d)


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
@settings(max_examples=60)
def test_the_system_is_solved_in_as_many_products_as_it_has_unknowns(seed, d, preconditioned):
    H, b = system(seed, d, 2.0)
    diagonal = np.diag(H).copy() if preconditioned else None
    small = 1e-8 * np.linalg.norm(b)
    x, products, good = conjugate_gradients(lambda p: H @ p, b, diagonal, lambda r: np.linalg.norm(r) <= small, d + 3)
    assert good
    assert products <= d + 3
    np.testing.assert_allclose(H @ x, b, atol=2 * small)


@given(st.integers(0, 10**6), st.integers(2, 30), st.booleans())
@settings(max_examples=60)
def test_residuals_never_rise_and_are_those_of_the_answer(seed, d, preconditioned):
    H, b = system(seed, d)
    diagonal = np.diag(H).copy() if preconditioned else None
    seen = []
    x, products, good = conjugate_gradients(lambda p: H @ p, b, diagonal, lambda r: bool(seen.append(r.copy())), d)
    assert (products, good) == (d, False)
    sizes = [np.linalg.norm(r) for r in (b, *seen)]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in itertools.pairwise(sizes))
    np.testing.assert_allclose(b - H @ x, seen[-1], atol=1e-9 * np.linalg.norm(b))


def test_the_residual_is_no_larger_than_that_of_plain_conjugate_gradients():
    """What smoothing is for: on the way, plain residuals rise above where they began."""
    H, b = system(1, 40, 6.0)
    x, r, p, plain = np.zeros(40), b, b, []
    for _ in range(20):
        step = (r @ r) / (p @ H @ p)
        x, after = x + step * p, r - step * (H @ p)
        p, r = after + (after @ after) / (r @ r) * p, after
        plain.append(np.linalg.norm(r))
    smooth = []
    conjugate_gradients(lambda p: H @ p, b, None, lambda r: bool(smooth.append(np.linalg.norm(r))), 20)
    assert max(plain) > np.linalg.norm(b)
    assert np.all(np.array(smooth) <= np.array(plain) * (1 + 1e-9))


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_a_matrix_that_is_not_positive_ends_them(value):
    x, products, good = conjugate_gradients(lambda p: value * p, np.ones(3), None, lambda r: True, 10)
    assert (products, good) == (1, False)
    np.testing.assert_array_equal(x, 0.0)
