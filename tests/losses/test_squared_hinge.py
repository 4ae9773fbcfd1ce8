"""Squared and Huberised hinge: value, gradient, Hessian products and exact Hessians against sums over all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from hessians import exact_hessian
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import NoPairsError, ParameterError, RankingData
from linrank.data import active
from linrank.kernels import counting
from linrank.losses import Hinge, HuberHinge, SquaredHinge
from linrank.testing import check_loss, enumerate_pairs, loss_at, make_ranking, naive_laplacian, naive_loss
from strategies import problems

pytestmark = pytest.mark.kernels
MU = 0.3

#: loss, phi, phi', phi''
LOSSES = {
    "squared": (
        SquaredHinge(),
        lambda z: np.maximum(0, 1 - z) ** 2,
        lambda z: -2 * np.maximum(0, 1 - z),
        lambda z: 2.0 * (z < 1),
    ),
    "huber": (
        HuberHinge(MU),
        lambda z: np.where(z < 1 - MU, 1 - z - MU / 2, np.maximum(0, 1 - z) ** 2 / (2 * MU)),
        lambda z: -np.clip((1 - z) / MU, 0, 1),
        lambda z: ((z < 1) & ~(z < 1 - MU)) / MU,
    ),
}
#: (short_to_sum, few_levels, few_levels_to_sum): which kernels sum.
KERNELS = {"direct": (10**9, 512, 32), "levels": (0, 10**9, 10**9), "tree": (0, 0, 0)}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", LOSSES)
@given(problem=problems(max_rows=25), seed=st.integers(0, 99))
@settings(max_examples=90)
def test_equal_sums_over_all_pairs(kernel, name, problem, seed):
    loss, phi, slope, second = LOSSES[name]
    X = np.random.default_rng(seed).standard_normal((problem.y.size, 3))
    try:
        data = RankingData(X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    naive = naive_loss(phi, slope, problem.scores, pairs)
    L = naive_laplacian(second, problem.scores, pairs)
    with pytest.MonkeyPatch.context() as patch:
        for constant, value in zip(("short_to_sum", "few_levels", "few_levels_to_sum"), KERNELS[kernel], strict=True):
            patch.setattr(active, "TUNING", replace(active.TUNING, **{constant: value}))
        ours = loss_at(loss, problem.scores, data)
        product = np.column_stack([ours.product(x) for x in X.T])
        H = exact_hessian(loss, problem.scores, data)
    size = 1 + np.abs(problem.scores - problem.scores.mean()).max() ** 2
    assert ours.value == pytest.approx(naive.value, rel=1e-9, abs=1e-11 * size)
    np.testing.assert_allclose(ours.gradient, naive.gradient, rtol=1e-9, atol=1e-10 * size)
    mean_slope, hinge = (naive_loss(f, f, problem.scores, pairs).value for f in (slope, lambda z: np.maximum(0, 1 - z)))
    told, N = ours.sums.hinge, ours.sums.weight
    assert pairs.c.sum() == pytest.approx(N, rel=1e-12)
    assert told.slope / N == pytest.approx(-mean_slope, rel=1e-9, abs=1e-10 * size)
    assert told.hinge / N == pytest.approx(hinge, rel=1e-9, abs=1e-11 * size)
    np.testing.assert_allclose(product, L @ X, atol=1e-10)
    np.testing.assert_allclose(H, X.T @ L @ X, atol=1e-10)


@pytest.mark.parametrize("name", LOSSES)
def test_contract(name):
    loss = LOSSES[name][0]
    if name == "squared":
        check_loss(loss)
    X, y, qid = make_ranking(120, 3, 2, 5)
    point = loss_at(loss, X @ np.ones(3), RankingData(X, y, qid))
    np.testing.assert_allclose(point.product(1.0 + qid), 0.0, atol=1e-14)


def test_huber_is_within_half_its_width_of_the_hinge():
    from linrank.losses import Hinge

    X, y, qid = make_ranking(200, 3, 2, None)
    data, s = RankingData(X, y, qid), X @ np.ones(3)
    hinge = loss_at(Hinge(), s, data).value
    for mu in (1.0, 0.1, 0.001):
        huber = loss_at(HuberHinge(mu), s, data).value
        assert hinge - mu / 2 <= huber <= hinge


@pytest.mark.parametrize("far", [1e6, 1e9, 1e11])
@pytest.mark.parametrize("name", LOSSES)
def test_one_score_far_out_costs_the_others_no_digits(name, far):
    loss, phi, slope, _ = LOSSES[name]
    X, y, _ = make_ranking(200, 3, 1, 5)
    scores = X @ np.ones(3)
    scores[np.argmax(y)] = far  # a winner: its pairs are inactive
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active, "TUNING", replace(active.TUNING, short_to_sum=0))
        value = loss_at(loss, scores, RankingData(X, y)).value
    exact = naive_loss(phi, slope, scores, enumerate_pairs(y)).value
    assert value == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("make", [SquaredHinge, Hinge], ids=lambda make: make.name)
@given(problem=problems(max_rows=25))
@settings(max_examples=60)
def test_all_ways_of_counting_are_the_same_loss(make, problem):
    try:
        data = RankingData(np.zeros((problem.y.size, 1)), problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    known = loss_at(make(), problem.scores, data)
    size = 1 + np.abs(problem.scores - problem.scores.mean()).max() ** 2
    for way in ("pairs", "levels", "tree"):
        found = loss_at(make(counting=way), problem.scores, data)
        assert found.value == pytest.approx(known.value, rel=1e-12, abs=1e-11 * size)
        np.testing.assert_allclose(found.gradient, known.gradient, rtol=1e-9, atol=1e-11 * size)


def test_each_way_of_counting_runs_its_own_kernel(monkeypatch):
    data = RankingData(np.zeros((60, 1)), np.arange(60) % 7)
    called = []
    for name in ("count_direct", "count_levels", "count_tree"):
        kernel = getattr(counting, name)
        monkeypatch.setattr(counting, name, lambda *a, name=name, kernel=kernel: (called.append(name), kernel(*a))[1])
    for way, name in {"pairs": "count_direct", "levels": "count_levels", "tree": "count_tree"}.items():
        loss_at(Hinge(counting=way), np.linspace(0, 1, 60), data)
        assert called == [name]
        called.clear()


@pytest.mark.parametrize("make", [SquaredHinge, Hinge], ids=lambda make: make.name)
def test_other_ways_of_counting_are_refused(make):
    with pytest.raises(ParameterError, match="counting='fast'"):
        make(counting="fast")
