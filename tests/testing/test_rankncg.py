"""RankNCG to the letter: the series and its bound, sums, gradients and the method against twins and fast routines."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfc, erfcx

from linrank import LinearRanker, NoPairsError, RankingData, metrics, summation
from linrank.losses import LogisticErfc
from linrank.solvers import Newton
from linrank.testing import enumerate_pairs, loss_at, make_ranking, naive_loss, naive_phi
from linrank.testing.rankncg import (
    direct_sums,
    erfc_sums,
    gradient,
    likelihood,
    parameters,
    preference_graph,
    rankncg,
    series,
    series_bound,
)
from strategies import problems

POINTS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "wide": lambda rng, n: 30 * rng.standard_normal(n),
    "clustered": lambda rng, n: rng.choice([-7.0, 0.0, 0.3, 20.0], n) + 1e-6 * rng.standard_normal(n),
    "coincident": lambda rng, n: np.full(n, 2.5),
    "offset": lambda rng, n: 1e6 + rng.standard_normal(n),
    "on the borders": lambda rng, n: 2 * parameters(1e-3).r_x * rng.integers(-30, 30, n) + parameters(1e-3).r_y,
}


@pytest.mark.parametrize(("eps", "p", "ours"), [(1e-3, 7, 8), (1e-6, 15, 16), (1e-9, 22, 24), (1e-12, 29, 32)])
def test_parameters_of_section_5_8(eps, p, ours):
    found = parameters(eps)
    assert (found.p, found.clusters) == (p, 12)
    assert summation.parameters(eps).p == ours
    # Within r the series errs by at most eps, by the paper's bound; beyond r - 2 r_x erfc is 0 or 2 to eps.
    assert series_bound(np.array([found.r]), found.p, found.h) <= eps
    assert erfc(found.r_y - found.r_x) == pytest.approx(eps)
    assert found.r_y + found.r_x == pytest.approx(found.r)


@given(p=st.integers(1, 40), h=st.floats(0.02, 2 / 3), z=st.lists(st.floats(-30, 30), min_size=1, max_size=20))
@settings(max_examples=150)
def test_bound_22_holds(p, h, z):
    z = np.array(z)
    assert np.all(np.abs(series(z, p, h) - erfc(z)) <= series_bound(z, p, h) + 1e-14)


@given(p=st.integers(1, 60), h=st.floats(0.02, 2 / 3))
@settings(max_examples=100)
def test_the_truncated_terms_are_below_their_part_of_bound_22(p, h):
    """Times e^((2p+1)^2 h^2), or both would vanish."""
    n, first = np.arange(2 * p + 1, 2 * p + 1001, 2), (2 * p + 1) * h
    terms = 4 / np.pi * np.sum(np.exp(first**2 - (n * h) ** 2) / n)
    assert terms <= 2 / (np.sqrt(np.pi) * h) * erfcx(first)


def test_bound_22_is_of_the_order_of_the_error():
    """Figure 4: p = 12 keeps the error below 1e-6 for |z| <= 4. The bound drops a factor 1/n, up to 1/25 here."""
    z = np.linspace(-4, 4, 801)
    h = np.pi / (3 * (4 + 3.5))
    assert np.abs(series(z, 12, h) - erfc(z)).max() < 1e-6
    assert series_bound(z, 12, h).max() < 25e-6


@pytest.mark.parametrize("eps", [1e-3, 1e-6, 1e-9])
@given(sources=st.sampled_from(sorted(POINTS)), targets=st.sampled_from(sorted(POINTS)), seed=st.integers(0, 999))
@settings(max_examples=40)
def test_sums_are_within_eps_of_the_weights(eps, sources, targets, seed):
    """Equation (19)."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 60, 2)
    z, y, q = POINTS[sources](rng, n), POINTS[targets](rng, m), rng.standard_normal(n)
    room = eps * np.abs(q).sum()
    found = erfc_sums(y, z, q, eps)
    assert np.abs(found - direct_sums(y, z, q)).max() <= room
    assert np.abs(found - summation.erfc_sums(y, z, q, eps)).max() <= 2 * room


def test_no_targets_and_no_sources():
    none = np.empty(0)
    assert erfc_sums(none, np.ones(1), np.ones(1)).size == direct_sums(none, np.ones(1), np.ones(1)).size == 0
    np.testing.assert_array_equal(erfc_sums(np.zeros(2), none, none), [0.0, 0.0])


@given(problem=problems(max_rows=25, options=False), chain=st.booleans(), eps=st.sampled_from([None, 1e-9, 1e-3]))
@settings(max_examples=80)
def test_gradients_are_those_of_the_fast_loss_and_of_the_naive_one(problem, chain, eps):
    X, w = problem.scores[:, None], np.ones(1)
    options = {"preferences": "chain" if chain else "full"}
    try:
        data = RankingData(X, problem.y, problem.qid, **options)
    except NoPairsError:
        return
    pairs = enumerate_pairs(problem.y, problem.qid, **options)
    graph = preference_graph(problem.y, problem.qid, chain)
    assert sum(graph.classes[i].size * graph.classes[j].size for i, j in graph.edges) == pairs.winner.size
    found = gradient(X, graph, w, 0.5, eps)
    phi = naive_phi(LogisticErfc())
    N = pairs.c.sum()
    weights = N * naive_loss(phi.value, phi.slope, problem.scores, pairs).gradient  # of -L
    room = ((eps or 0.0) + 1e-12) * N * np.abs(X).sum()
    np.testing.assert_allclose(found, -0.5 * w - weights @ X, atol=room + 1e-12)
    fast = loss_at(LogisticErfc(1e-12), problem.scores, data)
    np.testing.assert_allclose(found, -0.5 * w - N * (fast.gradient @ X), atol=room + 1e-9 * N * np.abs(X).max())


def test_the_gradient_is_that_of_the_likelihood_but_for_the_erfc():
    """Equation (11): |sigma(z) - 1 + erfc(A z)/2| < 0.023; with sqrt(2 pi) for pi sqrt(2) it would be 0.11."""
    X, y, qid = make_ranking(60, 3, 2, 4)
    graph, w = preference_graph(y, qid), np.array([0.3, -0.2, 0.5])
    steps = 1e-5 * np.eye(3)
    slopes = [(likelihood(X, graph, w + e, 2.0) - likelihood(X, graph, w - e, 2.0)) / 2e-5 for e in steps]
    pairs = enumerate_pairs(y, qid)
    room = 0.023 * np.abs(X[pairs.winner] - X[pairs.loser]).sum(axis=0)
    assert np.all(np.abs(gradient(X, graph, w, 2.0, None) - slopes) <= room)


@pytest.mark.parametrize("case", [(200, 4, 1, 3), (200, 4, 8, 4)])
def test_the_method_ends_by_its_tolerance_near_the_fast_optimum(case):
    X, y, qid = make_ranking(*case)
    graph, N = preference_graph(y, qid), enumerate_pairs(y, qid).c.sum()
    lambda_ = 1e-3 * N
    optimum = LinearRanker(LogisticErfc(), alpha=1e-3, solver=Newton(tol=1e-10), scale=False).fit(X, y, qid)
    for eps in (None, 1e-6, 1e-3):
        found = rankncg(X, graph, lambda_, eps=eps, seed=1)
        sizes = [np.linalg.norm(gradient(X, graph, w, lambda_, eps)) for w in found.iterates]
        assert found.converged
        assert sizes[-1] <= 1e-3 * sizes[0] < min(sizes[:-1])
        assert found.gradients >= len(found.iterates)
        np.testing.assert_allclose(metrics.wmw(y, X @ found.w, qid), metrics.wmw(y, X @ optimum.coef_, qid), atol=0.005)
    closer = rankncg(X, graph, lambda_, eps=1e-9, tol=1e-6, start=np.zeros(4))
    np.testing.assert_allclose(closer.w, optimum.coef_, atol=1e-4)


def test_the_start_is_drawn_and_the_limit_kept():
    X, y, _ = make_ranking(60, 3, 1, 3)
    graph = preference_graph(y)
    one, same, other = (rankncg(X, graph, 1.0, seed=seed, max_iter=2).iterates for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one[0], other[0])
    assert len(one) == 3
    assert not rankncg(X, graph, 1.0, tol=1e-9, max_iter=1).converged
