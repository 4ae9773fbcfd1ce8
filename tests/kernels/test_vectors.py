"""Steps of limited-memory BFGS over vectors: against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank.kernels import vectors

pytestmark = pytest.mark.kernels


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([0.0, 1e-3, 2.0]))
def test_a_vector_is_changed_and_multiplied_by_the_next(seed, d, c):
    rng = np.random.default_rng(seed)
    r, y, s, following = rng.normal(size=(4, d))
    a = rng.normal()
    less, more = r.copy(), r.copy()
    along = vectors.take_change(less, a, y, c, s, following)
    across = vectors.add_step(more, a, s, y, c, following)
    np.testing.assert_allclose(less, r - a * (y + c * s), rtol=0, atol=1e-13)
    np.testing.assert_allclose(more, r + a * s, rtol=0, atol=1e-13)
    assert along == pytest.approx(following @ (r - a * (y + c * s)), abs=1e-12 * d)
    assert across == pytest.approx((y + c * following) @ (r + a * s), abs=1e-12 * d)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans())
def test_a_step_of_conjugate_gradients(seed, d, plain):
    rng = np.random.default_rng(seed)
    x, r, p, Hp, least, best = rng.normal(size=(6, d))
    diagonal, step, t, more = 0.5 + rng.random(d), rng.normal(), rng.random(), rng.normal()
    over = np.ones(d) if plain else diagonal
    now_x, now_r, now_p, now_least, now_best = (one.copy() for one in (x, r, p, least, best))
    sums = vectors.advance(now_x, now_r, now_p, Hp, step, None if plain else diagonal, now_least)
    x, r = x + step * p, r - step * Hp
    np.testing.assert_allclose(now_x, x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(now_r, r, rtol=0, atol=1e-13)
    expected = r @ (r / over), (r - least) @ (r - least), least @ (r - least)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-12 * d)
    vectors.turn(now_best, now_x, now_least, now_r, t, now_p, None if plain else diagonal, more)
    np.testing.assert_allclose(now_best, best + t * (x - best), rtol=0, atol=1e-13)
    np.testing.assert_allclose(now_least, least + t * (r - least), rtol=0, atol=1e-13)
    np.testing.assert_allclose(now_p, r / over + more * p, rtol=0, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([0.0, 2.0]))
def test_a_vector_is_divided_and_the_size_of_a_change_told(seed, d, c):
    rng = np.random.default_rng(seed)
    r, y, s = rng.normal(size=(3, d))
    diagonal, z = 0.5 + rng.random(d), np.empty(d)
    size = vectors.divide(r, diagonal, y, c, s, z)
    np.testing.assert_allclose(z, r / diagonal, rtol=1e-14)
    assert size == pytest.approx((y + c * s) @ ((y + c * s) / diagonal), rel=1e-12)
