"""Secants: the corrected preconditioner takes what the last step did to the gradient back to the step."""

import numpy as np
import pytest

from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers.newton.directions import TUNING, CurvatureMemory
from linrank.solvers.newton.secants import Secant, by_diagonal, by_solving, corrected
from linrank.testing import make_ranking


@pytest.fixture
def points():
    """Points on a walk, of one objective."""
    X, y, qid = make_ranking(200, 6, 5, 4)
    rng = np.random.default_rng(0)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        objective = Objective(engine, SquaredHinge(), Ridge(0.1))
        yield [objective.at(w) for w in 0.1 * rng.normal(size=(TUNING.memory + 4, 6)).cumsum(axis=0)]


def secants_of(points):
    memory = CurvatureMemory()
    for point in points:
        memory = memory.noted(point, TUNING.memory)
    return memory.secants


@pytest.mark.parametrize("n", [2, 5, TUNING.memory + 4])
@pytest.mark.parametrize("c", [0.1, 3.0], ids=["its penalty", "another"])
def test_the_last_step_is_known(points, n, c):
    s = points[n - 1].w - points[n - 2].w
    y = points[n - 1].risk_gradient - points[n - 2].risk_gradient + c * s
    np.testing.assert_allclose(corrected(by_solving(lambda r: 2.0 * r), secants_of(points[:n]), c, y), s, rtol=1e-9)


def test_all_steps_of_a_quadratic_are_known():
    """Where steps are conjugate, as exact ones are, the last of them does not spoil those before."""
    H, rng = np.diag(np.arange(1.0, 5.0)), np.random.default_rng(0)
    steps = [np.eye(4)[k] * rng.uniform(0.1, 2.0) for k in range(3)]
    secants = tuple(Secant(s, H @ s) for s in steps)
    for s in steps:
        np.testing.assert_allclose(
            corrected(by_solving(lambda r: 7.0 * r), secants, 0.3, H @ s + 0.3 * s), s, rtol=1e-12
        )


def test_the_corrected_preconditioner_is_symmetric_and_positive(points):
    secants, diagonal = secants_of(points), np.arange(1.0, 7.0)
    columns = [corrected(by_diagonal(diagonal), secants, 0.1, column) for column in np.eye(6)]
    solved = [corrected(by_solving(lambda r: (r.T / diagonal).T), secants, 0.1, column) for column in np.eye(6)]
    np.testing.assert_allclose(columns, solved, rtol=1e-9)
    np.testing.assert_allclose(columns, np.transpose(columns), rtol=1e-9)
    assert np.linalg.eigvalsh(columns).min() > 0


def test_the_preconditioner_is_scaled_by_the_last_step():
    s = np.array([1.0, 0.0, 0.0])
    found = corrected(by_solving(lambda r: 1000.0 * r), (Secant(s, 4.0 * s),), 0.0, np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(found, [0, 0.25, 0.5])


def test_a_flat_step_tells_as_much():
    """Where the loss does not change, the objective's curvature is the penalty's."""
    s = np.array([0.0, 2.0, 0.0])
    np.testing.assert_allclose(corrected(by_solving(lambda r: 7.0 * r), (Secant(s, np.zeros(3)),), 0.1, 0.1 * s), s)
