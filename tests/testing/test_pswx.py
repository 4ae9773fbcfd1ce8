"""P-SWX to the letter: parameters of rows, f and its derivatives, TRON and the sort against twins and fast routines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import LinearRanker, NoPairsError, RankingData
from linrank.losses import SquaredHinge
from linrank.solvers import Newton, Tron
from linrank.testing import enumerate_pairs, loss_at, make_ranking, naive_counts, naive_laplacian
from linrank.testing.gpu_quicksort import bitonic, gpu_quicksort
from linrank.testing.pswx import RankSVM, conjugate_gradients, dcm, ost, p_swx, tron
from strategies import problems

COUNTINGS = [p_swx, dcm, ost]


@given(problem=problems(options=False), seed=st.integers(0, 99))
@settings(max_examples=150)
def test_parameters_are_sums_over_the_sets_of_equation_9(problem, seed):
    s, y, xv = problem.scores, problem.y, np.random.default_rng(seed).standard_normal(problem.y.size)
    active = s[:, None] - s < 1  # 1 - w.(x_i - x_j) > 0, rounded once
    above, below = (y > y[:, None]) & active.T, (y < y[:, None]) & active
    sums = [m @ x for x in (np.ones(y.size), xv, s) for m in (above, below)]
    size = y.size * (1 + np.abs(s).max())
    for counting in COUNTINGS:
        found = counting(s, y, xv)
        for one, other in zip(found, sums, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13 * size, err_msg=counting.__name__)
        c, d = naive_counts(s, enumerate_pairs(y))
        np.testing.assert_array_equal(found.beta_plus, c)
        np.testing.assert_array_equal(found.beta_minus, d)
        assert found.beta_plus.sum() == found.beta_minus.sum()  # p_w


@given(problem=problems(max_rows=25, options=False), seed=st.integers(0, 99), C=st.sampled_from([1.0, 0.01]))
@settings(max_examples=80)
def test_objective_gradient_and_product_are_those_of_the_fast_loss(problem, seed, C):
    X = np.column_stack([problem.scores, np.random.default_rng(seed).standard_normal((problem.y.size, 2))])
    w, v = np.array([1.0, 0.0, 0.0]), np.random.default_rng(seed).standard_normal(3)
    try:
        data = RankingData(X, problem.y, problem.qid)
    except NoPairsError:
        return
    fast = loss_at(SquaredHinge(), problem.scores, data)
    pairs = enumerate_pairs(problem.y, problem.qid)
    N = pairs.c.sum()
    L = N * naive_laplacian(lambda z: 2.0 * (z < 1), problem.scores, pairs)
    size = 1e-12 * C * N * (1 + np.abs(X).max()) ** 2
    for counting in COUNTINGS:
        slow = RankSVM(X, problem.y, problem.qid, C, counting)
        value, gradient = slow.value_and_gradient(w)
        assert value == pytest.approx(0.5 + C * N * fast.value, rel=1e-9, abs=10 * size)
        np.testing.assert_allclose(gradient, w + C * N * (fast.gradient @ X), rtol=1e-9, atol=10 * size)
        expected = v + C * X.T @ (L @ (X @ v))
        np.testing.assert_allclose(slow.product(w, v), expected, rtol=1e-9, atol=10 * size)
        np.testing.assert_allclose(v + C * N * X.T @ fast.product(X @ v), expected, rtol=1e-9, atol=10 * size)


def test_the_rows_of_other_queries_change_nothing():
    """Theorem 1."""
    X, y, qid = make_ranking(120, 3, 4, 3)
    s, xv = X @ np.ones(3), X @ np.arange(3.0)
    whole = RankSVM(X, y, qid).parameters(s, xv)
    here = qid == 2
    for one, other in zip(whole, p_swx(s[here], y[here], xv[here]), strict=True):
        np.testing.assert_array_equal(one[here], other)


CASES = [(400, 6, 1, None), (400, 6, 20, 4), (30, 60, 2, None)]


@pytest.mark.parametrize("case", CASES)
def test_tron_ends_by_equation_3_at_the_fast_optimum(case):
    X, y, qid = make_ranking(*case)
    N = enumerate_pairs(y, qid).c.sum()
    slow = tron(RankSVM(X, y, qid, counting=ost))
    sizes = [it.gradient_norm for it in slow.iterations]
    assert slow.converged
    assert sizes[-1] <= 1e-5 * sizes[0] < min(sizes[:-1])
    values = [it.value for it in slow.iterations]
    assert np.all(np.diff(values) <= 0)
    options = dict(alpha=1 / N, scale=False)
    optimum = LinearRanker(solver=Newton(tol=1e-12), **options).fit(X, y, qid)
    room = sizes[-1] ** 2 / 2 + 1e-9 * slow.value  # f - w.w / 2 is convex
    assert -1e-9 * slow.value <= slow.value - N * optimum.objective_ <= room
    fast = LinearRanker(solver=Tron(gradient_tol=1e-5), **options).fit(X, y, qid)
    assert abs(len(slow.iterations) - fast.n_iter_) <= 2  # the first radius is another there


@pytest.mark.parametrize("counting", COUNTINGS)
def test_tron_takes_the_same_steps_however_it_counts(counting):
    X, y, qid = make_ranking(100, 4, 5, 3)
    one, other = tron(RankSVM(X, y, qid)), tron(RankSVM(X, y, qid, counting=counting))
    np.testing.assert_allclose([it.w for it in one.iterations], [it.w for it in other.iterations], atol=1e-9)


def test_inner_iterations_stop_at_the_boundary_or_at_a_tenth_of_the_gradient():
    X, y, qid = make_ranking(100, 6, 5, 3)
    problem, w = RankSVM(X, y, qid), np.zeros(6)
    g = problem.value_and_gradient(w)[1]
    whole, residual = conjugate_gradients(problem, w, g, np.inf)
    assert np.linalg.norm(residual) <= 0.1 * np.linalg.norm(g)
    np.testing.assert_allclose(residual, -g - problem.product(w, whole), atol=1e-8 * np.linalg.norm(g))
    for part in (0.9, 0.1):
        radius = part * np.linalg.norm(whole)
        step, residual = conjugate_gradients(problem, w, g, radius)
        assert np.linalg.norm(step) == pytest.approx(radius)
        np.testing.assert_allclose(residual, -g - problem.product(w, step), atol=1e-8 * np.linalg.norm(g))


def test_tron_ends_at_its_limit():
    X, y, qid = make_ranking(100, 4, 5, 3)
    stopped = tron(RankSVM(X, y, qid), eps_s=1e-30, max_iter=2)
    assert not stopped.converged
    assert len(stopped.iterations) == 3


@given(seed=st.integers(0, 9999), minsize=st.integers(1, 64), threads=st.integers(1, 40), tied=st.booleans())
@settings(max_examples=60)
def test_the_sort_sorts_each_query_and_keeps_its_rows(seed, minsize, threads, tied):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 80, 4)
    scores = rng.integers(0, 5, sizes.sum()) / 4 if tied else rng.standard_normal(sizes.sum())
    pi = gpu_quicksort(scores, sizes, minsize=minsize, threads=threads, seed=seed)
    for rows in np.split(np.arange(scores.size), np.cumsum(sizes)[:-1]):
        np.testing.assert_array_equal(np.sort(pi[rows]), rows)
        np.testing.assert_array_equal(scores[pi[rows]], np.sort(scores[rows]))
        np.testing.assert_array_equal(scores[bitonic(scores, rows)], np.sort(scores[rows]))
