"""Samplers against enumeration: the right pairs, in the right proportions."""

import os
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from linrank import NoPairsError, ParameterError, RankingData
from linrank.data.labelled import LabelledRows
from linrank.kernels import random
from linrank.stochastic.draws import IndexedDraws
from linrank.stochastic.samplers import SAMPLINGS, as_sampler
from linrank.testing import enumerate_pairs
from strategies import problems

pytestmark = pytest.mark.kernels

DRAWS = 3_000 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 200_000


def draw(sampler, n, seed=1, pieces=1):
    """Pairs as an (n, 2) array, drawn in several pieces."""
    counter, out = np.uint64(0), []
    for size in np.diff(np.linspace(0, n, pieces + 1).astype(int)):
        winner, loser = np.empty((2, size), dtype=np.int64)
        counter = sampler.draw(np.uint64(seed), counter, winner, loser)
        out.append(np.column_stack([winner, loser]))
    return np.concatenate(out)


def couples(levels, preferences):
    """(upper, lower, weight) of the levels that are compared within a query."""
    if isinstance(preferences, str):
        pairs = [(a, b) for a in range(levels.size) for b in range(a) if preferences == "full" or a == b + 1]
        return [(levels[a], levels[b], 1.0) for a, b in pairs]
    edges = [(upper, lower, weight[0] if weight else 1.0) for lower, upper, *weight in preferences]
    return [edge for edge in edges if {edge[0], edge[1]} <= set(levels)]


def naive_balanced(y, qid, v, u, preferences="full"):
    """Probability of each pair: a query by its weight, two of its levels alike (edges by theirs), rows by v.

    A query weighs the mean of its edges.
    """
    share = defaultdict(float)
    for q in np.unique(qid):
        rows = np.flatnonzero((qid == q) & (v > 0))
        compared = couples(np.unique(y[rows]), preferences)
        for upper, lower, weight in compared:
            up, down = rows[y[rows] == upper], rows[y[rows] == lower]
            for i in up:
                for j in down:
                    share[i, j] += u[q] * weight / len(compared) * v[i] / v[up].sum() * v[j] / v[down].sum()
    return share


def naive_uniform(*args, **options):
    pairs = enumerate_pairs(*args, **options)
    return {(i, j): c for i, j, c in zip(*pairs, strict=True)}


def check_proportions(drawn, share):
    """Chi-square over the pairs, the rare ones in one class."""
    total = sum(share.values())
    expected = np.array([DRAWS * weight / total for weight in share.values()])
    base = int(drawn.max()) + 1
    times = np.bincount(drawn @ [base, 1])
    place, seen = {pair: k for k, pair in enumerate(share)}, np.zeros(len(share))
    for code in np.flatnonzero(times).tolist():
        seen[place[divmod(code, base)]] = times[code]  # KeyError: not a pair at all
    rare = np.argsort(expected)
    rare = rare[: max(1, np.searchsorted(np.cumsum(expected[rare]), 20), int((expected < 8).sum()))]
    common = np.setdiff1d(np.arange(expected.size), rare)
    expected = np.append(expected[common], expected[rare].sum())
    seen = np.append(seen[common], seen[rare].sum())
    assert expected.size > 1
    assert chisquare(seen, expected).pvalue > 1e-3


RNG = np.random.default_rng(7)
QID = np.repeat([3, 0, 2, 1], [9, 2, 5, 1])[RNG.permutation(17)]  # unequal queries, one of a single row
GRADES = RNG.choice([0, 0, 0, 1, 2], 17)  # unequal levels
REAL = RNG.standard_normal(17).round(2)
WEIGHT = RNG.choice([0.0, 0.2, 1.0, 3.5], 17)
QUERY_WEIGHT = {0: 0.5, 1: 9.0, 2: 2.0, 3: 1.0}
HERE = np.flatnonzero(QID == 3)
EXPLICIT = np.array([[HERE[0], HERE[1], 4.0], [HERE[1], HERE[0], 1.0], [HERE[2], HERE[5], 0.25]])
EDGES = [(0, 1), (0, 2, 0.5), (2, 1, 3.0), (1, 7)]  # a cycle of unequal weights, and a level that does not occur
LEVELS = np.unique(REAL).tolist()
APART = [(a, b, round(b - a, 1)) for a in LEVELS for b in LEVELS if b - a > 0.4]  # nearer ones are not compared
CASES = {
    "grades": (GRADES, {}),
    "real": (REAL, {}),
    "weights": (REAL, {"sample_weight": WEIGHT, "query_weight": QUERY_WEIGHT}),
    "chain": (GRADES, {"preferences": "chain", "query_weight": QUERY_WEIGHT}),
    "weighted chain": (REAL, {"preferences": "chain", "sample_weight": WEIGHT}),
    "edges": (GRADES, {"preferences": [(0, 1), (0, 2, 0.5)]}),
    "cyclic edges, weights": (
        GRADES, {"preferences": EDGES, "sample_weight": WEIGHT, "query_weight": QUERY_WEIGHT}),
    "real edges": (REAL, {"preferences": APART}),
    "real edges, weights": (
        REAL, {"preferences": APART, "sample_weight": WEIGHT, "query_weight": QUERY_WEIGHT}),
    "explicit pairs": (None, {"pairs": EXPLICIT}),
    "pairs and grades": (GRADES, {"pairs": EXPLICIT, "sample_weight": WEIGHT, "query_weight": QUERY_WEIGHT}),
    "pairs and edges": (GRADES, {"pairs": EXPLICIT, "preferences": EDGES, "sample_weight": WEIGHT}),
}  # fmt: skip


@pytest.mark.parametrize("sampling", ["uniform", "rejection"])
@pytest.mark.parametrize("case", CASES)
def test_pairs_come_in_proportion_to_their_weight(case, sampling):
    y, options = CASES[case]
    rows = LabelledRows.of(np.zeros((17, 1)), y, QID, **options)
    share = naive_uniform(y, QID, n_rows=17, **options)
    check_proportions(draw(as_sampler(sampling).over(rows), DRAWS), share)


@pytest.mark.parametrize("case", [case for case in CASES if "pairs" not in case])
def test_balanced_weighs_queries_and_levels_alike(case):
    y, options = CASES[case]
    rows = LabelledRows.of(np.zeros((17, 1)), y, QID, **options)
    u, v = options.get("query_weight", dict.fromkeys(range(4), 1.0)), options.get("sample_weight", np.ones(17))
    share = naive_balanced(y, QID, v, u, options.get("preferences", "full"))
    check_proportions(draw(as_sampler("balanced").over(rows), DRAWS), share)


def test_balanced_shares_a_query_among_explicit_pairs_by_their_weight():
    other = np.flatnonzero(QID == 2)
    pairs = np.vstack([EXPLICIT, [[other[0], other[1], 2.0]]])
    rows = LabelledRows.of(np.zeros((17, 1)), None, QID, pairs=pairs)
    share = {(int(i), int(j)): c / (3.0 if QID[int(i)] == 3 else 1.0) for i, j, c in pairs}
    check_proportions(draw(as_sampler("balanced").over(rows), DRAWS), share)


@given(problems(max_rows=25), st.sampled_from(SAMPLINGS), st.integers(0, 2**64 - 1))
def test_only_preferences_are_drawn_and_pieces_do_not_matter(problem, sampling, seed):
    n = problem.y.size
    rows = LabelledRows.of(np.zeros((n, 1)), problem.y, problem.qid, **problem.options)
    try:
        drawn_from = as_sampler(sampling).over(rows)
    except NoPairsError:
        assume(False)
    allowed = set(naive_uniform(problem.y, problem.qid, **problem.options))
    drawn = draw(drawn_from, 60, seed)
    assert {(int(i), int(j)) for i, j in drawn} <= allowed
    np.testing.assert_array_equal(drawn, draw(drawn_from, 60, seed, pieces=4))


@pytest.mark.parametrize("shape", ["all different", "twos"])
def test_the_index_takes_at_most_40_bytes_a_row(shape):
    n = 5000
    y, qid = np.arange(n), np.zeros(n) if shape == "all different" else np.arange(n) // 2
    p = RankingData(np.zeros((n, 1)), y, qid).preferences
    own = sum(array.nbytes for array in (p.row, p.ranking_ptr, p.level_ptr, p.ranking_levels, p.pairs, p.u))
    assert IndexedDraws(p).nbytes + own <= 40.1 * n  # the preferences themselves included
    weighted = RankingData(np.zeros((n, 1)), y, qid, sample_weight=1.0 + np.arange(n)).preferences
    assert IndexedDraws(weighted).nbytes <= 28 * n


def test_rejection_is_refused_where_it_would_take_forever():
    y = np.zeros(100_000)
    y[7] = 1
    with pytest.raises(ParameterError, match="tries a pair"):
        as_sampler("rejection").over(LabelledRows.of(np.zeros((y.size, 1)), y, None))


def test_bounded_integers_and_units_are_uniform():
    out = np.empty(DRAWS)
    random.fill_units(np.uint64(3), np.uint64(5), out)
    assert chisquare(np.bincount((out * 16).astype(int), minlength=16)).pvalue > 1e-3
    again = np.empty(10)
    random.fill_units(np.uint64(3), np.uint64(9), again)
    np.testing.assert_array_equal(again, out[4:14])  # a stream goes on anywhere


def test_short_products_are_drawn_anew():
    """Of 2^32 values 2^32 mod 3 = 1 is left over: bits 0 fall on it and must not count as 0 without more ado."""
    n, zero = 3, np.uint64(0)
    anew = random.scramble(zero + random.GOLDEN)
    assert random.below(zero, n) == random.below(anew, n)
    values = [random.below(np.uint64(top) << np.uint64(32), 2**31) for top in (1, 2, 3, 2**32 - 1)]
    assert values == [0, 1, 1, 2**31 - 1]
