"""Active pairs and their differences against their definitions; exact Hessians from them, and from a sweep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank import NoPairsError, RankingData
from linrank._work import Work
from linrank.engines import LocalEngine
from linrank.engines import hessian as ways
from linrank.kernels import differences
from linrank.losses import HuberHinge, Logistic, LogisticErfc, SquaredHinge
from strategies import problems

pytestmark = pytest.mark.kernels

LOSSES = [SquaredHinge(), HuberHinge(0.3)]


def naive_pairs(s, p, steps):
    """Members i and j of each active pair, and h, one after the other."""
    found = []
    for r in range(p.n_rankings):
        members, level = p.members(r), p.level_numbers()
        for i in range(members.start, members.stop):
            for j in range(members.start, members.stop):
                second = sum(2 * a for a, m in zip(*steps, strict=True) if s[i] - s[j] < m)
                if level[i] > level[j] and second > 0:
                    found.append((i, j, p.u[r] * p.member_weights[i] * p.member_weights[j] * second))
    return found


@pytest.mark.parametrize("loss", LOSSES, ids=["squared", "huber"])
@given(problem=problems(max_rows=15))
def test_active_pairs_are_those_of_the_definition(loss, problem):
    try:
        p = RankingData(np.zeros((problem.y.size, 1)), problem.y, problem.qid, **problem.options).preferences
    except NoPairsError:
        return
    s = problem.scores[p.row]
    expected = sorted(naive_pairs(s, p, loss.steps))
    for room in {len(expected) + 1, len(expected), max(0, len(expected) - 1)}:
        winner, loser, h = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room)
        given = s, p.member_weights, p.u, p.level_ptr, p.ranking_levels, loss.steps
        found = differences.list_active_pairs(*given, winner, loser, h)
        if room < len(expected):
            assert found == -1
            continue
        listed = sorted(zip(winner[:found].tolist(), loser[:found].tolist(), h[:found].tolist(), strict=True))
        assert [pair[:2] for pair in listed] == [pair[:2] for pair in expected]
        np.testing.assert_allclose([pair[2] for pair in listed], [pair[2] for pair in expected], rtol=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.sampled_from(["f4", "f8"]), st.sampled_from("CF"))
def test_differences_are_weighted_rows(seed, d, dtype, order):
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.normal(size=(6, d)).astype(dtype), order=order)
    scale, h, row = rng.uniform(0.1, 10, d), rng.uniform(0, 3, 7), rng.permutation(6).astype(np.int32)
    winner, loser = rng.integers(0, 6, (2, 7)).astype(np.int32)
    D = np.full((4, d), np.nan)
    differences.differences(X, 1 / np.sqrt(scale), row, winner, loser, h, 2, 5, D)
    exact = X.astype(np.float64) / scale
    expected = np.sqrt(h)[:, None] * (exact[row[winner]] - exact[row[loser]])
    np.testing.assert_allclose(D[:3], expected[2:5], rtol=1e-12, atol=1e-14)
    assert np.all(np.isnan(D[3]))


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_features_and_scale_near_the_ends_of_the_range(size):
    X = size * np.array([[1.0, -2.0], [-1.0, 3.0]])
    D, ends, h = np.empty((1, 2)), (np.array([0], np.int32), np.array([1], np.int32)), np.ones(1)
    differences.differences(X, 1 / np.sqrt([size, size]), np.arange(2, dtype=np.int32), *ends, h, 0, 1, D)
    np.testing.assert_allclose(D, [[2.0, -5.0]], rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=["squared", "huber"])
@given(problem=problems(max_rows=25), seed=st.integers(0, 99), dtype=st.sampled_from(["f4", "f8"]))
def test_pairs_and_a_sweep_make_the_same_hessian(loss, problem, seed, dtype):
    X = np.random.default_rng(seed).standard_normal((problem.y.size, 3)).astype(dtype)
    try:
        p = RankingData(X, problem.y, problem.qid, **problem.options).preferences
    except NoPairsError:
        return
    s, scale, work = problem.scores[p.row], np.array([1.0, 2.0, 0.5]), Work()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "TUNING", ways.Tuning(looked_at=1e9, active=1e3))
        pairs = ways.active_pairs(s, 3, p, loss.steps, work)
        patch.setattr(ways, "TUNING", ways.Tuning(looked_at=0.0))
        assert ways.active_pairs(s, 3, p, loss.steps, work) is None
    by_pairs = ways.by_pairs(X, scale, p, pairs, work)
    by_sweep = ways.by_sweep(X, scale, s, p, loss.steps, work)
    size = float(p.weight) * 1e-12 * 100
    np.testing.assert_allclose(by_pairs + by_pairs.T, by_sweep + by_sweep.T, rtol=1e-11, atol=size)


@pytest.mark.parametrize("loss", [*LOSSES, Logistic(), LogisticErfc()], ids=lambda loss: loss.name)
def test_explicit_pairs_make_the_hessian_of_any_loss(loss, monkeypatch):
    monkeypatch.setattr(ways, "FEWEST_ROWS", 4)
    monkeypatch.setattr(ways, "HESSIAN_ENTRIES", 1)
    rng = np.random.default_rng(0)
    X, ends = rng.standard_normal((30, 4)), rng.integers(0, 30, (40, 2))
    pairs = np.column_stack([ends, rng.uniform(0.5, 2, 40)])[ends[:, 0] != ends[:, 1]]
    with LocalEngine(RankingData(X, pairs=pairs)) as engine:
        at = engine.evaluate(loss, engine.scores(rng.standard_normal(4)))
        H = at.hessian(None)
        expected = np.column_stack([at.hessian_product(unit) for unit in np.eye(4)])
    np.testing.assert_allclose(H, expected, rtol=1e-12, atol=1e-12)
