"""When methods end: by the gap, by the gradient, and where an approximate loss allows no more."""

import numpy as np
import pytest

from linrank import LinearRanker, ParameterError, RankingData
from linrank.engines import LocalEngine
from linrank.losses import Hinge, LogisticErfc, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, ConjugateGradients, Newton, Status, Tron
from linrank.solvers.certificate import Bounds, Certificate
from linrank.solvers.goal import Goal
from linrank.testing import make_ranking

SOLVERS = [ConjugateGradients, Tron, Newton]


def objective(loss, alpha=1e-3, n=900):
    X, y, qid = make_ranking(n, 4, 1, 900, noise=0.3, seed=2)
    return Objective(LocalEngine(RankingData(X, y, qid)), loss, Ridge(alpha))


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_gradient_decides_where_it_is_asked_for(solver, tol):
    f = objective(SquaredHinge())
    solution = solver(tol=1e-300, gradient_tol=tol).minimise(f)
    norms = [np.linalg.norm(f.at(w).gradient) for w in (np.zeros(4), solution.w)]
    assert solution.status is Status.CONVERGED
    assert norms[1] <= 1.01 * tol * norms[0]
    longer = solver(tol=1e-300, gradient_tol=1e-1 * tol).minimise(f)
    assert longer.n_iter >= solution.n_iter
    assert np.linalg.norm(f.at(longer.w).gradient) <= 0.11 * tol * norms[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_rule_is_relative_to_zero_wherever_it_starts(solver):
    f = objective(SquaredHinge())
    at_zero = np.linalg.norm(f.at(np.zeros(4)).gradient)
    solution = solver(gradient_tol=1e-2).minimise(f, np.full(4, 30.0))
    assert np.linalg.norm(f.at(solution.w).gradient) <= 1.01e-2 * at_zero
    assert np.linalg.norm(f.at(np.full(4, 30.0)).gradient) > 10 * at_zero


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan")])
def test_a_gradient_tol_that_nothing_meets_is_refused(solver, wrong):
    with pytest.raises(ParameterError, match="gradient_tol"):
        solver(gradient_tol=wrong)


def test_the_smoothed_hinge_has_no_gradient_to_go_by():
    with pytest.raises(ParameterError, match="gradient_tol needs a smooth loss, 'hinge' is not"):
        Newton(gradient_tol=1e-3).minimise(objective(Hinge()))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("eps", [1e-2, 1e-5])
def test_an_approximate_loss_ends_where_its_accuracy_does(solver, eps):
    f = objective(LogisticErfc(eps=eps), alpha=1e-5)
    solution = solver(tol=1e-6).minimise(f)
    assert solution.status is Status.LIMITED
    assert solution.n_iter < 60
    exact = Newton(tol=1e-9).minimise(objective(LogisticErfc(), alpha=1e-5))
    assert solution.value - exact.value <= min(solution.gap, 1e-3 + eps)  # a coarse loss ends at no worse weights
    finer = solver(tol=1e-6).minimise(objective(LogisticErfc(eps=1e-3 * eps), alpha=1e-5))
    assert finer.gap < 1e-2 * solution.gap


def test_a_ranker_says_that_its_loss_is_the_limit():
    X, y, qid = make_ranking(900, 4, 1, 900, noise=0.3, seed=2)
    with pytest.warns(match=r"ended as 'limited' .* The loss's own accuracy allows no smaller gap"):
        ranker = LinearRanker(LogisticErfc(eps=1e-4), alpha=1e-5, tol=1e-12).fit(X, y, qid)
    assert ranker.status_ == "limited"


def test_the_floor_counts_only_where_the_goal_lies_below_it():
    f = objective(SquaredHinge())
    near, far = (f.at(w) for w in (Newton(tol=1e-12).minimise(f).w, np.ones(4)))

    def ends(tol, gap, floor, point):
        return Goal(f, tol).ends(Certificate(point.w, gap, 0.0, 0.0, floor), point)

    assert ends(1.0, 0.9, 5.0, far) is Status.CONVERGED
    assert ends(1e-3, 0.9, 0.01, near) is Status.LIMITED
    assert ends(1e-3, 0.9, 0.0005, near) is None
    assert ends(1e-3, 0.9, 1e9, far) is None
    assert ends(1e-1, 0.9, 0.2, f.at(0.99 * near.w)) is Status.LIMITED


@pytest.mark.parametrize("eps", [1e-3, 1e-5])
def test_the_bundle_method_ends_where_an_approximate_loss_does(eps):
    solution = Bundle(tol=1e-6).minimise(objective(LogisticErfc(eps=eps), alpha=1e-4))
    assert solution.status is Status.LIMITED
    assert solution.n_iter < 100
    exact = Newton(tol=1e-9).minimise(objective(LogisticErfc(), alpha=1e-4))
    assert solution.value - exact.value <= min(solution.gap, 1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_point_that_met_the_gradients_rule_is_given_back(solver):
    f = objective(SquaredHinge())
    limit = 1e-8 * np.linalg.norm(f.at(np.zeros(4)).gradient)
    solution = solver(gradient_tol=1e-8).minimise(f)
    assert solution.status is Status.CONVERGED
    assert np.linalg.norm(f.at(solution.w).gradient) <= 1.01 * limit
    assert solution.value == pytest.approx(f.at(solution.w).value, rel=1e-12)


@pytest.mark.parametrize("wrong", [0, -3, 2.5, "a"])
def test_a_number_of_products_is_whole(wrong):
    with pytest.raises(ParameterError, match="max_products"):
        Newton(max_products=wrong)


def test_the_errors_of_the_best_value_count_where_the_bound_is_another_points():
    one = Certificate(np.zeros(1)).joined(Bounds(np.zeros(1), 1.0, 0.9, 0.05))
    assert one.gap == pytest.approx(0.1)
    assert one.joined(Bounds(np.ones(1), 1.1, 0.97, 0.0)).gap == pytest.approx(1.0 + 0.05 - 0.97)
    assert one.joined(Bounds(np.ones(1), 0.95, 0.8, 0.04)).gap == pytest.approx(0.95 + 0.04 - 0.9)
    assert one.joined(Bounds(np.ones(1), 0.95, 0.92, 0.02)).gap == pytest.approx(0.95 - 0.92)
