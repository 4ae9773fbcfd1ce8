"""Newton's method: the optimum, its certificate, directions, and the hinge by smoothing."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from linrank import LinearRanker, ParameterError, RankingData
from linrank.data import active
from linrank.engines import LocalEngine, matrix
from linrank.losses import Hinge, HuberHinge, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, Newton, Status
from linrank.solvers.newton import method
from linrank.testing import enumerate_pairs, make_ranking
from products import ProductsEngine

pytestmark = pytest.mark.smoke


def objective_of(engine, alpha=1e-2, loss=None):
    return Objective(engine, loss or SquaredHinge(), Ridge(alpha))


@pytest.mark.parametrize("hessian", ["auto", "exact", "products"])
@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-5])
def test_gap_bounds_the_true_gap(engine, alpha, hessian):
    objective = objective_of(engine, alpha)
    optimum = Newton(tol=1e-13).minimise(objective)
    solution = Newton(tol=1e-5, hessian=hessian).minimise(objective)
    assert solution.status is Status.CONVERGED
    for step in solution.history:
        assert step.gap >= step.objective - optimum.value - 1e-14
    assert objective.at(solution.w).value == pytest.approx(solution.value, rel=1e-12)


def test_same_optimum_as_an_independent_solver():
    X, y, qid = make_ranking(120, 5, 4, 5)
    pairs = enumerate_pairs(y, qid)
    differences = X[pairs.winner] - X[pairs.loser]

    def f(w):
        h = np.maximum(0, 1 - differences @ w)
        return 0.005 * w @ w + (h**2).mean(), 0.01 * w - 2 * differences.T @ h / h.size

    theirs = minimize(f, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-10})
    ranker = LinearRanker("squared_hinge", 0.01, scale=False, tol=1e-12).fit(X, y, qid)
    assert ranker.objective_ == pytest.approx(theirs.fun, rel=1e-10)
    np.testing.assert_allclose(ranker.coef_, theirs.x, atol=1e-6)


def test_same_weights_as_linear_svc_on_pair_differences():
    """liblinear's 1/2 w.w + C sum is alpha = 1 / (C N)."""
    X, y, qid = make_ranking(100, 5, 4, 5)
    pairs = enumerate_pairs(y, qid)
    differences = X[pairs.winner] - X[pairs.loser]
    sign = np.where(np.arange(len(differences)) % 2, 1, -1)
    C = 0.5
    svc = LinearSVC(loss="squared_hinge", C=C, fit_intercept=False, dual=False, tol=1e-10)
    svc.fit(differences * sign[:, None], sign)
    ranker = LinearRanker("squared_hinge", 1 / (C * len(sign)), scale=False, tol=1e-13).fit(X, y, qid)
    np.testing.assert_allclose(ranker.coef_, svc.coef_.ravel(), rtol=1e-5, atol=1e-6)


def test_bundle_reaches_the_same(engine):
    newton = Newton(tol=1e-8).minimise(objective_of(engine))
    bundle = Bundle(tol=1e-6).minimise(objective_of(engine))
    assert bundle.value == pytest.approx(newton.value, abs=1e-6)


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
def test_hinge_by_smoothing(engine, alpha):
    objective = objective_of(engine, alpha, Hinge())
    optimum = Bundle(tol=1e-8, max_iter=5000).minimise(objective)
    for tol in (1e-3, 1e-5):
        solution = Newton(tol=tol).minimise(objective)
        assert solution.status is Status.CONVERGED
        assert solution.value - optimum.value <= solution.gap <= tol
        for step in solution.history:
            assert step.gap >= step.objective - optimum.value - 1e-14


def test_gradient_and_hessian_against_differences(engine):
    objective = objective_of(engine)
    w = np.linspace(-0.5, 0.7, engine.data.n_features)
    point = objective.at(w)
    H = point.hessian()
    for v in np.eye(w.size)[:4]:
        step = 1e-6
        up, down = objective.at(w + step * v), objective.at(w - step * v)
        assert (up.value - down.value) / (2 * step) == pytest.approx(point.gradient @ v, abs=1e-7)
        np.testing.assert_allclose((up.gradient - down.gradient) / (2 * step), H @ v, atol=2e-2 * np.abs(H).max())
        np.testing.assert_allclose(point.hessian_product(v), H @ v, atol=1e-12)
    assert w @ point.hessian_product(w) == pytest.approx(w @ H @ w)


def test_non_smooth_losses_have_no_hessian(engine):
    point = objective_of(engine, loss=Hinge()).at(np.zeros(engine.data.n_features))
    assert point.objective.hessian_cost is None
    for ask in (point.hessian, lambda: point.hessian_product(point.w)):
        with pytest.raises(ParameterError, match="not smooth"):
            ask()


def test_iteration_limit_gives_the_best_point_and_an_honest_gap(engine):
    objective = objective_of(engine, 1e-6)
    solution = Newton(tol=1e-14, max_iter=2).minimise(objective)
    optimum = Newton(tol=1e-13).minimise(objective)
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter == 2
    assert solution.value == min(step.objective for step in solution.history)
    assert solution.value == pytest.approx(objective.at(solution.w).value, rel=1e-13)
    assert solution.gap >= solution.value - optimum.value


@pytest.mark.parametrize("hessian", ["auto", "exact", "products"])
def test_an_impossible_tolerance_ends_as_stalled(engine, hessian):
    """No gap is below rounding, so that only a stall can end it: where the gap is little else."""
    objective = objective_of(engine)
    solution = Newton(tol=1e-40, hessian=hessian).minimise(objective)
    rounding = objective.at(solution.w).rounding
    assert solution.status is Status.STALLED
    assert rounding <= 1.01 * solution.gap
    assert solution.gap <= 8 * rounding


def test_sparse_and_dense_agree():
    X, y, qid = make_ranking(500, 30, 5, 4)
    X[np.abs(X) < 1] = 0
    values = []
    for given in (X, sp.csr_array(X), np.asfortranarray(X), X.astype(np.float32)):
        with LocalEngine(RankingData(given, y, qid)) as engine:
            values.append(Newton(tol=1e-10).minimise(objective_of(engine)).value)
    np.testing.assert_allclose(values, values[0], rtol=1e-6)


def test_features_over_twelve_orders_of_magnitude():
    X, y, qid = make_ranking(500, 7, 5, 4)
    stretched = X * 10.0 ** np.arange(-6, 8, 2)
    plain = LinearRanker(tol=1e-8).fit(X, y, qid)
    scaled = LinearRanker(tol=1e-8).fit(stretched, y, qid)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-7)
    assert abs(scaled.n_iter_ - plain.n_iter_) <= 1
    raw = LinearRanker(scale=False, tol=1e-6).fit(stretched, y, qid)
    assert raw.status_ == "converged"
    assert raw.gap_ <= 1e-6


@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=lambda loss: loss.name)
def test_samples_first_end_at_the_same_optimum(loss):
    X, y, qid = make_ranking(40_000, 8, 50, 5, noise=2.0)
    with ProductsEngine(RankingData(X, y, qid)) as engine:
        objective = Objective(engine, loss, Ridge(1e-4))
        direct = Newton(tol=1e-6, samples=False).minimise(objective)
        products, engine.products = engine.products, 0
        sampled = Newton(tol=1e-6).minimise(objective)
    assert sampled.status is direct.status is Status.CONVERGED
    assert sampled.value == pytest.approx(direct.value, abs=1e-6)
    assert engine.products < products  # those on all rows: samples have engines of their own


@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()])
def test_directions_from_rounded_features_lead_to_the_same_optimum(loss, monkeypatch):
    monkeypatch.setattr(matrix, "FLOAT32_ENTRIES", 1)
    X, y, qid = make_ranking(400, 30, 5, 4)
    X[np.abs(X) < 0.7] = 0.0
    with LocalEngine(RankingData(sp.csr_array(X), y, qid)) as engine:
        objective = objective_of(engine, 1e-3, loss)
        exact, rounded = (Newton(tol=1e-9, float32=rounded).minimise(objective) for rounded in (False, True))
        assert engine.fast.matrix is not engine.matrix
        v, point = np.ones(30), objective_of(engine, 1e-3).at(exact.w)
        rough, product = point.hessian_product(v, exact=False), point.hessian_product(v)
        np.testing.assert_allclose(rough, product, rtol=1e-5, atol=1e-7)
        assert not np.array_equal(rough, product)
    assert exact.status is rounded.status is Status.CONVERGED
    assert abs(exact.value - rounded.value) <= exact.gap + rounded.gap
    assert rounded.n_iter <= 1.1 * exact.n_iter + 1


@pytest.mark.parametrize("short", [0, 400], ids=["sorted", "direct"])
@pytest.mark.parametrize(  # seeds at which simpler bounds fail
    "seed", [5, 12, 34, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (4, 10, 15))]
)
def test_bounds_of_the_smoothed_hinge_survive_rounding(seed, short, monkeypatch):
    monkeypatch.setattr(active, "TUNING", replace(active.TUNING, short_to_sum=short))
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(5, 250)), int(rng.integers(1, 12)), int(rng.integers(1, 6)), [None, 2, 5][seed % 3]
    X, y, qid = make_ranking(*shape, noise=float(rng.choice([0, 0.3, 3])), seed=seed)
    if seed % 5 == 0:  # an offset multiplies what the gradient's sum is off
        X += 10.0 ** rng.uniform(0, 4, X.shape[1])
    with LocalEngine(RankingData(X, y, qid)) as engine:
        for alpha in (1.0, 1e-2):
            objective = objective_of(engine, alpha, Hinge())
            solutions = [Newton(tol=tol, max_iter=200).minimise(objective) for tol in (1e-8, 1e-10, 1e-12)]
            least = min(solution.value for solution in solutions)
            for solution in solutions:
                assert 0 < solution.gap
                assert solution.value - solution.gap <= least + 1e-14


def test_slopes_of_the_huberised_hinge_never_exceed_1():
    for mu in (1.0, 0.7, 1e-3, 3e-9, 1e-15, 1e-20):
        (a, b), (m, inside) = HuberHinge(mu).steps
        assert 2 * a * (m - inside) <= 1 + 4 * np.finfo(float).eps
        assert b == -a


@pytest.mark.parametrize(("grades", "part"), [([0.5, 0.5], 1.0), ([0.97, 0.03], 0.1164), ([0.2] * 5, 1.0)])
def test_a_sample_of_few_pairs_takes_more_rows(grades, part, monkeypatch):
    """Where most rows are of one grade, as many rows tell less of each feature."""
    X = np.random.default_rng(0).normal(size=(20_000, 30))
    y = np.repeat(np.arange(len(grades)), (20_000 * np.array(grades)).astype(int))
    asked = []
    with LocalEngine(RankingData(X, y)) as engine:
        objective = Objective(engine, SquaredHinge(), Ridge(0.1))
        assert objective.evenness == pytest.approx(part)
        monkeypatch.setattr(method, "TUNING", replace(method.TUNING, sample=10))
        monkeypatch.setattr(LocalEngine, "sample", lambda self, n: asked.append(n))
        method.sample_of(objective)
    assert asked == [max(int(20 * 30 / objective.evenness), 500)]
