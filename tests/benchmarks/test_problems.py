"""Problems: the two lists, small stand-ins that need no data, and facts that are counted."""

from pathlib import Path

import numpy as np
import pytest

import opponents
import problems
from problems import graded

FOLDER = Path(problems.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.py") if "ABOUT" in path.read_text())


def test_a_problem_is_for_tuning_or_for_reporting():
    assert not set(problems.TUNING) & set(problems.REPORTING)
    assert {*problems.TUNING, *problems.REPORTING} == set(NAMES) - {"graded"}
    assert problems.listed("cadata") == "tuning"
    assert problems.listed("newsgroups") == "reporting"


@pytest.mark.parametrize("name", NAMES)
def test_a_small_stand_in_needs_no_data(name, monkeypatch):
    monkeypatch.setenv("LINRANK_QUICK", "1")
    monkeypatch.delenv("LINRANK_DATA", raising=False)
    problem = problems.load(name)
    about = problems.facts(problem)
    assert about.pairs > 0
    assert about.rows <= 10_000
    assert problem.X.shape == (about.rows, about.features)


def test_facts_are_counted_and_held_against_the_file(monkeypatch):
    y, qid = np.array([1.0, 0, 0, 2, 2, 1]), np.array(list("aaabbb"))
    about = problems.facts(problems.Problem(np.zeros((6, 2)), y, qid))
    assert (about.rows, about.features, about.queries, about.levels, about.pairs) == (6, 2, 2, 3, 4)
    monkeypatch.delenv("LINRANK_QUICK", raising=False)
    assert problems.facts(problems.load("graded"), graded.ABOUT.source) == graded.ABOUT
    monkeypatch.setattr(graded, "make", lambda: problems.Problem(np.zeros((6, 2)), y, qid))
    with pytest.raises(SystemExit, match=r"says .* the data are"):
        problems.load("graded")


def test_real_data_is_asked_for_by_name(monkeypatch):
    monkeypatch.delenv("LINRANK_DATA", raising=False)
    monkeypatch.delenv("LINRANK_QUICK", raising=False)
    with pytest.raises(SystemExit, match="--data or LINRANK_DATA"):
        problems.load("cadata")


@pytest.mark.parametrize("name", opponents.NAMES)
def test_every_opponent_has_the_same_face(name):
    import inspect

    one = opponents.opponent(name)
    assert one.TITLE
    assert one.available() in (True, False)
    assert list(inspect.signature(one.fit).parameters)[:3] == ["problem", "loss", "alpha"]


def test_opponents_are_listed():
    kept = {path.stem for path in Path(opponents.__file__).parent.glob("[!_]*.py")}
    assert kept == set(opponents.NAMES)
