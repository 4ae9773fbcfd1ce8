"""Nonlinear conjugate gradients: the same optimum as Newton's method, two products with X an iteration."""

import numpy as np
import pytest

from linrank import LinearRanker, ParameterError, RankingData
from linrank.engines import LocalEngine
from linrank.losses import LOSSES
from linrank.objective import REFRESH, Objective
from linrank.penalties import Ridge
from linrank.solvers import ConjugateGradients, Newton, Status
from linrank.testing import make_ranking


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "logistic_erfc"])
def test_same_optimum_as_newton_and_a_true_certificate(engine, loss):
    objective = Objective(engine, LOSSES[loss], Ridge(1e-2))
    optimum = Newton(tol=1e-9).minimise(objective)
    before = engine.products
    solution = ConjugateGradients(tol=1e-6).minimise(objective)
    products = engine.products - before
    assert solution.status is Status.CONVERGED
    assert solution.value == pytest.approx(optimum.value, abs=2e-6)
    for step in solution.history:
        assert step.gap >= step.objective - optimum.value - 1e-9
    steps = solution.n_iter - 1
    assert products == 1 + 2 * steps + steps // REFRESH  # X 0 is known; one more now and then against drift


def test_as_published_it_reads_slopes_alone_and_ends_by_the_gradient_at_its_start():
    X, y, qid = make_ranking(200, 4, 5, 3)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        objective = Objective(engine, LOSSES["logistic"], Ridge(1e-3))
        start = np.array([3.0, -2.0, 1.0, 0.0])
        solution = ConjugateGradients(gradient_tol=1e-2, as_published=True).minimise(objective, start)
        first, last = (np.linalg.norm(objective.at(w).gradient) for w in (start, solution.w))
        longer = ConjugateGradients(gradient_tol=1e-2).minimise(objective, start)
        reached, at_zero = (np.linalg.norm(objective.at(w).gradient) for w in (longer.w, np.zeros(4)))
    assert solution.status is Status.CONVERGED
    assert last <= 1e-2 * first
    assert longer.status is Status.CONVERGED
    assert reached <= 1e-2 * at_zero


def test_by_name_and_refused_for_the_hinge():
    X, y, qid = make_ranking(200, 4, 5, 3)
    a = LinearRanker("logistic", solver="cg", tol=1e-8).fit(X, y, qid)
    np.testing.assert_allclose(a.coef_, LinearRanker("logistic", tol=1e-9).fit(X, y, qid).coef_, atol=1e-2)
    with pytest.raises(ParameterError, match="needs a smooth loss"):
        LinearRanker("hinge", solver="cg").fit(X, y, qid)
