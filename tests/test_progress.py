"""Time left, as a fit tells it."""

import math

import pytest

from linrank._bars import remaining
from linrank._progress import ByteProgress, seconds_left
from linrank.solvers import Iteration


def test_steps_in_proportion():
    assert seconds_left([Iteration(250, 1.0, math.nan, 2.0)], None, 1000) == pytest.approx(6.0)
    assert seconds_left([Iteration(1000, 1.0, math.nan, 2.0)], None, 1000) == 0.0


@pytest.mark.parametrize("rate", [0.1, 3.0])
def test_a_gap_that_falls_by_a_constant_factor(rate):
    history = [Iteration(k, 1.0, math.exp(-rate * k), float(k)) for k in range(1, 10)]
    assert seconds_left(history, math.exp(-rate * 15), None) == pytest.approx(6.0)
    assert seconds_left(history, 1.0, None) == 0.0


def test_nothing_is_said_where_nothing_is_known():
    short = [Iteration(1, 1.0, 1.0, 1.0), Iteration(2, 1.0, 0.5, 2.0)]
    rising = [Iteration(k, 1.0, float(k), float(k)) for k in range(1, 6)]
    at_once = [Iteration(k, 1.0, 1.0 / k, 0.0) for k in range(1, 6)]
    closed = [Iteration(k, 1.0, 0.0, float(k)) for k in range(1, 6)]
    for history in (short, rising, at_once, closed):
        assert seconds_left(history, 1e-3, None) is None
    assert seconds_left(short, None, None) is None


def test_words():
    assert remaining(None) == ""
    assert remaining(3.2) == "about 3 s left"
    assert remaining(600.0) == "about 10 min left"


def test_bytes_read_are_a_share_of_the_source():
    with ByteProgress(0, "x.txt") as progress:
        assert progress.share == 1.0
        progress.begin(100)
        progress.reached(60)
        progress.reached(40)
        assert progress.share == 0.6
