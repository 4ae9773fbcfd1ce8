"""Trust-region Newton: the same optimum as Newton's method, the paper's stop, the radius."""

import numpy as np
import pytest

from linrank import LinearRanker, ParameterError
from linrank.losses import Hinge, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton, Status, Tron, tron
from linrank.testing import make_ranking


@pytest.fixture
def objective(engine):
    return Objective(engine, SquaredHinge(), Ridge(1e-3))


def test_same_optimum_as_newton(objective):
    optimum = Newton(tol=1e-12).minimise(objective)
    solution = Tron(tol=1e-8).minimise(objective)
    assert solution.status is Status.CONVERGED
    assert solution.value == pytest.approx(optimum.value, rel=1e-7)
    for step in solution.history:
        assert step.gap >= step.objective - optimum.value - 1e-14


def test_stops_by_the_papers_rule(objective):
    solution = Tron(gradient_tol=1e-5).minimise(objective)
    size = np.linalg.norm(objective.at(solution.w).gradient)
    at_zero = np.linalg.norm(objective.at(np.zeros(objective.n_features)).gradient)
    assert solution.status is Status.CONVERGED
    assert size <= 1e-5 * at_zero
    again = Tron(gradient_tol=1e-5).minimise(objective, solution)
    assert again.n_iter == 1  # relative to the gradient at zero, not at the start


def test_as_published_the_first_radius_is_in_the_units_of_f_over_alpha_and_is_cut(objective):
    ours, published = (Tron(as_published=flag).begin(objective, None) for flag in (False, True))
    assert published.radius == pytest.approx(ours.radius / 1e-3)
    step = np.linalg.norm(tron._conjugate_gradients(published.point, published.radius)[0])
    after = Tron(as_published=True).step(published)
    assert after.moved
    assert after.radius <= 4 * step < published.radius


def test_a_step_stays_within_its_radius_and_is_cut_at_it(objective):
    point = objective.at(np.zeros(objective.n_features))
    whole, _ = tron._conjugate_gradients(point, np.inf)
    for part in (0.9, 0.1):
        radius = part * float(np.linalg.norm(whole))
        step, residual = tron._conjugate_gradients(point, radius)
        assert np.linalg.norm(step) == pytest.approx(radius)
        np.testing.assert_allclose(residual, -point.gradient - point.hessian_product(step), atol=1e-10)


def test_a_failed_step_shrinks_the_radius():
    assert tron._next_radius(1.0, 1.0, 0.1, fallen=-1.0, promised=1.0) == 0.25
    assert tron._next_radius(1.0, 1.0, 4.0, fallen=1.0, promised=1.0) == 4.0
    assert tron._next_radius(1.0, 0.2, 0.1, fallen=1.0, promised=1.0) == 1.0
    assert tron._next_radius(1.0, 1.0, 0.3, fallen=0.1, promised=1.0) == 0.3


def test_by_name_and_refused_for_the_hinge():
    X, y, qid = make_ranking(100, 4, 5, 3)
    a = LinearRanker(solver="tron", tol=1e-9).fit(X, y, qid)
    np.testing.assert_allclose(a.coef_, LinearRanker(tol=1e-9).fit(X, y, qid).coef_, atol=1e-3)
    with pytest.raises(ParameterError, match="needs a smooth loss"):
        LinearRanker("hinge", solver="tron").fit(X, y, qid)
    with pytest.raises(ParameterError, match="gradient_tol"):
        Tron(gradient_tol=0.0)
    assert not Hinge.smooth
