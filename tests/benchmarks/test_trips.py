"""Trips are counted on all rows alone, and too many of them are a fault."""

import pytest

import results
from linrank import RankingData
from problems import graded
from questions import trips


@pytest.fixture
def given():
    with results.answering((), None) as answering:
        yield answering


@pytest.mark.parametrize(("loss", "solver"), trips.METHODS)
def test_trips_add_up(loss, solver, given):
    row = trips.measure("some", RankingData(*graded.make(400, 4, 20, 3)), loss, solver, 1e-2)
    assert not given.faults
    assert row["parts"] == 7
    kinds = dict(part.rsplit(" ", 1) for part in row["kinds"].split(", "))
    assert row["trips an iteration"] * row["iterations"] == pytest.approx(sum(map(int, kinds.values())))
    elsewhere = int(kinds["evaluate"]) - round(row["trials an iteration"] * row["iterations"])
    assert elsewhere >= 1  # at the start, and where the hinge is smoothed less
    assert elsewhere == 1 or (loss, solver) == ("hinge", "newton")
    start = sum(map(int, kinds.values())) - row["trips a step"] * (row["iterations"] - 1)
    assert start == pytest.approx(3)  # f(0), X w and the loss there
    limit = trips.METHODS[loss, solver]
    assert limit is None or row["trips a step"] <= limit
    assert not {"hessian_product", "sample", "draw"} & set(kinds)


def test_iterations_on_samples_do_not_count(given):
    data = RankingData(*graded.make(20_000, 4, 500, 3))
    row = trips.measure("some", data, "squared_hinge", "newton", 1e-3)
    assert row["iterations"] <= 3  # from a sample, which is as good as solved
    assert not given.faults


def test_too_many_trips_are_a_fault(given):
    row = {"loss": "a", "solver": "b", **dict.fromkeys(trips.MEANS, 1.0), "trips a step": 3.5}
    assert trips.mean([row, row | {"trips a step": 2.5}], "a", "b", 3.0)["trips a step"] == 3.0
    assert trips.mean([row | {"trips a step": 2.5}, row | {"trips a step": None}], "a", "b", 3.0)["trips a step"] == 2.5
    assert not given.faults
    trips.mean([row], "a", "b", 3.0)
    assert given.faults == ["a by b: 3.50 trips a step in the mean, 3 are allowed"]
