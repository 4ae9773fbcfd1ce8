"""Certificates of all solvers against an optimum that owes nothing to the library: pairs are listed one by one."""

import numpy as np
import pytest
from scipy.optimize import minimize

from linrank._errors import overflow_ignored
from linrank.engines import LocalEngine
from linrank.losses import LOSSES, Hinge, Logistic, LogisticErfc, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, ConjugateGradients, Newton, Status, Tron
from linrank.testing import NaiveObjective, enumerate_pairs, make_ranking, naive_phi, random_problem
from linrank.testing.naive import Pairs

#: Relative to f(0), what rounding may do beyond that of the scores at the end: they are carried from step to step.
CARRIED = 1e-9


def solvers(loss, **limits):
    every = [Bundle(**limits), Newton(**limits), Newton(**limits, hessian="products")]
    if loss.smooth:
        return [*every, ConjugateGradients(**limits), Tron(**limits)]
    return [*every, Bundle(**limits, line_search=False)]


@pytest.mark.parametrize("part", [*range(4), *(pytest.param(part, marks=pytest.mark.slow) for part in range(4, 10))])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
def test_no_certificate_is_false(loss, part):
    """On problems by chance: shapes, weights, graphs, pairs, kinds of X, offsets, small and large alpha."""
    for number in range(4):
        rng = np.random.default_rng([part, number])
        problem = random_problem(rng, most_rows=30)
        alpha, tol = 10.0 ** rng.uniform(-6, 3), 10.0 ** rng.uniform(-8, -1)
        scale = 10.0 ** rng.uniform(-1, 1, problem.dense.shape[1]) if number == 3 else None
        naive = NaiveObjective(loss, problem.dense, problem.pairs, alpha, scale)
        optimum, unit = naive.minimum(), naive.value(np.zeros(problem.dense.shape[1]))
        assert optimum.value - optimum.lower <= 1e-9 * unit
        with LocalEngine(problem.data) as engine, overflow_ignored():
            objective = Objective(engine, loss, Ridge(alpha), scale)
            assert objective.value_at_zero == pytest.approx(float(unit), rel=1e-12)
            for solver in solvers(loss, tol=tol, max_iter=100):
                solution = solver.minimise(objective)
                value, rounding = naive.value(solution.w), max(map(naive.rounding, (solution.w, optimum.w)))
                allowed = rounding + CARRIED * unit
                assert value - optimum.value <= solution.gap + allowed, (solver, problem.options)
                assert abs(value - solution.value) <= allowed, (solver, problem.options)
                if solution.status is Status.CONVERGED:
                    assert solution.gap <= tol * unit


@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
def test_the_optimum_of_one_pair_is_known(loss):
    """w is t times the difference: one number, to be found by bisection on its slope."""
    X, alpha = np.array([[1.0, 2.0], [0.5, -1.0]]), 0.7
    D, phi = X[0] - X[1], naive_phi(loss)
    low, high = 0.0, 1.0 / alpha
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if alpha * t + phi.slope(np.array(t * (D @ D))) < 0 else (low, t)
    found = NaiveObjective(loss, X, Pairs(np.array([0]), np.array([1]), np.ones(1)), alpha).minimum()
    np.testing.assert_allclose(found.w.astype(float), low * D, rtol=1e-6)
    value = alpha / 2 * low**2 * (D @ D) + phi.value(np.array(low * (D @ D)))
    assert float(found.value) == pytest.approx(float(value), rel=1e-12)
    assert found.value - found.lower <= 1e-12


@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic(), LogisticErfc()], ids=lambda loss: loss.name)
def test_the_optimum_is_that_of_scipy(loss):
    X, y, qid = make_ranking(40, 5, 3, 4)
    naive = NaiveObjective(loss, X, enumerate_pairs(y, qid), 1e-2)
    theirs = minimize(
        lambda w: float(naive.value(w)), np.zeros(5), jac=lambda w: naive.gradient(w).astype(float), method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    ours = naive.minimum()
    assert naive.value(theirs.x) >= ours.lower
    assert theirs.fun == pytest.approx(float(ours.value), abs=1e-12)


def test_the_optimum_of_the_hinge_is_bounded_from_both_sides():
    for seed in range(10):
        X, y, qid = make_ranking(40, 5, 3, 4, seed=seed, noise=float(seed))
        naive = NaiveObjective(Hinge(), X, enumerate_pairs(y, qid), 10.0 ** (seed - 7))
        found = naive.minimum()
        assert 0 <= found.value - found.lower <= 1e-11
        for w in found.w + 1e-3 * np.random.default_rng(seed).standard_normal((50, 5)):
            assert naive.value(w) >= found.lower
