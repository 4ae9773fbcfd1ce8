"""Penalties by their definitions: differences, maxima and Fenchel and Young's inequality."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from linrank.penalties import Ridge

PENALTIES = [Ridge(1e-6), Ridge(0.3), Ridge(7.0), Ridge(1e5)]

pytestmark = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
RNG = np.random.default_rng(0)
W = RNG.standard_normal((5, 4))


def test_the_gradient_is_that_of_the_value(penalty):
    for w in W:
        for v in np.eye(4):
            slope = (penalty.value(w + 1e-5 * v) - penalty.value(w - 1e-5 * v)) / 2e-5
            assert penalty.gradient(w) @ v == pytest.approx(slope, rel=1e-6)
    assert penalty.value(np.zeros(4)) == 0.0


def test_less_its_curvature_it_is_still_convex_and_no_more(penalty):
    """The values of P - c/2 |w|^2 at the ends of a segment are not below that in the middle; with more, they are."""
    for more, convex in ((1.0, True), (1.01, False)):
        rest = lambda w, c=more * penalty.curvature: penalty.value(w) - 0.5 * c * float(w @ w)  # noqa: E731
        bends = [rest(a) + rest(b) - 2 * rest((a + b) / 2) for a, b in zip(W, W[::-1], strict=True) if a is not b]
        assert (min(bends) >= -1e-12 * penalty.value(10 * W[0])) == convex


def test_the_conjugate_is_a_maximum(penalty):
    for v in penalty.curvature * W:
        found = minimize(
            lambda w, v=v: (penalty.value(w) - float(v @ w)) / penalty.curvature,
            np.zeros(4),
            jac=lambda w, v=v: (penalty.gradient(w) - v) / penalty.curvature,
            method="BFGS",
            options={"gtol": 1e-9},
        )
        assert penalty.conjugate(v) == pytest.approx(-found.fun * penalty.curvature, rel=1e-9)
        np.testing.assert_allclose(penalty.minimiser(v), found.x, rtol=1e-6, atol=1e-6)


def test_the_minimiser_takes_the_maximum_and_inverts_the_gradient(penalty):
    for v in W:
        w = penalty.minimiser(v)
        assert float(v @ w) - penalty.value(w) == pytest.approx(penalty.conjugate(v), rel=1e-12)
        np.testing.assert_allclose(penalty.gradient(w), v, rtol=1e-12)


def test_the_gap_is_that_of_fenchel_and_young(penalty):
    for w, g in zip(W, penalty.curvature * W[::-1], strict=True):
        terms = penalty.value(w), penalty.conjugate(-g), float(g @ w)
        assert penalty.gap(w, g) == pytest.approx(sum(terms), rel=1e-9, abs=1e-13 * max(map(abs, terms)))
        assert penalty.gap(w, -penalty.gradient(w)) <= 1e-30 * penalty.value(w)


@given(seed=st.integers(0, 2**32 - 1), close=st.floats(0, 20))
def test_the_gap_is_never_negative(penalty, seed, close):
    """Not by rounding either, where the three terms cancel."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(4)
    g = -penalty.gradient(w) * (1 + 10.0**-close * rng.standard_normal(4))
    assert penalty.gap(w, g) >= 0.0


def test_the_gap_of_a_gradient_that_is_off_covers_all_it_may_be(penalty):
    for w, g in zip(W, penalty.curvature * W[::-1], strict=True):
        error = 0.3 * float(np.linalg.norm(g))
        widest = penalty.gap(w, g, error)
        others = RNG.standard_normal((200, 4))
        for off in error * others / np.linalg.norm(others, axis=1)[:, None]:
            assert penalty.gap(w, g + off) <= widest * (1 + 1e-12)
        assert widest > penalty.gap(w, g)


def test_the_radius_holds_all_weights_of_so_small_a_penalty(penalty):
    for value in (0.0, 0.5, 3.0):
        radius = penalty.radius(value)
        for w in W / np.linalg.norm(W, axis=1)[:, None]:
            assert penalty.value((1 + 1e-9) * radius * w) >= value
            assert penalty.value((1 - 1e-9) * radius * w) <= value
