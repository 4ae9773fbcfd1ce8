"""The bundle method: certificate, status, products, warm starts."""

import numpy as np
import pytest

from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import Hinge, LogisticErfc
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, Newton, Solution, Status
from linrank.solvers.bundle import method, planes
from linrank.testing import PairHinge, make_ranking
from products import ProductsEngine

pytestmark = pytest.mark.smoke


def objective_of(engine, alpha=1e-2, loss=None):
    return Objective(engine, loss or Hinge(), Ridge(alpha))


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("line_search", [True, False])
def test_gap_is_never_below_the_true_gap(engine, alpha, line_search):
    if not line_search and alpha < 1e-2:
        alpha = 1e-3  # Algorithm 1 needs O(1 / alpha) iterations
    objective = objective_of(engine, alpha)
    optimum = Bundle(tol=1e-8, max_iter=3000).minimise(objective)
    assert optimum.status is Status.CONVERGED
    seen = []
    solution = Bundle(tol=1e-4, max_iter=3000, line_search=line_search).minimise(objective, None, seen.append)
    assert solution.status is Status.CONVERGED
    assert solution.gap <= 1e-4
    for step in solution.history:
        assert step.gap >= step.objective - optimum.value - 1e-14
    lower = [step.objective - step.gap for step in solution.history]
    assert np.all(np.diff(lower) >= -1e-12 * np.abs(lower).max())
    assert seen == solution.history
    assert objective.at(solution.w).value == pytest.approx(solution.value, rel=1e-12)


def test_certificate_holds_for_a_wrong_quadratic_programme(engine, monkeypatch):
    objective = objective_of(engine)
    optimum = Bundle(tol=1e-8, max_iter=3000).minimise(objective)
    exact, rng = planes.maximise_over_simplex, np.random.default_rng(0)

    def wrong(G, b, alpha, x):
        x = exact(G, b, alpha, x)
        return x * (1 + 0.01 * rng.standard_normal(x.size)) + 0.01 * rng.random(x.size)

    monkeypatch.setattr(planes, "maximise_over_simplex", wrong)
    solution = Bundle(tol=1e-6, max_iter=60).minimise(objective)
    for step in solution.history:
        assert step.gap >= step.objective - optimum.value - 1e-14


def test_two_products_a_step_whatever_the_line_search_does(engine):
    """X d and the plane's gradient; one more where the plane before was not taken at the point it starts from."""
    bundle = Bundle(tol=1e-6)
    state = bundle.begin(objective_of(engine), None)
    assert engine.products == 1  # X 0 is known
    beside = 0
    while bundle.ends(state) is None:
        before, unknown = engine.products, "risk_gradient" not in state.point.__dict__
        state = bundle.step(state)
        assert engine.products - before == 2 + unknown
        beside += unknown
    engine.products = 0
    solution = bundle.minimise(objective_of(engine))
    assert engine.products == 2 * solution.n_iter - 1 + beside


def test_algorithm_1_takes_two_products_an_iteration(engine):
    solution = Bundle(tol=1e-2, line_search=False).minimise(objective_of(engine))
    assert engine.products == 2 * solution.n_iter - 1


@pytest.mark.parametrize("share", [0.0, 0.1, 2.0])
def test_every_step_cuts_a_part_of_the_gap_away_at_the_models_minimiser(engine, share, monkeypatch):
    """By the plane where the search ended, or else by that at the minimiser itself, as Algorithm 1 has it."""
    monkeypatch.setattr(method, "CUTS", share)
    bundle, objective = Bundle(tol=1e-4), objective_of(engine)
    state = bundle.begin(objective, None)
    while bundle.ends(state) is None:
        w, gap, known = state.minimum.w, state.best.gap, state.minimum.risk
        state, there = bundle.step(state), objective.at(w).risk
        a, b = state.model.planes()[:2]
        raised = float(np.max(a @ w + b)) - known
        assert raised >= min(share * gap, there - known) - 1e-12
        assert raised <= there - known + 1e-12  # planes lie below the risk


def test_iteration_limit_gives_the_best_point_and_an_honest_gap(engine):
    objective = objective_of(engine, 1e-4)
    solution = Bundle(tol=1e-9, max_iter=3).minimise(objective)
    optimum = Bundle(tol=1e-8, max_iter=3000).minimise(objective)
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter == 3
    assert solution.value == min(step.objective for step in solution.history)
    assert solution.value == pytest.approx(objective.at(solution.w).value, rel=1e-13)
    assert solution.gap >= solution.value - optimum.value


def test_an_impossible_tolerance_ends_as_stalled(engine):
    """No gap is below rounding, so that only a stall can end it: near the minimum, as Newton's method finds it."""
    objective = objective_of(engine)
    solution = Bundle(tol=1e-18, max_iter=100_000).minimise(objective)
    optimum = Newton(tol=1e-9).minimise(objective)
    assert solution.status is Status.STALLED
    assert objective.at(solution.w).rounding <= solution.gap < 1e-8
    assert solution.value - solution.gap <= optimum.value
    assert optimum.value - optimum.gap <= solution.value
    assert len({(step.objective, step.gap) for step in solution.history[-Bundle.stall :]}) <= 2


def test_same_solution_as_pair_rsvm(engine):
    tree = Bundle(tol=1e-6).minimise(objective_of(engine))
    pair = Bundle(tol=1e-6).minimise(objective_of(engine, loss=PairHinge()))
    assert pair.value == pytest.approx(tree.value, abs=1e-6)
    np.testing.assert_allclose(pair.w, tree.w, atol=2e-2 * np.abs(tree.w).max())


def test_planes_serve_every_alpha(engine):
    first = Bundle(tol=1e-4).minimise(objective_of(engine, 1e-2))
    cold = Bundle(tol=1e-4).minimise(objective_of(engine, 5e-3))
    warm = Bundle(tol=1e-4).minimise(objective_of(engine, 5e-3), first)
    optimum = Bundle(tol=1e-8, max_iter=3000).minimise(objective_of(engine, 5e-3))
    assert isinstance(first, Solution)
    assert warm.n_iter < cold.n_iter
    assert warm.gap >= warm.value - optimum.value - 1e-14
    assert Bundle(tol=1e-4).minimise(objective_of(engine, 1e-2), first).n_iter <= 2


def test_idle_planes_are_forgotten_and_the_bound_stands(monkeypatch):
    X, y, qid = make_ranking(500, 20, 1, None, noise=3.0)
    monkeypatch.setattr(method, "MAX_IDLE", 3)
    with ProductsEngine(RankingData(X, y, qid)) as engine:
        solution = Bundle(tol=1e-7, max_iter=3000).minimise(objective_of(engine, 1e-3))
        assert len(solution.state.b) < solution.n_iter
        lower = [step.objective - step.gap for step in solution.history]
        assert np.all(np.diff(lower) >= -1e-12 * abs(lower[0]))


def test_merged_planes_keep_the_bound_and_memory_is_bounded():
    X, y, qid = make_ranking(300, 12, 1, None, noise=3.0)
    with ProductsEngine(RankingData(X, y, qid)) as engine:
        objective = objective_of(engine, 1e-3)
        optimum = Bundle(tol=1e-8).minimise(objective)
        few = Bundle(tol=1e-4, max_planes=8, max_iter=20_000).minimise(objective)
    assert few.status is Status.CONVERGED
    assert len(few.state.b) <= 9
    lower = [step.objective - step.gap for step in few.history]
    assert np.all(np.diff(lower) >= -1e-12 * np.abs(lower).max())
    for step in few.history:
        assert step.gap >= step.objective - optimum.value - 1e-14


def test_planes_of_an_approximate_loss_carry_its_error():
    X, y, qid = make_ranking(1500, 4, 1, None)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        objective = Objective(engine, LogisticErfc(), Ridge(1e-2))
        point = objective.at(np.ones(4))
        assert point.gradient_error > 0
        solution = Bundle(tol=1e-4).minimise(objective)
        optimum = Newton(tol=1e-8, max_iter=50).minimise(objective)
    reach = np.sqrt(2 * objective.value_at_zero / 1e-2)
    assert solution.gap > point.error + 0.5 * point.gradient_error * reach
    assert solution.gap >= solution.value - optimum.value


@pytest.mark.parametrize("alpha", [1e-4, 1e-8])
def test_planes_of_points_far_away_do_not_rise_above_the_risk(alpha):
    """Algorithm 1 goes to |a|/alpha at first, where scores up to 1e11 leave few digits to the mean loss."""
    X, y = 700.0 + np.arange(9.0)[:, None] ** 2, np.array([0, 1, 1, 2, 2, 1, 0, 2, 1])
    with LocalEngine(RankingData(X, y)) as engine:
        objective = objective_of(engine, alpha)
        planes = Bundle(tol=1e-6, line_search=False).minimise(objective).state
        for w in np.linspace(-100, 100, 201):
            point = objective.at(np.array([w]))
            assert np.max(planes.a @ point.w + planes.b) <= point.risk + point.rounding
