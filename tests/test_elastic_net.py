"""The elastic net with bounds, by its definition: brute force over each weight, and every theta tried."""

import math

import numpy as np
import pytest

from linrank import ParameterError
from linrank.penalties import ElasticNet, Ridge
from linrank.testing import random_penalty

GRID = np.linspace(-3.0, 3.0, 6001)


def penalties(n, d=3):
    for seed in range(n):
        rng = np.random.default_rng([1, seed])
        yield random_penalty(rng, d), rng


def feasible(penalty, rng, d=3):
    """Weights within the bounds, some on a kink or a bound."""
    w = np.clip(rng.standard_normal(d), penalty.lower, penalty.upper)
    return np.where(rng.random(d) < 0.3, np.clip(0.0, penalty.lower, penalty.upper), w)


def one(penalty, x):
    """P of one weight, by the definition."""
    return 0.5 * penalty.curvature * x * x + penalty.beta * abs(x)


def test_value_and_bounds():
    penalty = ElasticNet(2.0, 0.25, np.array([-1.0, 0.0]), np.array([1.0, np.inf]))
    assert penalty.value(np.array([-0.5, 2.0])) == pytest.approx(0.75 * 4.25 + 0.5 * 2.5)
    assert penalty.value(np.array([-1.5, 2.0])) == penalty.value(np.array([0.0, -1e-9])) == math.inf
    assert (penalty.nearest(np.array([-3.0, -3.0])) == [-1.0, 0.0]).all()


def test_the_conjugate_is_the_maximum_over_a_grid():
    for penalty, rng in penalties(60):
        v = rng.standard_normal(3)
        lower, upper = np.broadcast_to(penalty.lower, 3), np.broadcast_to(penalty.upper, 3)
        best = 0.0
        for j in range(3):
            reach = penalty.minimiser(v)[j]
            x = np.r_[GRID, np.clip([0.0, reach], -1e6, 1e6), lower[j], upper[j]]
            x = x[(x >= lower[j]) & (x <= upper[j]) & np.isfinite(x)]
            best += np.max(v[j] * x - one(penalty, np.abs(x)))
        found = penalty.conjugate(v)
        assert found >= best - 1e-12
        if math.isfinite(found):
            w = penalty.minimiser(v)
            assert penalty.value(w) < math.inf
            assert found == pytest.approx(float(v @ w) - penalty.value(w), abs=1e-12)
        else:
            assert penalty.curvature == 0.0


def test_the_steepest_subgradient_is_0_where_no_weight_gains():
    """Each entry against the objective's own differences to both sides."""
    h = 1e-7
    for penalty, rng in penalties(80):
        w, g = feasible(penalty, rng), rng.standard_normal(3)
        lower, upper = np.broadcast_to(penalty.lower, 3), np.broadcast_to(penalty.upper, 3)
        for j, s in enumerate(penalty.steepest(w, g)):
            f = lambda x, slope=g[j], p=penalty: slope * x + one(p, x)  # noqa: E731
            right = (f(w[j] + h) - f(w[j])) / h if w[j] + h <= upper[j] else np.inf
            left = (f(w[j]) - f(w[j] - h)) / h if w[j] - h >= lower[j] else -np.inf
            expected = right if right < -1e-5 else left if left > 1e-5 else 0.0
            assert s == pytest.approx(expected, abs=2e-5)


def test_the_slope_is_that_of_the_value_for_one_who_comes_along_d():
    for penalty, rng in penalties(60):
        w, start = feasible(penalty, rng), feasible(penalty, rng)
        d, h = w - start, 1e-7
        before = sum(one(penalty, x) for x in w - h * d)
        slope = (sum(one(penalty, x) for x in w) - before) / h
        assert penalty.slope(w, d) == pytest.approx(slope, abs=1e-5)


def test_no_theta_gives_a_better_bound():
    for penalty, rng in penalties(100):
        a, b = rng.standard_normal(3), rng.uniform(-0.5, 2.0)
        best = max(theta * b - penalty.conjugate(-theta * a) for theta in np.linspace(0.0, 1.0, 401))
        found = penalty.bound(a, b)
        assert found >= best - 1e-7 * max(abs(b), 1.0)
        assert found <= best + 0.02 * (abs(b) + np.abs(a).sum())


def test_the_gap_is_what_the_terms_add_up_to():
    for penalty, rng in penalties(100):
        w, g, risk = feasible(penalty, rng), rng.standard_normal(3), rng.uniform(0.1, 2.0)
        plane = penalty.bound(g, risk - float(g @ w))
        assert penalty.gap(w, g, risk=risk) == pytest.approx(risk + penalty.value(w) - plane, rel=1e-9, abs=1e-9)
        assert penalty.gap(w, g, risk=risk) >= 0.0
        assert penalty.gap(w, g, 0.1, risk) >= penalty.gap(w, g, risk=risk) + 0.1 * np.linalg.norm(w)
        assert penalty.gap(w, g) >= penalty.gap(w, g, risk=risk) - 1e-9  # theta = 1 is one of them


def test_without_l1_and_bounds_it_is_the_ridge():
    rng = np.random.default_rng(0)
    net, ridge = ElasticNet(0.7), Ridge(0.7)
    for w, g in rng.standard_normal((20, 2, 5)):
        assert net.value(w) == pytest.approx(ridge.value(w))
        assert net.conjugate(g) == pytest.approx(ridge.conjugate(g))
        assert net.gap(w, g) == pytest.approx(ridge.gap(w, g))
        assert net.slope(w, g) == pytest.approx(ridge.slope(w, g))
        np.testing.assert_allclose(net.steepest(w, g), ridge.steepest(w, g))
        np.testing.assert_allclose(net.minimiser(g), ridge.minimiser(g))
        assert net.radius(2.0) == pytest.approx(ridge.radius(2.0))
        assert (net.free(w) == ridge.free(w)).all()


def test_nothing_of_that_value_is_farther_away():
    for penalty, rng in penalties(60):
        w = feasible(penalty, rng)
        assert np.linalg.norm(w) <= penalty.radius(penalty.value(w)) * (1 + 1e-12)


def test_weights_are_free_between_kinks_and_bounds():
    bounds = np.array([-1.0, -1.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.0, 2.0])
    w = np.array([0.5, 0.0, -1.0, 0.0])
    assert ElasticNet(1.0, 0.5, *bounds).free(w).tolist() == [True, False, False, False]
    assert ElasticNet(1.0, 0.0, *bounds).free(w).tolist() == [True, True, False, False]
    assert Ridge(1.0).free(w).all()


def test_pieces_end_at_kinks_and_bounds():
    penalty = ElasticNet(1.0, 0.5, np.array([-1.0, -1.0, -1.0]), np.array([2.0, 2.0, 2.0]))
    lower, upper = penalty.piece(np.array([0.5, 0.0, -1.0]), np.array([-1.0, -1.0, 1.0]))
    assert (lower.tolist(), upper.tolist()) == ([0.0, -1.0, -1.0], [2.0, 0.0, 0.0])
    part = penalty.of(np.array([2, 0]))
    assert part.value(np.array([-1.0, 2.0])) == pytest.approx(penalty.value(np.array([2.0, 0.0, -1.0])))


def test_only_permitted_directions_count_for_the_strongest_alpha():
    g = np.array([-3.0, 2.0, -1.0, 5.0])
    assert ElasticNet(1.0, 0.5).strongest(g) == pytest.approx(10.0)
    lower, upper = np.array([-np.inf, -np.inf, -np.inf, 0.0]), np.array([0.0, np.inf, np.inf, np.inf])
    assert ElasticNet(1.0, 0.5, lower, upper).strongest(g) == pytest.approx(4.0)  # -3 may not rise, 5 may not fall
    assert ElasticNet(1.0, 0.5, 0.05, 0.5).strongest(g) == 0.0


@pytest.mark.parametrize(
    "wrong",
    [(0.0,), (1.0, -0.1), (1.0, 1.1), (1.0, 0.5, 1.0, 0.0), (1.0, 0.5, np.nan, 0.0), (1.0, 0.5, np.inf, np.inf)],
)
def test_what_is_no_penalty_is_refused(wrong):
    with pytest.raises(ParameterError):
        ElasticNet(*wrong)
