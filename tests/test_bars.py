"""Progress: what a bar says, and what a terminal and a pipe show of it."""

import io
import re
import sys
import time

import pytest

from linrank import _bars
from linrank._bars import Bar, Screen, size


class Terminal(io.StringIO):
    """A stream that can be painted over."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def aged(bar: Bar, seconds: float) -> Bar:
    bar._begin = time.perf_counter() - seconds
    return bar


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_a_bar_is_one_line_of_a_terminal(width):
    bar = aged(Bar("reading a_rather_long_name_of_a_file.txt.gz", 3e9, "bytes"), 10)
    bar.done, bar.note = 1.2e9, "pass 1 of 3"
    assert len(bar.text(width)) <= width
    assert bar.text(width).startswith("reading")


def test_a_bar_tells_share_amount_rate_and_time_left():
    bar = aged(Bar("reading train.txt", 3e9, "bytes"), 10)
    bar.done = 1e9
    text = bar.text(120)
    assert text.count("#") == 8
    for words in (" 33 %", "1.0 GB of 3.0 GB", "about 20 s left"):
        assert words in text
    assert re.search(r" (100\.0|99\.\d) MB/s ", text)  # a moment has passed meanwhile
    fits = aged(Bar("5 folds x 20 alphas", 100, "fits"), 50)
    fits.done = 25
    assert "25 of 100 fits  0.5 fits/s  about 3 min left" in fits.text(120)


def test_in_a_narrow_terminal_bar_and_time_left_stay():
    bar = aged(Bar("training", 10.0), 10)
    bar.done, bar.note, bar.brief = 5.0, "iteration 5, objective 0.04726, gap 1.8e-02", "iteration 5, gap 1.8e-02"
    assert bar.text(79) == "training  ######------  50 %  iteration 5, gap 1.8e-02  10 s  about 10 s left"
    assert "objective" in bar.text(120)


def test_work_of_unknown_size_tells_what_is_done_and_how_fast():
    bar = aged(Bar("writing model.json", unit="bytes"), 2)
    bar.done = 3e6
    assert bar.text(80) == "writing model.json  3.0 MB  1.5 MB/s"
    assert aged(Bar("compiling once"), 3).text(80) == "compiling once  3 s"


def test_names_cannot_steer_the_terminal():
    assert "\x1b" not in Bar("reading \x1b[2J").text(80)


def test_on_a_terminal_a_bar_comes_after_a_second_and_goes_when_the_work_is_done(monkeypatch):
    terminal, screen = Terminal(), Screen()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_bars, "screen", screen)
    with screen.shown(), Bar("training", 10, "steps") as bar:
        screen._paint()
        assert terminal.getvalue() == ""
        aged(bar, 1.5)
        screen._paint()
        assert "training" in terminal.getvalue()
    assert terminal.getvalue().endswith(_bars.ERASE)


def test_elsewhere_one_line_a_while(monkeypatch):
    pipe, screen = io.StringIO(), Screen()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(_bars, "screen", screen)
    monkeypatch.setattr(_bars, "TICK", 1e-3)
    with screen.shown(), Bar("training") as bar:
        screen._paint()
        assert pipe.getvalue() == ""
        aged(bar, 11)
        for _ in range(3):
            screen._paint()
    assert pipe.getvalue() == "training  11 s\n"


def test_nothing_is_shown_where_nobody_asked(monkeypatch):
    terminal, screen = Terminal(), Screen()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_bars, "screen", screen)
    with Bar("training", after=0.0):
        screen._paint()
    with screen.shown(), screen.hidden(), Bar("training", after=0.0):
        screen._paint()
    assert terminal.getvalue() == ""


def test_the_line_at_once_goes_when_anything_else_is_shown(monkeypatch):
    terminal, screen = Terminal(), Screen()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_bars, "screen", screen)
    with screen.shown(), Bar("linrank train: starting", after=0.0, retires=True):
        assert terminal.getvalue() == f"{_bars.ERASE}linrank train: starting"
        with Bar("reading", after=0.0):
            screen._paint()
        screen._paint()
    assert terminal.getvalue().count("starting") == 1


def test_bytes_for_people():
    assert [size(n) for n in (12, 1500, 2.5e6, 3.84e9)] == ["12 bytes", "1.5 kB", "2.5 MB", "3.8 GB"]
