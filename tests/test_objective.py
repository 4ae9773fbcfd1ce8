"""The chain rule, lines, and how many products with X they cost."""

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import RankingData
from linrank.defaults import choose_scale
from linrank.engines import LocalEngine
from linrank.losses import LOSSES, Hinge, HuberHinge, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.testing import loss_at, make_ranking
from products import ProductsEngine, dot, transpose_dot


@pytest.fixture
def setting():
    X, y, qid = make_ranking(300, 6, 5, None, seed=1)
    data = RankingData(X, y, qid)
    with ProductsEngine(data) as engine:
        yield X, engine, Objective(engine, Hinge(), Ridge(0.1), scale=np.arange(1.0, 7.0))


def test_value_and_gradient_by_hand(setting):
    X, engine, objective = setting
    w = np.linspace(-1, 1, 6)
    scaled = X / np.arange(1.0, 7.0)
    loss = loss_at(Hinge(), scaled @ w, engine.data)
    point = objective.at(w)
    assert point.value == pytest.approx(loss.value + 0.05 * w @ w)
    np.testing.assert_allclose(point.gradient, scaled.T @ loss.gradient + 0.1 * w)


@pytest.mark.parametrize("loss", [*LOSSES.values(), HuberHinge(0.1)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("options", [{}, {"query_weighting": "queries"}, {"sample_weight": 0.5 + np.arange(300) % 3}])
def test_the_value_at_zero_is_that_of_equal_scores(setting, loss, options):
    _, engine, _ = setting
    data = RankingData(engine.data.X, engine.data.y, engine.data.query, **options)
    with ProductsEngine(data) as engine:
        objective = Objective(engine, loss, Ridge(0.1))
        expected = objective.at(np.zeros(6)).value
        assert objective.value_at_zero == pytest.approx(expected, rel=1e-9)
        assert engine.products == 0  # X 0 is known


def test_another_loss_at_the_same_point_needs_no_product(setting):
    _, engine, objective = setting
    point = objective.at(np.linspace(-1, 1, 6))
    before = engine.products
    other = point.under(Objective(engine, SquaredHinge(), Ridge(0.3), objective.scale))
    assert engine.products == before
    fresh = other.objective.at(point.w)
    assert (other.value, other.gradient.tobytes()) == (fresh.value, fresh.gradient.tobytes())


def test_gradient_against_differences(setting):
    _, _, objective = setting
    w, rng = np.linspace(-1, 1, 6), np.random.default_rng(0)
    point = objective.at(w)
    for _ in range(20):  # the hinge has kinks: differences bracket the slope
        d = rng.standard_normal(6)
        below, above = ((objective.at(w + t * d).value - point.value) / t for t in (-1e-5, 1e-5))
        assert below - 1e-7 <= point.gradient @ d <= above + 1e-7


def test_line_agrees_with_points_and_needs_no_product(setting):
    _, engine, objective = setting
    w, d = np.linspace(-1, 1, 6), np.linspace(2, -1, 6)
    point = objective.at(w)
    before = engine.products
    line, points = point.along(d), []
    assert engine.products == before + 1
    for t in (0.0, 0.3, 1.0, 2.5):
        value, slope = line.at(t)
        there = line.point(t)
        assert engine.products == before + 1
        exact = Objective(LocalEngine(engine.data), Hinge(), Ridge(0.1), objective.scale).at(w + t * d)
        assert value == pytest.approx(exact.value, rel=1e-12)
        assert slope == pytest.approx(exact.gradient @ d, rel=1e-9)
        found, known = (point.evaluation.scores.values for point in (there, exact))
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-12)
        assert there.value == pytest.approx(value, rel=1e-14)
        points.append((there, exact))
    for there, exact in points:
        np.testing.assert_allclose(there.gradient, exact.gradient, rtol=1e-9)
    assert engine.products == before + 1 + len(points)
    assert line.slope == pytest.approx(point.gradient @ d, rel=1e-12)


def test_scores_are_computed_anew_against_drift(setting):
    _, _, objective = setting
    point = objective.at(np.zeros(6))
    steps = []
    for k in range(250):
        point = point.along(np.full(6, 1e-3 * (-1) ** k)).point(1.0)
        steps.append(point.steps)
    assert max(steps) < 100
    assert steps.count(0) >= 2


def test_scores_are_computed_anew_where_weights_have_faded(setting):
    """They would keep the rounding of the larger ones, whether these were one step ago or several."""
    _, engine, objective = setting
    start = objective.at(np.full(6, 1e9 / 3))
    near = np.linspace(-1, 1, 6)
    for parts in ([1.0], [0.5, 0.5, 1.0], [0.8, 1.0]):
        point = start
        for part in parts:
            point = point.along(part * (near - point.w)).point(1.0)
        fresh = objective.at(point.w)
        assert point.value == fresh.value
        assert point.steps == 0
        before, later = engine.products, point.along(point.w).point(-0.5)
        assert engine.products == before + 1  # X d; to lose half is no reason
        assert later.steps == 1


@pytest.mark.parametrize("kind", ["C64", "F64", "C32", "F32", "csr64", "csr32", "readonly"])
def test_products_agree_for_every_kind_of_matrix(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 211)) * (rng.random((5000, 211)) < 0.5)
    X = X.astype(np.float32 if "32" in kind else np.float64)
    exact = X.astype(np.float64)
    if kind.startswith("F"):
        X = np.asfortranarray(X)
    elif kind.startswith("csr"):
        X = sp.csr_matrix(X)
    elif kind == "readonly":
        X.flags.writeable = False
    y = rng.standard_normal(5000)
    w, g = rng.standard_normal(211), rng.standard_normal(5000)
    bits = []
    for n_jobs in (1, 2, 4):
        with LocalEngine(RankingData(X, y), n_jobs) as engine:
            assert engine.matrix.n_blocks > 1 or kind.startswith("csr")
            np.testing.assert_allclose(dot(engine, w), exact @ w, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(transpose_dot(engine, g), exact.T @ g, rtol=1e-11, atol=1e-11)
            np.testing.assert_allclose(engine.columns().deviation, exact.std(axis=0), rtol=1e-10)
            bits.append((dot(engine, w).tobytes(), transpose_dot(engine, g).tobytes()))
    assert bits[0] == bits[1] == bits[2]


def test_constant_columns_are_not_scaled():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(999, 0.1), np.full(999, 1e9 / 3), 1e9 + rng.random(999), np.zeros(999)])
    for matrix in (X, sp.csr_matrix(X)):
        with LocalEngine(RankingData(matrix, rng.random(999))) as engine:
            columns = engine.columns()
        np.testing.assert_array_equal(columns.deviation[[0, 1, 3]], 0.0)
        scale = choose_scale(True, columns)
        np.testing.assert_array_equal(scale[[0, 1, 3]], 1.0)
        assert scale[2] == pytest.approx(X[:, 2].std(), rel=1e-6)
