"""TreeRSVM to the letter: the tree's invariants, frequencies, risk and Algorithm 1 against twins and fast routines."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import LinearRanker, NoPairsError, RankingData
from linrank.losses import Hinge
from linrank.solvers import Bundle
from linrank.testing import enumerate_pairs, loss_at, make_ranking, naive_counts
from linrank.testing.order_statistics_tree import OrderStatisticsTree, check_tree
from linrank.testing.treersvm import (
    algorithm_3,
    bmrm,
    empirical_risk,
    lemmas,
    level_frequencies,
    number_of_pairs,
    pair_frequencies,
    simplex_programme,
    tree_frequencies,
    weighted_pair_frequencies,
)
from strategies import problems

WAYS = {
    "tree": tree_frequencies,
    "tree, a node for each": partial(tree_frequencies, one_node=False),
    "levels": level_frequencies,
    "pairs": pair_frequencies,
}
#: In order, against it, few or many values: each makes other rotations.
KEYS = st.one_of(
    st.lists(st.floats(-1e300, 1e300), max_size=60),
    st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0, 1e300]), max_size=60),
    st.integers(0, 60).map(lambda n: list(map(float, range(n)))),
    st.integers(0, 60).map(lambda n: list(map(float, range(n, 0, -1)))),
)


@given(keys=KEYS, one_node=st.booleans(), k=st.floats(allow_nan=False))
@settings(max_examples=150)
def test_the_tree_keeps_its_invariants_after_every_insertion(keys, one_node, k):
    tree = OrderStatisticsTree(one_node)
    check_tree(tree)
    for n, key in enumerate(keys, 1):
        tree.insert(key, 1j)
        check_tree(tree)
        assert tree.root.size == n
        assert tree.root.total == n * 1j
    for asked in [k, *keys]:
        below, above = sum(key < asked for key in keys), sum(key > asked for key in keys)
        assert tree.smaller(asked) == (below, below * 1j)
        assert tree.larger(asked) == (above, above * 1j)
        assert (tree.count_smaller(asked), tree.count_larger(asked)) == (below, above)


def test_equal_keys_share_a_node_or_have_their_own():
    shared, own = OrderStatisticsTree(), OrderStatisticsTree(one_node=False)
    for tree in (shared, own):
        for key in [2.0] * 5 + [1.0, 3.0]:
            tree.insert(key)
    assert (shared.root.nodesize, shared.root.size) == (5, 7)
    assert (own.root.nodesize, own.root.size) == (1, 7)


def spoilt(change):
    tree = OrderStatisticsTree()
    for key in range(20):
        tree.insert(float(key))
    change(tree)
    return tree


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda t: setattr(t.root, "red", True), "root is red"),
        (lambda t: setattr(t.root.left, "red", not t.root.left.red), "black nodes|are red"),
        (lambda t: setattr(t.root.left, "size", 1), "has size"),
        (lambda t: setattr(t.root.right, "key", -1.0), "not between"),
        (lambda t: setattr(t.root.left, "parent", t.nil), "another parent"),
        (lambda t: setattr(t.root, "left", t.nil), "has size|black nodes"),
    ],
)
def test_a_tree_that_is_none_is_found_out(change, told):
    with pytest.raises(AssertionError, match=told):
        check_tree(spoilt(change))


@given(problem=problems(options=False))
@settings(max_examples=150)
def test_frequencies_are_those_counted_pair_by_pair(problem):
    c, d = naive_counts(problem.scores, enumerate_pairs(problem.y))
    for name, frequencies in WAYS.items():
        found = frequencies(problem.scores, problem.y)
        np.testing.assert_array_equal(found[0], c, err_msg=name)
        np.testing.assert_array_equal(found[1], d, err_msg=name)
    assert number_of_pairs(problem.y) == enumerate_pairs(problem.y).winner.size


def test_the_journals_two_comparisons_disagree_where_the_preprints_do_not():
    """The loser sees 1/3 > 4/3 - 1 = 1/3 - 1e-16; the winner does not see 4/3 < 1/3 + 1 = 4/3."""
    p, y = np.array([1 / 3, 4 / 3]), np.array([0.0, 1.0])
    c, d = tree_frequencies(p, y, journal=True)
    assert (c.sum(), d.sum()) == (1.0, 0.0)
    c, d = tree_frequencies(p, y)
    assert c.sum() == d.sum()
    np.testing.assert_array_equal(loss_at(Hinge(), p, RankingData(p[:, None], y)).gradient, c - d)


@given(problem=problems(options=False))
@settings(max_examples=100)
def test_the_risk_of_queries_is_the_average_of_theirs(problem):
    X = problem.scores[:, None]
    try:
        data = RankingData(X, problem.y, problem.qid, query_weighting="queries")
    except NoPairsError:
        return
    fast = loss_at(Hinge(), problem.scores, data)
    size = 1 + np.abs(problem.scores).max()
    for frequencies in (tree_frequencies, level_frequencies):
        risk = empirical_risk(X, problem.y, problem.qid, frequencies)(np.ones(1))
        assert risk.loss == pytest.approx(fast.value, rel=1e-9, abs=1e-12 * size)
        np.testing.assert_allclose(risk.a, fast.gradient @ X, rtol=1e-9, atol=1e-12 * size)


@given(problem=problems())
@settings(max_examples=60)
def test_weighted_pairs_give_the_fast_loss_of_any_preferences(problem):
    X = problem.scores[:, None]
    try:
        data = RankingData(X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    c, d = weighted_pair_frequencies(problem.scores, np.column_stack(pairs))
    risk, fast = lemmas(X, problem.scores, c, d, pairs.c.sum()), loss_at(Hinge(), problem.scores, data)
    size = 1 + np.abs(problem.scores).max()
    assert risk.loss == pytest.approx(fast.value, rel=1e-9, abs=1e-11 * size)
    np.testing.assert_allclose((c - d) / pairs.c.sum(), fast.gradient, rtol=1e-9, atol=1e-12)


def test_pairs_without_weights_count_once_each():
    p = np.array([0.0, 0.5, 3.0])
    c, d = weighted_pair_frequencies(p, [[0, 1], [0, 1], [2, 0]])
    np.testing.assert_array_equal(c, [0.0, 2.0, 0.0])
    np.testing.assert_array_equal(d, [2.0, 0.0, 0.0])


def test_twenty_thousand_rows_give_the_fast_loss():
    X, y, _ = make_ranking(20_000, 3)
    w = np.ones(3)
    risk, fast = algorithm_3(X, y, w, number_of_pairs(y)), loss_at(Hinge(), X @ w, RankingData(X, y))
    assert risk.loss == pytest.approx(fast.value, rel=1e-12)
    np.testing.assert_allclose(risk.a, fast.gradient @ X, rtol=1e-10, atol=1e-12)


@given(t=st.integers(1, 12), rank=st.integers(1, 12), seed=st.integers(0, 999), size=st.sampled_from([1e-3, 1.0, 1e4]))
@settings(max_examples=100)
def test_the_quadratic_programme_meets_the_conditions_of_optimality(t, rank, seed, size):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((t, rank)), rng.standard_normal(t)
    G = size * A @ A.T  # singular where rank < t
    x = simplex_programme(G, b)
    slope = G @ x - b
    room = 1e-12 * (1 + np.abs(slope).max() + np.abs(G).max())
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1.0)
    assert x @ (slope - slope.min()) <= room  # x lies where the slope is least


@pytest.mark.parametrize("case", [(400, 6, 1, None), (400, 6, 20, 4), (30, 60, 2, None)])
@pytest.mark.parametrize("lambda_", [0.1, 1e-3])
def test_algorithm_1_and_the_bundle_method_without_line_search_are_the_same(case, lambda_):
    X, y, qid = make_ranking(*case)
    slow = bmrm(empirical_risk(X, y, qid, pair_frequencies), np.zeros(X.shape[1]), lambda_)
    solver = Bundle(tol=1e-3, line_search=False, max_planes=1001)
    options = dict(alpha=2 * lambda_, solver=solver, scale=False, query_weighting="queries")
    fast = LinearRanker("hinge", **options).fit(X, y, qid)
    assert slow.converged
    assert abs(len(slow.iterations) - fast.n_iter_) <= 1
    assert slow.objective == pytest.approx(fast.objective_, abs=1e-3)
    gaps = [it.best - it.model for it in slow.iterations]
    assert gaps[-1] < 1e-3 <= min(gaps[:-1])  # the paper's rule, at the first iteration that meets it
    models, bests = ([getattr(it, name) for it in slow.iterations] for name in ("model", "best"))
    assert np.all(np.diff(models) >= -1e-12)
    assert np.all(np.diff(bests) <= 0)
    # The best values so far are those of the fast method, which evaluates w_t an iteration later.
    together = min(10, len(bests), fast.n_iter_ - 1)
    np.testing.assert_allclose(
        bests[:together], [objective for _, objective, _, _ in fast.history_[1 : together + 1]], rtol=1e-9
    )


def test_algorithm_1_ends_at_its_limit_with_the_best_point():
    X, y, _ = make_ranking(100, 4)
    risk = empirical_risk(X, y)
    stopped = bmrm(risk, np.zeros(4), 1e-3, eps=0.0, max_iter=5)
    assert not stopped.converged
    assert len(stopped.iterations) == 5
    assert risk(stopped.w).loss + 1e-3 * stopped.w @ stopped.w == pytest.approx(stopped.objective)
    assert stopped.objective == min(1.0, *(it.best for it in stopped.iterations))
