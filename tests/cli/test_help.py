"""Help as a newcomer reads it."""

import re

import pytest

from linrank.cli import COMMANDS
from linrank.cli._help import GROUPS


def help_at(run, width, *words):
    text = run(*words, "--help").stdout
    assert width >= max(map(len, text.splitlines()))
    return text


def test_the_first_screen_of_train_holds_what_a_first_use_needs(run):
    screen = "\n".join(run("train", "--help").stdout.splitlines()[:24])
    for option in ("--output", "--valid", "--metric", "--label", "--query", "train.txt -o model.json --valid"):
        assert option in screen


def test_options_come_in_groups(run):
    text = run("train", "--help").stdout
    titles = re.findall(r"^(\w[^:\n]*):$", text, re.M)
    assert titles == [name for name in GROUPS if name in titles]
    assert {"Output", "Data", "Model", "Solver", "Stochastic descent"} <= set(titles)
    for option, title in (("--label", "Data"), ("--alpha", "Model"), ("--tol", "Solver"), ("--rule", "Stochastic")):
        before = text[: text.index(f"  {option} ")]
        assert re.findall(r"^(\w[^:\n]*):$", before, re.M)[-1].startswith(title)


def test_tune_does_not_list_what_it_cannot_do(run):
    text = run("tune", "--help").stdout
    assert "train only" not in text
    for option in ("--stream", "--checkpoint", "--method", "--steps", "--device"):
        assert option not in text


def test_the_overview_is_not_cut(run):
    assert "..." not in run("--help").stdout.partition("Commands:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_word_is_cut_at_80_columns(run, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    wide = set(run(name, "--help").stdout.split())
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run(name, "--help").stdout
    assert max(map(len, narrow.splitlines())) <= 80
    assert set(narrow.split()) == wide
