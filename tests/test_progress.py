"""Time left, as a fit tells it."""

import math
from types import SimpleNamespace

import pytest

from linrank import _progress
from linrank._progress import ByteProgress, left, read_line, seconds_left
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
    assert left(None) == ""
    assert left(3.2).strip() == "about 3 s left"
    assert left(600.0).strip() == "about 10 min left"


def test_bytes_read_in_words():
    assert read_line("x.txt", 250_000_000, 1_000_000_000, 2.0) == (
        "Reading x.txt: 250 of 1,000 MB   125 MB/s   about 6 s left"
    )
    assert read_line("standard input", 3_000_000, None, 1.0) == "Reading standard input: 3 MB   3 MB/s"


def test_reading_is_silent_for_a_second_then_tells_a_line_a_while(monkeypatch, capfd):
    clock = iter([0.0, 0.0, 0.0, 0.5, 0.9, 3.0, 6.0, 7.0, 11.0])
    monkeypatch.setattr(_progress, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    with ByteProgress(0) as silent:
        silent.reached(10)  # asks no clock
    with ByteProgress(1, "x.txt") as progress:
        progress.begin(100_000_000)
        for k in range(1, 7):
            progress.reached(k * 10_000_000)
        assert progress.share == 0.6
    assert capfd.readouterr().err.splitlines() == [
        "Reading x.txt: 40 of 100 MB   7 MB/s   about 9 s left",
        "Reading x.txt: 60 of 100 MB   5 MB/s   about 7 s left",
    ]
