"""The line search on made-up lines: it descends, does not creep, and ends."""

from types import SimpleNamespace

import numpy as np
import pytest

from linrank.solvers import line_search
from linrank.solvers.line_search import MAX_ASCENTS, MAX_TRIALS, search


class MadeUp:
    """A line with a given value and slope, which counts how often it is evaluated."""

    def __init__(self, value, slope):
        self.value_of, self.slope_of, self.n = value, slope, 0
        self.start, self.slope = SimpleNamespace(value=value(0.0)), slope(0.0)

    def at(self, t, gradient=False):
        self.n += 1
        value = self.value_of(t)
        return SimpleNamespace(t=t, value=value, slope=self.slope_of(t), risk=value)


@pytest.mark.parametrize("where", [1e-3, 1e-9, 1e-14])
def test_it_goes_on_until_a_step_descends(where):
    line = MadeUp(lambda t: abs(t - where) / where, lambda t: 1 / where if t > where else -1 / where)
    trial = search(line, 1.0)
    assert trial.value < line.start.value
    assert line.n <= MAX_ASCENTS


@pytest.mark.parametrize(
    ("where", "slopes", "flat"),
    [([0, 0.75, 0.85, 1], [-1, -1, 1, 20], 0.3), ([0, 0.15, 0.25, 1], [-20, -1, 1, 1], 0.02)],
    ids=["the far end", "the near end"],
)
def test_an_end_that_stays_put_does_not_hold_the_others(where, slopes, flat, monkeypatch):
    """By plain secants a steep end moves each trial by a twentieth only."""
    grid = np.linspace(0, 1, 10_001)
    slope = np.interp(grid, where, slopes)
    value = 30 + np.r_[0, np.cumsum((slope[1:] + slope[:-1]) / 2 * np.diff(grid))]
    line = MadeUp(lambda t: np.interp(t, grid, value), lambda t: np.interp(t, grid, slope))
    monkeypatch.setattr(line_search, "FLAT", flat)
    trial = search(line, 1.0)
    assert abs(trial.slope) <= flat * abs(line.slope)
    assert line.n < MAX_TRIALS


def test_overflow_is_too_far():
    line = MadeUp(
        lambda t: float("inf") if t > 1e-3 else (t - 5e-4) ** 2, lambda t: float("nan") if t > 1e-3 else 2 * (t - 5e-4)
    )
    assert search(line, 1.0).value < line.start.value


def test_a_negative_loss_is_too_far():
    """No loss is negative: where scores are so large that one seems to be, rounding is all that is left."""
    line = MadeUp(lambda t: -1e11 if t > 0.01 else (t - 5e-3) ** 2, lambda t: -1.0 if t > 0.01 else 2 * (t - 5e-3))
    assert 0 <= search(line, 1.0).value < line.start.value
    hopeless = MadeUp(lambda t: -1e11 if t else 1.0, lambda t: -1.0)
    search(hopeless, 1.0)
    assert hopeless.n == MAX_ASCENTS


def test_a_line_that_ascends_is_taken_as_it_is():
    line = MadeUp(lambda t: t, lambda t: 1.0)
    assert search(line, 1.0).t == 1.0


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 1.2, 30.0, 1e9])
def test_a_parabola_is_searched_to_the_slope_that_is_asked_for(first):
    line = MadeUp(lambda t: (t - 1.0) ** 2, lambda t: 2.0 * (t - 1.0))
    trial = search(line, first)
    assert abs(trial.slope) <= line_search.FLAT * abs(line.slope)
    if abs(first - 1.0) <= line_search.FLAT:
        assert line.n == 1
    elif first > 1.0:  # a secant through two slopes of a parabola meets its minimum, but for the bracket's twentieth
        assert line.n <= 2 + np.ceil(np.log(first) / np.log(20.0))
    else:
        assert line.n <= 2 + np.ceil(np.log2(1.0 / first))  # doubled until it is beyond


def test_a_line_that_never_descends_ends():
    """A slope that promises what the values do not keep: rounding, or a gradient that is none."""
    line = MadeUp(lambda t: 1.0 + t, lambda t: -1.0)
    trial = search(line, 1.0)
    assert line.n == MAX_ASCENTS
    assert trial.t == 1.0  # the least of those seen
