"""Newton's method on faces against optima that owe nothing to the library, and every bound of its certificates."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import ParameterError, RankingData
from linrank._errors import overflow_ignored
from linrank.engines import LocalEngine
from linrank.losses import LOSSES, Hinge, SquaredHinge
from linrank.objective import Objective, Segment
from linrank.penalties import ElasticNet, Ridge
from linrank.solvers import Bundle, ConjugateGradients, Newton, Status, Tron
from linrank.solvers.certificate import bounds
from linrank.solvers.choose import choose
from linrank.solvers.line_search import search_segment
from linrank.solvers.newton.face import Model, first_kink, minimise_model, projected
from linrank.solvers.newton.secants import Secant, corrected_matrix
from linrank.solvers.newton.smoothing import Smoothed
from linrank.testing import CountingEngine, PenalisedObjective, make_ranking, random_penalty, random_problem

#: Relative to R(0), what rounding may do beyond that of the scores at the end: they are carried from step to step.
CARRIED = 1e-9
SOME = [*range(4), *(pytest.param(part, marks=pytest.mark.slow) for part in range(4, 30))]


def problems(part, n=10):
    """Ten of 300 problems by chance: shapes, weights, graphs, pairs, dense and sparse, scaled and not; a penalty."""
    for number in range(n):
        rng = np.random.default_rng([29, part, number])
        problem = random_problem(rng, most_rows=30)
        penalty = random_penalty(rng, problem.dense.shape[1])
        scale = 10.0 ** rng.uniform(-1, 1, problem.dense.shape[1]) if number % 2 else None
        yield problem, penalty, scale, rng


@pytest.mark.parametrize("part", SOME)
@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
def test_every_fit_is_within_its_gap_of_the_optimum(loss, part):
    for problem, penalty, scale, rng in problems(part):
        tol = 10.0 ** rng.uniform(-6 if loss.smooth else -4, -2)
        naive = PenalisedObjective(loss, problem.dense, problem.pairs, penalty, scale)
        optimum = naive.minimum()
        with LocalEngine(problem.data) as engine, overflow_ignored():
            objective = Objective(engine, loss, penalty, scale)
            unit = objective.value_at_zero
            solution = choose(objective, tol, 1000).minimise(objective)
        value = naive.value(solution.w)
        allowed = max(map(naive.rounding, (solution.w, optimum.w))) + CARRIED * unit
        assert abs(value - solution.value) <= allowed  # finite, so within the bounds
        assert solution.status is Status.CONVERGED
        assert value - optimum.value <= solution.gap + allowed
        assert solution.gap <= 1.01 * tol * unit


@pytest.mark.parametrize("part", SOME[:2] + SOME[4:24])
def test_no_certificate_is_below_the_true_gap(part):
    """At 25 points of 20 problems a part, of every loss: 10,000 in all.

    The least value found by anybody bounds the minimum from above, so a lower bound above it is false.
    """
    for number, (problem, penalty, scale, rng) in enumerate(problems(part, 20)):
        loss = list(LOSSES.values())[number % len(LOSSES)]
        naive = PenalisedObjective(loss, problem.dense, problem.pairs, penalty, scale)
        optimum = naive.minimum()
        with LocalEngine(problem.data) as engine, overflow_ignored():
            objective = Objective(engine, loss, penalty, scale)
            allowed = naive.rounding(optimum.w) + CARRIED * objective.value_at_zero
            ours = Newton(tol=1e-5, max_iter=100).minimise(objective).w
            least = min(optimum.value, naive.value(ours))
            for w in points(optimum.w.astype(float), penalty, rng):
                found = [bounds(objective.at(w))]
                if not loss.smooth:
                    view = Smoothed(objective, 10.0 ** rng.uniform(-6, 0))
                    found.append(view.at(view.objective.at(w)).bounds)
                assert all(one.lower <= least + allowed for one in found)


def points(best, penalty, rng):
    """Near the minimum and far from it, some weights on a kink or a bound."""
    for _ in range(25):
        w = best + 10.0 ** rng.uniform(-8, 1) * rng.standard_normal(best.size)
        yield penalty.nearest(np.where(rng.random(best.size) < 0.2, 0.0, w))


@pytest.fixture(params=["dense", "sparse"])
def ranking(request):
    X, y, qid = make_ranking(300, 12, 10, 4, seed=3)
    if request.param == "sparse":
        X = sp.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    with LocalEngine(RankingData(X, y, qid)) as engine:
        yield engine


@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
@pytest.mark.parametrize("l1_ratio", [0.1, 0.9, 1.0])
def test_all_weights_are_zero_from_one_alpha_on(ranking, loss, l1_ratio):
    with overflow_ignored():
        g = Objective(ranking, loss, Ridge(1.0)).at(np.zeros(12)).risk_gradient
        strongest = ElasticNet(1.0, l1_ratio).strongest(g)
        fits = [
            Newton().minimise(Objective(ranking, loss, ElasticNet(factor * strongest, l1_ratio)))
            for factor in (1.0, 1.001, 0.99)
        ]
    assert not fits[0].w.any()
    assert not fits[1].w.any()
    assert fits[2].w.any()
    assert all(fit.status is Status.CONVERGED for fit in fits)
    assert fits[1].gap <= 1e-9


def test_weights_are_exactly_on_kinks_and_bounds(ranking):
    lower, upper = np.full(12, -0.01), np.full(12, 0.3)
    penalty = ElasticNet(0.2, 0.9, lower, upper)
    with overflow_ignored():
        objective = Objective(ranking, SquaredHinge(), penalty)
        w = Newton(tol=1e-9).minimise(objective).w
        s = objective.at(w).gradient
    at_rest = (w == 0.0) | (w == lower) | (w == upper)
    assert np.count_nonzero(w == 0.0) > 0
    assert np.count_nonzero((w == lower) | (w == upper)) > 0
    assert (s[at_rest] == 0.0).all()
    assert (penalty.free(w) == ~at_rest).all()
    assert np.abs(s[~at_rest]).max() < 1e-4


def test_weights_that_are_not_free_make_no_difference_to_those_that_are(ranking):
    """The free weights minimise the ridge objective with the others held where they are."""
    penalty = ElasticNet(0.05, 0.0, -0.02, 0.3)
    with overflow_ignored():
        objective = Objective(ranking, SquaredHinge(), penalty)
        w = Newton(tol=1e-10).minimise(objective).w
        g = replace(objective, penalty=Ridge(0.05)).at(w).gradient
    assert np.abs(g[penalty.free(w)]).max() < 1e-5 < np.abs(g).max()


def test_a_start_outside_of_the_bounds_is_brought_inside(ranking):
    with overflow_ignored():
        objective = Objective(ranking, Hinge(), ElasticNet(0.01, 0.0, 0.05, 0.5))
        cold = Newton(tol=1e-4).minimise(objective)
        warm = Newton(tol=1e-4).minimise(objective, np.full(12, -7.0))
    assert cold.w.min() >= 0.05
    assert abs(cold.value - warm.value) <= cold.gap + warm.gap


@pytest.mark.parametrize("solver", [Bundle(), ConjugateGradients(), Tron()], ids=lambda solver: type(solver).__name__)
def test_other_methods_refuse(ranking, solver):
    with pytest.raises(ParameterError, match="use solver='auto' or 'newton'"):
        solver.minimise(Objective(ranking, SquaredHinge(), ElasticNet(0.1, 0.5)))


def test_a_gradient_ends_no_fit_with_kinks(ranking):
    with pytest.raises(ParameterError, match="gradient_tol"):
        Newton(gradient_tol=1e-3).minimise(Objective(ranking, SquaredHinge(), ElasticNet(0.1, 0.5)))


@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
def test_auto_is_newton(ranking, loss):
    assert isinstance(choose(Objective(ranking, loss, ElasticNet(0.1, 0.5)), 1e-3, 100), Newton)


def test_a_line_search_touches_no_features(ranking):
    counting = CountingEngine(ranking)
    with overflow_ignored():
        objective = Objective(counting, SquaredHinge(), ElasticNet(0.05, 0.5))
        point = objective.at(np.full(12, 0.2))
        segment = point.towards(np.linspace(-0.2, 0.3, 12))
        before = counting.trips["scores"]
        trial = search_segment(segment)
    assert counting.trips["scores"] == before == 2
    assert trial.value < point.value


def test_a_segment_ends_at_its_end_and_stays_between(ranking):
    start, end = np.full(12, 0.1), np.linspace(-0.3, 0.7, 12)
    with overflow_ignored():
        segment = Objective(ranking, SquaredHinge(), ElasticNet(0.05, 0.5)).at(start).towards(end)
        assert isinstance(segment, Segment)
        assert np.array_equal(segment.weights(1.0), end)
        for t in np.nextafter(1.0, 0.0), 0.3, 1e-17:
            w = segment.weights(t)
            assert (w >= np.minimum(start, end)).all()
            assert (w <= np.maximum(start, end)).all()
        h = 1e-6
        assert segment.slope == pytest.approx((segment.at(h).value - segment.start.value) / h, abs=1e-4)
        for t in (0.4, 1.0):
            assert segment.at(t).slope == pytest.approx((segment.at(t).value - segment.at(t - h).value) / h, abs=1e-4)


@pytest.mark.parametrize("seed", range(40))
def test_the_model_is_minimised(seed):
    """Against coordinate descent on the same quadratic, which is slow and cannot go wrong."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    A = rng.standard_normal((int(rng.integers(1, 2 * d + 1)), d))
    H, penalty = A.T @ A / d, random_penalty(rng, d)
    if penalty.curvature == 0.0:
        H += 0.01 * np.eye(d)
    w, g = penalty.nearest(rng.standard_normal(d)), rng.standard_normal(d)
    model = lambda x: float(g @ (x - w)) + 0.5 * float((x - w) @ H @ (x - w)) + penalty.value(x)  # noqa: E731
    slow = w.copy()
    for _ in range(1000):
        for j in range(d):
            part = replace(penalty.of(np.array([j])), alpha=penalty.alpha)
            slope = g[j] + float(H[j] @ (slow - w)) - H[j, j] * slow[j]
            curved = H[j, j] + penalty.curvature
            soft = np.sign(-slope) * max(abs(slope) - penalty.beta, 0.0)
            slow[j] = part.nearest(np.array([soft / max(curved, 1e-12)]))[0]
    found = minimise_model(H, penalty, w, g, value=1e3)
    assert model(found) <= model(w)
    assert model(found) - model(slow) <= 1e-4 * max(model(w) - model(slow), 1e-9)


def test_ends_of_steps():
    penalty = ElasticNet(1.0, 0.5, np.array([-1.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.0]))
    w, s, d = np.array([0.5, -0.2, 0.0]), np.array([1.0, -1.0, -1.0]), np.array([-1.0, 0.8, 3.0])
    assert projected(penalty, w, s, d).tolist() == [0.0, 0.0, 1.0]
    assert first_kink(penalty, w, s, d).tolist() == pytest.approx([0.25, 0.0, 0.75])
    assert first_kink(penalty, w, s, d)[1] == 0.0  # exactly
    assert first_kink(penalty, w, s, 0.1 * d).tolist() == pytest.approx((w + 0.1 * d).tolist())


def test_the_corrected_matrix_is_that_of_bfgs_step_by_step():
    rng = np.random.default_rng(5)
    A = rng.standard_normal((9, 5))
    H, c = A.T @ A, 0.3
    true = H + np.diag(rng.uniform(0, 2, 5))
    secants = tuple(Secant(s, true @ s) for s in rng.standard_normal((4, 5)))
    s, y = secants[-1]
    B = float(s @ y) / float(s @ H @ s) * H + c * np.eye(5)
    for s, y in secants:
        y = y + c * s
        Bs = B @ s
        B = B - np.outer(Bs, Bs) / (s @ Bs) + np.outer(y, y) / (s @ y)
    np.testing.assert_allclose(corrected_matrix(H, secants, c) + c * np.eye(5), B, rtol=1e-9, atol=1e-9)
    s, y = secants[-1]
    np.testing.assert_allclose(corrected_matrix(H, secants, c) @ s, y, rtol=1e-9)
    assert corrected_matrix(H, (), c) is H
    assert corrected_matrix(H, (Secant(s, 0.0 * y),), 0.0) is H  # no curvature: it says nothing


@pytest.mark.parametrize("s", [[np.nan, 1.0], [np.inf, 1.0], [1e200, 1e200]])
def test_numbers_without_end_end_a_step(s):
    """As they come from features that overflow."""
    with np.errstate(all="ignore"):
        d = Model(np.eye(2), 0.0, 1.0).solve(np.arange(2), np.array(s))
        end = minimise_model(np.eye(2), ElasticNet(1.0, 0.5), np.zeros(2), np.array(s), 1.0)
    assert d.shape == end.shape == (2,)
