"""No certificate of sparse data is false, whichever way to directions and to X is forced; 10,000 by the benchmark."""

import numpy as np
import pytest

from linrank.defaults import choose_scale
from linrank.engines import LocalEngine, reading
from linrank.losses import SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton
from linrank.solvers.newton import directions
from linrank.testing import random_sparse_problem
from questions.certificates_sparse import READINGS, WAYS, fits_of, forced


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 3))])
def test_no_certificate_of_sparse_data_is_false(part):
    most = (24, 30) if part == 0 else (60, 80)
    fits = [fit for number in range(60) for fit in fits_of(100_000 * part + number, *most)]
    assert [fit for fit in fits if fit.wrong] == []
    assert max(fit.known_to for fit in fits) <= 1e-9


def test_ways_and_readings_are_taken_where_they_are_forced(monkeypatch):
    """Or the problems above would all be solved in one way."""
    problem, seen = random_sparse_problem(np.random.default_rng(3)), set()

    def noting(kind, name):
        original = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *given, **more: seen.add(name) or original(*given, **more))

    noting(directions.Directions, "_by_secants")
    noting(directions.Directions, "_conjugate_gradients")
    noting(reading.ByColumns, "dot")
    for way, expected in zip(WAYS, ({"_by_secants"}, {"_conjugate_gradients", "dot"}, None), strict=True):
        seen.clear()
        with forced(way, "by columns"), LocalEngine(problem.data) as engine:
            scale = choose_scale(True, engine.columns())
            Newton(1e-6).minimise(Objective(engine, SquaredHinge(), Ridge(1e-3), scale))
        assert expected is None or seen == expected
    assert set(READINGS) >= {"by columns"}
