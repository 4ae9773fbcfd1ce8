"""A loss by itself is what an engine says of it, and what pairs say one by one."""

import numpy as np
import pytest

import contest
from evaluate import Evaluator, dot, evaluate_all, transpose_dot
from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.losses import LOSSES
from problems import Problem, graded


@pytest.fixture(scope="module")
def shuffled():
    """More than one block, in any order, some rows without a partner."""
    X, y, qid = graded.make(50_000, 4, 2_000, 3)
    order = np.random.default_rng(0).permutation(y.size)
    qid[:3] = 10_000 + np.arange(3)
    return RankingData(X[order], y[order], qid[order])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_an_evaluation_is_that_of_an_engine(shuffled, loss):
    w, d = np.random.default_rng(1).standard_normal((2, 4))
    evaluator = Evaluator(shuffled)
    assert len(evaluator.blocks) > 1
    here = evaluator.at(LOSSES[loss], shuffled.X @ w)
    with LocalEngine(shuffled) as engine:
        there = engine.evaluate(LOSSES[loss], engine.scores(w))
        assert here.value == pytest.approx(there.sums.value / there.sums.weight, rel=1e-12)
        np.testing.assert_allclose(shuffled.X.T @ here.gradient, there.gradient() / there.sums.weight, rtol=1e-9)
        if LOSSES[loss].smooth:
            product = shuffled.X.T @ evaluator.product(here, shuffled.X @ d)
            np.testing.assert_allclose(product, there.hessian_product(d) / there.sums.weight, rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_an_evaluation_is_that_of_pairs(loss):
    X, y, qid = graded.make(200, 4, 7, 3)
    w = np.ones(4)
    slow = contest.slow_objective(Problem(X, y, qid), loss, 0.0, w)
    assert evaluate_all(LOSSES[loss], X @ w, RankingData(X, y, qid)).value == pytest.approx(slow, rel=1e-12)


def test_products_are_by_rows(shuffled):
    w, g = np.ones(4), np.random.default_rng(0).standard_normal(shuffled.n_rows)
    with LocalEngine(shuffled, 2) as engine:
        np.testing.assert_allclose(dot(engine, w), shuffled.X @ w, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(transpose_dot(engine, g), shuffled.X.T @ g, rtol=1e-10)
        np.testing.assert_allclose(dot(engine, w, engine.fast.matrix), shuffled.X @ w, rtol=1e-12, atol=1e-12)
