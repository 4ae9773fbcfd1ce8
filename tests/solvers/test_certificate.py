"""Certificates: bounds from one point, and the best of several, wherever each part was found."""

from dataclasses import replace

import numpy as np
import pytest

from linrank import RankingData
from linrank._errors import overflow_ignored
from linrank.data import active
from linrank.engines import LocalEngine
from linrank.losses import LOSSES, Hinge, HuberHinge, LogisticErfc, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers.certificate import Bounds, Certificate, bounds
from linrank.solvers.newton.smoothing import Smoothed
from linrank.testing import NaiveObjective, enumerate_pairs, make_ranking

NOWHERE, HERE, THERE = np.zeros(2), np.ones(2), np.full(2, 2.0)


def found(w, value, lower, rounding=1e-15):
    return Bounds(w, value, lower, rounding)


@pytest.fixture
def none():
    return Certificate(NOWHERE)


def test_at_first_nothing_is_known(none):
    assert none.gap == np.inf
    one = none.joined(found(HERE, 3.0, 1.0))
    assert (one.w is HERE, one.value, one.lower, one.gap) == (True, 3.0, 1.0, 2.0)


@pytest.mark.parametrize("order", [1, -1])
def test_the_best_of_both_is_kept_wherever_it_was_found(none, order):
    both = none
    for one in [found(HERE, 2.0, 0.5), found(THERE, 5.0, 1.0)][::order]:
        both = both.joined(one)
    assert both.w is HERE
    assert (both.value, both.lower, both.gap) == (2.0, 1.0, 1.0 + 1e-15)


def test_overflow_leaves_it_as_it_was(none):
    one = none.joined(found(HERE, 2.0, 0.5))
    assert one.joined(None) is one
    for value, lower in ((np.inf, 0.0), (np.nan, np.nan), (np.inf, -np.inf), (np.nan, -np.inf)):
        after = one.joined(found(THERE, value, lower))
        assert (after.w is HERE, after.value, after.lower) == (True, 2.0, 0.5)


def test_a_gap_is_never_below_rounding(none):
    assert none.joined(found(HERE, 2.0, 2.0, 1e-12)).gap == 1e-12
    assert none.joined(found(HERE, 2.0, 3.0, 1e-12)).gap == 1e-12  # bounds that cross, by rounding


def test_rounding_is_that_of_the_best_value(none):
    """Points far away, whose values say little, leave it as it was."""
    both = none.joined(found(HERE, 2.0, 1.5, 1e-15)).joined(found(THERE, 1e20, -1e9, 1e9))
    assert both.gap == 0.5
    assert none.joined(found(THERE, 1e20, -1e9, 1e9)).joined(found(HERE, 2.0, 2.0, 1e-15)).gap == 1e-15


def test_a_gain_is_a_lower_value_or_a_smaller_gap(none):
    one = none.joined(found(HERE, 2.0, 0.5))
    assert one.improves_on(none)
    assert not one.improves_on(one)
    assert not one.joined(found(THERE, 2.0, 0.5)).improves_on(one)
    assert one.joined(found(THERE, 1.9, 0.0)).improves_on(one)
    assert one.joined(found(THERE, 9.0, 0.6)).improves_on(one)


@pytest.fixture(scope="module")
def engine():
    X, y, qid = make_ranking(60, 4, 3, 4)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        yield engine


def optimum_of(engine, loss, alpha):
    data = engine.data
    return NaiveObjective(loss, data.X, enumerate_pairs(data.y, data.query), alpha).minimum()


@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_every_point_bounds_the_minimum(engine, loss, alpha):
    objective, least = Objective(engine, loss, Ridge(alpha)), optimum_of(engine, loss, alpha).value
    for w in np.random.default_rng(0).standard_normal((20, 4)) / alpha**0.5:
        for t in (0.0, 0.1, 1.0):
            point = objective.at(t * w)
            bound = bounds(point)
            assert bound.w is point.w
            assert bound.value == point.value
            assert bound.lower <= least
            assert bound.lower >= -bound.rounding  # no loss is negative
            assert 0 < bound.rounding < 1e-8
    if loss.smooth:  # where the minimum is, it is tight
        bound = bounds(objective.at(optimum_of(engine, loss, alpha).w.astype(float)))
        assert bound.value - bound.lower <= 3 * bound.rounding + 1e-14


def test_a_point_that_overflows_says_nothing(engine):
    with overflow_ignored():
        for w in (np.full(4, 1e200), np.full(4, np.nan)):
            assert bounds(Objective(engine, SquaredHinge(), Ridge(1.0)).at(w)) is None


class Noise(HuberHinge):
    """A narrowly smoothed hinge of which rounding has left no digit."""

    def at(self, scores, rankings, work):
        point = super().at(scores, rankings, work)
        return replace(point, sums=point.sums._replace(value=-1e6 * point.sums.weight))


class HingeWithNoise(Hinge):
    def smoothed(self, mu):
        return Noise(mu)


@pytest.mark.parametrize("loss", [Hinge(), HingeWithNoise()], ids=["as it is", "noise"])
def test_a_point_where_nothing_but_rounding_is_left_says_nothing(loss, monkeypatch):
    """The narrowly smoothed hinge of a long query keeps its digits far away; were it noise, it says nothing."""
    monkeypatch.setattr(active, "TUNING", replace(active.TUNING, short_to_sum=0))
    X, y, qid = make_ranking(60, 4, 3, 4)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        view, negative = Smoothed(Objective(engine, loss, Ridge(1e-20)), 1e-6), 0
        for size in 10.0 ** np.arange(6, 16):
            for w in size * np.random.default_rng(0).standard_normal((10, 4)):
                point = view.objective.at(w)
                assert point.rounding > 0
                if point.risk < -point.rounding - 1.0:
                    negative += 1
                    assert view.at(point).bounds is None
                    assert bounds(point) is None
    assert (negative > 0) == isinstance(loss, HingeWithNoise)


def test_the_error_of_approximate_sums_is_part_of_the_bound():
    X, y, qid = make_ranking(1500, 4, 1, None)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        point = Objective(engine, LogisticErfc(eps=1e-4), Ridge(10.0)).at(np.full(4, 0.1))
        bound = bounds(point)
    assert point.gradient_error > 0
    assert bound.rounding > point.error > 1e-4
    size = np.linalg.norm(point.gradient)
    off = ((size + point.gradient_error) ** 2 - size**2) / 20.0
    assert point.value - bound.lower - size**2 / 20.0 == pytest.approx(off + bound.rounding, rel=1e-6)


@pytest.mark.parametrize("mu", [1.0, 0.1, 1e-3, 1e-9])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_a_smoothed_hinge_bounds_the_hinge(engine, alpha, mu):
    hinge, least = Objective(engine, Hinge(), Ridge(alpha)), optimum_of(engine, Hinge(), alpha).value
    view = Smoothed(hinge, mu)
    for w in np.random.default_rng(0).standard_normal((20, 4)):
        point = view.objective.at(w)
        bound, smoothing = view.at(point)
        assert bound.value == pytest.approx(hinge.at(w).value, rel=1e-12)
        assert bound.lower <= least
        assert smoothing <= mu / 4 + 1e-12  # mu mean(a (1 - a))
        gap = hinge.penalty.gap(w, point.risk_gradient) + smoothing + point.rounding
        assert bound.value - bound.lower <= gap * (1 + 1e-9)


def test_narrowing_takes_smoothing_below_the_target(engine):
    """What smoothing costs falls with the square of the width, which shrinks to a tenth at most a time."""
    view = Smoothed(Objective(engine, Hinge(), Ridge(1.0)))
    assert view.narrowed(target=1e-9, smoothing=0.2).mu == 0.1
    assert view.narrowed(target=0.2, smoothing=0.2).mu == 0.5
    mu = view.narrowed(target=0.02, smoothing=0.2).mu
    assert mu == pytest.approx(0.5 * 0.1**0.5)
    assert 0.2 * mu**2 <= 0.5 * 0.02
    narrowest = view
    for _ in range(30):
        narrowest = narrowest.narrowed(1e-30, 1.0)
    assert narrowest.narrowed(1e-30, 1.0) == narrowest
    assert narrowest.mu > 0
