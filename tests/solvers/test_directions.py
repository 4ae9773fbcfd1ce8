"""Directions: which of them take Hessian products, and when a factor is given up."""

import numpy as np
import pytest

from linrank import RankingData
from linrank._objective import Objective
from linrank.losses import Hinge, SquaredHinge
from linrank.solvers import Newton, Status
from linrank.solvers._directions import Directions, Known
from linrank.testing import make_ranking
from test_objective import CountingEngine


@pytest.fixture
def objective():
    X, y, qid = make_ranking(3000, 8, 30, 4)
    with CountingEngine(RankingData(X, y, qid)) as engine:
        yield Objective(engine, SquaredHinge(), 1e-3, 8)


def test_a_factor_makes_directions_without_products(objective):
    point = objective.at(np.zeros(8))
    directions = Directions("auto", True, Known(point.risk_hessian()))
    assert point.gradient.size == 8
    objective.engine.products = 0
    direction = directions.at(point)
    assert objective.engine.products == 0
    np.testing.assert_allclose(point.hessian() @ direction, -point.gradient, rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-3, 1e3], ids=["far too small", "far too large"])
@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=lambda loss: loss.name)
def test_a_wrong_factor_is_mended_or_given_up(objective, factor, loss):
    """A start from a solution whose Hessian is that of other data ends at the same minimum."""
    objective = Objective(objective.engine, loss, 1e-3, 8)
    right = Newton(tol=1e-8).minimise(objective)
    wrong = factor * np.diag(10.0 ** np.arange(-4, 4))
    kept = right.state._replace(known=Known(wrong))
    again = Newton(tol=1e-8).minimise(objective, right.__class__(np.ones(8), 0.0, 0.0, right.status, [], kept))
    assert again.status is Status.CONVERGED
    assert again.value == pytest.approx(right.value, abs=2e-8)


def test_a_start_leaves_the_solution_as_it_was(objective):
    solution = Newton(tol=1e-3, hessian="exact").minimise(objective)
    H, pairs = solution.state.known.H.copy(), len(solution.state.known.pairs)
    first, second = (Newton(tol=1e-10).minimise(objective, solution) for _ in range(2))
    assert first.n_iter > 2
    np.testing.assert_array_equal(solution.state.known.H, H)
    assert len(solution.state.known.pairs) == pairs
    np.testing.assert_array_equal(first.w, second.w)


def test_a_factor_serves_for_another_alpha(objective):
    point = objective.at(np.full(8, 0.1))
    directions = Directions("auto", True, Known(point.risk_hessian()))
    directions.at(point)
    other = Objective(objective.engine, SquaredHinge(), 10.0, 8).at(point.w)
    np.testing.assert_allclose(other.hessian() @ directions.at(other), -other.gradient, rtol=1e-9)
