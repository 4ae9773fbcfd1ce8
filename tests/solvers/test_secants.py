"""Secants: the corrected preconditioner takes what the last step did to the gradient back to the step."""

import numpy as np
import pytest
from linrank.solvers._secants import MEMORY, Secants

from linrank import RankingData
from linrank._objective import Objective
from linrank.engines import LocalEngine
from linrank.losses import SquaredHinge
from linrank.penalties import Ridge
from linrank.testing import make_ranking


@pytest.fixture
def points():
    """Points on a walk, of one objective."""
    X, y, qid = make_ranking(200, 6, 5, 4)
    rng = np.random.default_rng(0)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        objective = Objective(engine, SquaredHinge(), Ridge(0.1))
        yield [objective.at(w) for w in 0.1 * rng.normal(size=(MEMORY + 4, 6)).cumsum(axis=0)]


def noted(points):
    secants = Secants()
    for point in points:
        secants.note(point)
    return secants


@pytest.mark.parametrize("n", [2, 5, MEMORY + 4])
@pytest.mark.parametrize("alpha", [0.1, 3.0], ids=["its alpha", "another"])
def test_the_last_step_is_known(points, n, alpha):
    secants = noted(points[:n])
    s = points[n - 1].w - points[n - 2].w
    y = points[n - 1].risk_gradient - points[n - 2].risk_gradient + alpha * s
    np.testing.assert_allclose(secants.apply(lambda r: 2.0 * r, y, alpha), s, rtol=1e-9)


def test_the_corrected_preconditioner_is_symmetric_and_positive(points):
    secants, diagonal = noted(points), np.arange(1.0, 7.0)
    matrix = np.column_stack([secants.apply(lambda r: (r.T / diagonal).T, column, 0.1) for column in np.eye(6)])
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-9)
    assert np.linalg.eigvalsh(matrix).min() > 0


def test_the_preconditioner_is_scaled_by_the_last_step():
    s = np.array([1.0, 0.0, 0.0])
    secants = Secants([(s, 4.0 * s)])
    np.testing.assert_allclose(secants.apply(lambda r: 1000.0 * r, np.array([0.0, 1.0, 2.0]), 0.0), [0, 0.25, 0.5])


def test_a_flat_step_tells_as_much():
    """Where the loss does not change, the objective's curvature is alpha."""
    s = np.array([0.0, 2.0, 0.0])
    secants = Secants([(s, np.zeros(3))])
    np.testing.assert_allclose(secants.apply(lambda r: 7.0 * r, 0.1 * s, 0.1), s)


def test_only_steps_within_one_objective_count(points):
    other = Objective(points[0].objective.engine, SquaredHinge(), Ridge(0.1))
    secants = noted([points[0], other.at_scores(points[1].w, points[1].evaluation.scores)])
    assert not secants.pairs
    np.testing.assert_array_equal(secants.apply(lambda r: 2.0 * r, np.ones(6), 0.1), 2.0)


def test_memory_is_bounded(points):
    assert len(noted(points).pairs) == MEMORY
