"""Directions: which of them take Hessian products, and when a factor is given up."""

import numpy as np
import pytest
from linrank.solvers._directions import Directions, Known

from linrank import RankingData
from linrank._objective import Objective
from linrank.losses import Hinge, SquaredHinge
from linrank.penalties import Ridge
from linrank.solvers import Newton, Status
from linrank.testing import make_ranking
from products import ProductsEngine


@pytest.fixture
def objective():
    X, y, qid = make_ranking(3000, 8, 30, 4)
    with ProductsEngine(RankingData(X, y, qid)) as engine:
        yield Objective(engine, SquaredHinge(), Ridge(1e-3))


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
    objective = Objective(objective.engine, loss, Ridge(1e-3))
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
    other = Objective(objective.engine, SquaredHinge(), Ridge(10.0)).at(point.w)
    np.testing.assert_allclose(other.hessian() @ directions.at(other), -other.gradient, rtol=1e-9)


def soft_directions(steps=0):
    """Directions from a Hessian that is far too small."""
    return Directions("auto", True, Known(1e-9 * np.eye(8), steps=steps))


def assert_newton(point, direction):
    np.testing.assert_allclose(point.hessian() @ direction, -point.gradient, rtol=1e-9)


def test_a_step_that_must_be_short_ends_a_factor_and_a_second_one_all_of_them(objective):
    directions, point = soft_directions(), objective.at(np.zeros(8))
    slope = float(point.gradient @ directions.at(point))
    assert not directions.solved
    assert directions.decrement(slope, 1e-6) == np.inf
    assert_newton(point, directions.at(point))
    assert directions.solved
    directions.decrement(slope, 1.0)  # a good step: nothing to give up
    directions.at(point)
    assert not directions.solved
    directions.decrement(slope, 1e-6)
    objective.engine.products = 0
    directions.at(point)
    assert directions.solved
    assert objective.engine.products > 0  # conjugate gradients
    directions.at(point)
    assert directions.solved


def test_slow_steps_of_earlier_fits_count(objective):
    point = objective.at(np.zeros(8))
    few, many = soft_directions(steps=1), soft_directions(steps=1000)
    few.at(point)
    assert not few.solved
    assert few.known.steps == 2
    assert_newton(point, many.at(point))
    assert many.known.steps == 0


def test_steps_that_gain_little_end_a_factor(objective):
    directions, w, steps = soft_directions(), np.zeros(8), 0
    direction = directions.at(objective.at(w))
    while not directions.solved:
        w, steps = w + 1e-12 * direction, steps + 1
        direction = directions.at(objective.at(w))
    assert 2 < steps < 10
    assert_newton(objective.at(w), direction)


def test_distance_is_told_only_after_steady_steps(objective):
    best = Newton(tol=1e-10).minimise(objective)
    directions = Directions("auto", True, Known(1.3 * objective.at(best.w).risk_hessian()))
    point, told = objective.at(best.w + 0.01), []
    for _ in range(5):
        line = point.along(directions.at(point))
        told.append(directions.decrement(line.slope, 1.0))
        point = line.point(1.0)
    assert told[0] == np.inf
    finite = [k for k, distance in enumerate(told) if np.isfinite(distance)]
    assert finite
    assert finite[0] > 1
    assert directions.decrement(-1.0, 3.0) == np.inf  # a step that was far off
    assert directions.decrement(-1.0, 3.0, rough=True) == 4.5
