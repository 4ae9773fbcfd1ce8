"""Two methods in turn: what the second takes over, and what both leave."""

import numpy as np
import pytest

from linrank import ParameterError, RankingData
from linrank.engines import LocalEngine
from linrank.losses import LOSSES, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, Newton, Planes, Status
from linrank.solvers.newton.method import WarmStart
from linrank.solvers.relay import Relay
from linrank.testing import make_ranking

SMOOTH = [name for name, loss in LOSSES.items() if loss.smooth]


def relay(tol=1e-4, max_iter=1000, max_products=2):
    return Relay(Newton(tol, max_iter, hessian="products", max_products=max_products), Bundle(tol, max_iter))


@pytest.fixture
def objective():
    """Features of different sizes: a direction takes some products."""
    X, y, qid = make_ranking(600, 8, 20, 4)
    with LocalEngine(RankingData(X * 10.0 ** np.linspace(-1, 1, 8), y, qid)) as engine:
        yield Objective(engine, SquaredHinge(), Ridge(1e-3))


@pytest.mark.parametrize("loss", SMOOTH)
def test_the_bundle_method_ends_what_newton_gave_up(objective, loss):
    objective = Objective(objective.engine, LOSSES[loss], objective.penalty)
    best = Newton(tol=1e-7).minimise(objective)
    solution = relay().minimise(objective)
    assert solution.status is Status.CONVERGED
    assert isinstance(solution.state, Planes)
    assert best.value - best.gap <= solution.value <= best.value + solution.gap
    assert solution.gap <= 1e-4 * objective.value_at_zero


def test_nothing_is_lost_where_the_second_takes_over(objective):
    """Neither value nor gap grow, and iterations are counted on."""
    told = []
    solution = relay().minimise(objective, callback=told.append)
    assert [entry.iteration for entry in told] == list(range(1, solution.n_iter + 1))
    assert all(np.diff([entry.objective for entry in told]) <= 0)
    assert all(np.diff([entry.gap for entry in told]) <= 0)


def test_the_first_alone_where_it_is_not_stuck(objective):
    alone, both = Newton(1e-4, hessian="products").minimise(objective), relay(max_products=100).minimise(objective)
    assert both.w.tobytes() == alone.w.tobytes()
    assert isinstance(both.state, WarmStart)


def test_newton_alone_is_stalled_where_it_gives_up(objective):
    solution = Newton(1e-8, hessian="products", max_products=2).minimise(objective)
    assert solution.status is Status.STALLED
    best = Newton(1e-8).minimise(objective)
    assert solution.value - best.value <= solution.gap


def test_a_path_goes_on_with_the_method_it_came_to(objective):
    """No product is tried again for the next penalty."""
    solution = relay().minimise(objective)
    other = Objective(objective.engine, objective.loss, Ridge(5e-4))
    again, bundle = (solver.minimise(other, solution) for solver in (relay(), Bundle(1e-4)))
    assert again.w.tobytes() == bundle.w.tobytes()
    early = relay(max_products=100).minimise(objective)
    assert isinstance(relay(max_products=100).minimise(other, early).state, WarmStart)


def test_the_limit_of_iterations_is_that_of_both(objective):
    for n in (1, 3, 6):
        solution = relay(1e-9, n).minimise(objective)
        assert (solution.n_iter, solution.status) == (n, Status.MAX_ITER)


@pytest.mark.parametrize("cuts", [2, 5])
def test_newton_ends_what_the_bundle_method_gave_up(objective, cuts):
    hinge = Objective(objective.engine, LOSSES["hinge"], objective.penalty)
    best, told = Bundle(tol=1e-7).minimise(hinge), []
    both = Relay(Bundle(1e-4, max_cuts=cuts), Newton(1e-4))
    solution = both.minimise(hinge, callback=told.append)
    assert solution.status is Status.CONVERGED
    assert isinstance(solution.state, WarmStart)
    assert best.value - best.gap <= solution.value <= best.value + solution.gap
    assert all(np.diff([entry.gap for entry in told]) <= 1e-12)
    other = Objective(hinge.engine, hinge.loss, Ridge(5e-4))
    assert isinstance(both.minimise(other, solution).state, WarmStart)  # a path goes on with it


def test_the_bundle_method_alone_is_stalled_where_it_gives_up(objective):
    solution = Bundle(1e-8, max_cuts=3).minimise(objective)
    assert (solution.status, solution.n_iter) == (Status.STALLED, 3)
    best = Newton(1e-8).minimise(objective)
    assert solution.value - best.value <= solution.gap
    with pytest.raises(ParameterError, match="max_cuts=1 must be at least 2"):
        Bundle(max_cuts=1)
    early = Relay(Bundle(0.5, max_cuts=3), Newton(0.5)).minimise(objective)
    assert isinstance(early.state, Planes)  # it had converged before


def test_the_second_takes_over_where_the_first_gains_nothing_any_more():
    """With hardly any penalty the planes' minimum is rounding: it stalls long before it has made so many cuts."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 80)) / (1 + np.arange(80)) * (rng.random((300, 80)) < 0.3)
    y = np.round(3 * (X @ rng.normal(size=80)))
    with LocalEngine(RankingData(X, y)) as engine:
        hinge = Objective(engine, LOSSES["hinge"], Ridge(1e-20))
        assert Bundle(1e-3).minimise(hinge).status is Status.STALLED
        solution = Relay(Bundle(1e-3, max_cuts=1000), Newton(1e-3)).minimise(hinge)
    assert solution.status is Status.CONVERGED
    assert isinstance(solution.state, WarmStart)
