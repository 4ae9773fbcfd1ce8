"""Parts of data that keep queries whole: shares, samples, and all of them put together again."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import NoPairsError, RankingData
from linrank.data import parts as _parts
from linrank.data.parts import draw, split_queries, within_limit
from linrank.engines import Facts, LocalEngine, SumEngine
from linrank.losses import LOSSES
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.testing import enumerate_pairs, make_ranking
from strategies import problems


def numbered(n_rows: int, n_queries: int, n_levels: int | None = 4, *, shuffled: bool = True, make=np.asarray):
    """Data whose first feature is the number of its row."""
    X, y, qid = make_ranking(n_rows, 3, n_queries, n_levels)
    if shuffled:
        order = np.random.default_rng(1).permutation(n_rows)
        y, qid = y[order], qid[order]
    X[:, 0] = np.arange(n_rows) + 1.0
    return RankingData(make(X), y, qid)


def rows_of(data: RankingData) -> np.ndarray:
    """Which rows of `numbered` these are."""
    column = data.X[:, [0]]
    return (column.toarray() if sp.issparse(column) else column).ravel().astype(int) - 1


def is_whole(part: RankingData, data: RankingData) -> bool:
    """Whether it has all rows of each of its queries."""
    sizes = dict(zip(data.query_ids.tolist(), np.bincount(data.query).tolist(), strict=True))
    found = dict(zip(part.query_ids.tolist(), np.bincount(part.query).tolist(), strict=True))
    return found.items() <= sizes.items()


# --- shares


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(("n_queries", "n_parts"), [(50, 1), (50, 2), (50, 7), (3, 7), (1, 5), (400, 13)])
def test_shares_are_whole_queries_and_every_row_is_in_one(n_queries, n_parts, shuffled):
    data = numbered(800, n_queries, shuffled=shuffled)
    parts = split_queries(data, n_parts)
    assert 1 <= len(parts) <= n_parts
    assert len(parts) <= data.n_queries
    assert all(part.n_rows > 0 and is_whole(part, data) for part in parts)
    np.testing.assert_array_equal(np.sort(np.concatenate([rows_of(part) for part in parts])), np.arange(800))
    assert sum(part.n_queries for part in parts) == data.n_queries
    longest = np.bincount(data.query).max()
    assert max(part.n_rows for part in parts) <= 800 / n_parts + longest


def test_a_giant_query_leaves_the_others_their_shares():
    X, y, _ = make_ranking(1000, 2, 1, None)
    parts = split_queries(RankingData(X, y, np.maximum(np.arange(1000) - 900, 0)), 4)
    assert parts[0].n_rows == 901
    assert sum(part.n_rows for part in parts) == 1000


def test_one_row_is_one_share():
    data = numbered(20, 4).part(np.array([3]))
    (only,) = split_queries(data, 3)
    assert only.n_rows == 1
    assert only.preferences.n_pairs == 0


@given(problem=problems(max_rows=30), n_parts=st.integers(1, 6))
@settings(max_examples=150)
def test_facts_of_parts_make_those_of_the_whole(problem, n_parts):
    """Pairs that are given twice count once, in parts as well."""
    try:
        data = RankingData(np.zeros((problem.y.size, 3)), problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    whole, joined = Facts.of(data), None
    for part in split_queries(data, n_parts):
        facts = Facts.of(part)
        joined = facts if joined is None else joined.joined(facts)
    assert joined.pairs == whole.pairs == enumerate_pairs(problem.y, problem.qid, **problem.options).c.size
    for name in ("rows", "features", "queries", "queries_without_pairs"):
        assert getattr(joined, name) == getattr(whole, name), name
    assert joined.row_weights == pytest.approx(whole.row_weights)
    assert joined.row_weights.effective == pytest.approx(whole.row_weights.effective)


def test_pairs_that_repeat_graded_ones_count_once():
    y, qid = [0, 1, 2, 0, 1], [0, 0, 0, 1, 1]
    pairs = [(2, 0), (0, 2), (4, 3), (1, 0, 2.0)]  # three of them by grade already
    data = RankingData(np.zeros((5, 1)), y, qid, pairs=[(*pair, 1.0)[:3] for pair in pairs])
    assert data.preferences.n_pairs == 5
    assert [part.preferences.n_pairs for part in split_queries(data, 2)] == [4, 1]
    assert RankingData.joined(split_queries(data, 2)).preferences.n_pairs == 5
    assert data.part(np.array([0, 2, 3])).preferences.n_pairs == 2
    chain = RankingData(np.zeros((5, 1)), y, qid, pairs=[pair[:2] for pair in pairs], preferences="chain")
    assert chain.preferences.n_pairs == 5  # in a chain, 2 over 0 is not by grade
    weightless = RankingData(np.zeros((5, 1)), y, qid, pairs=[(2, 0)], sample_weight=[1, 1, 0, 1, 1])
    assert weightless.preferences.n_pairs == 3


# --- put together


@given(problem=problems(max_rows=30), n_parts=st.integers(1, 5), sparse=st.booleans())
@settings(max_examples=100)
def test_parts_joined_have_the_preferences_of_the_whole(problem, n_parts, sparse):
    X = np.random.default_rng(0).standard_normal((problem.y.size, 3))
    try:
        data = RankingData(sp.csr_array(X) if sparse else X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    joined = RankingData.joined(split_queries(data, n_parts))
    assert (joined.n_rows, joined.n_queries, joined.n_features) == (data.n_rows, data.n_queries, 3)
    assert joined.n_queries_without_pairs == data.n_queries_without_pairs
    assert (joined.preferences.n_pairs, joined.preferences.n_rankings) == (
        data.preferences.n_pairs,
        data.preferences.n_rankings,
    )
    assert joined.preferences.total == pytest.approx(data.preferences.total)
    assert (joined.sample_weight is None) == (data.sample_weight is None)
    w = np.array([0.3, -1.0, 0.5])
    for loss in LOSSES.values():
        a, b = (Objective(LocalEngine(one), loss, Ridge(0.1)).at(w) for one in (data, joined))
        assert b.value == pytest.approx(a.value, rel=1e-12)
        np.testing.assert_allclose(b.gradient, a.gradient, rtol=1e-9, atol=1e-12)


def test_joined_queries_keep_their_names_and_levels_their_numbers():
    data = numbered(300, 20, shuffled=False)
    joined = RankingData.joined(split_queries(data, 3))
    np.testing.assert_array_equal(joined.query_ids, data.query_ids)
    np.testing.assert_array_equal(joined.query, data.query)
    np.testing.assert_array_equal(joined.y, data.y)
    np.testing.assert_array_equal(rows_of(joined), np.arange(300))


def test_weights_of_some_parts_alone():
    a, b = numbered(40, 4), numbered(30, 3)
    weighted = RankingData(b.X, b.y, b.query, sample_weight=np.full(30, 2.0))
    joined = RankingData.joined([a, weighted])
    np.testing.assert_array_equal(joined.sample_weight, np.r_[np.ones(40), np.full(30, 2.0)])
    assert joined.preferences.total == pytest.approx(a.preferences.total + 4 * b.preferences.total)


# --- samples

SIZES = {
    "tiny queries": (6000, 2000),
    "short queries": (6000, 300),
    "long queries": (6000, 30),
    "a few": (6000, 3),
    "one": (6000, 1),
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("share", [0.05, 0.3])
@pytest.mark.parametrize("shuffled", [False, True])
def test_samples_are_about_as_large_as_asked_and_always_the_same(name, share, shuffled):
    data = numbered(*SIZES[name], shuffled=shuffled)
    n_rows = int(share * data.n_rows)
    part = draw(data, n_rows)
    assert abs(part.n_rows - n_rows) < 2 * np.sqrt(n_rows * _parts.WHOLE)  # chance decides on queries, one by one
    assert part.preferences.n_pairs > 0
    assert part.fingerprint() == draw(data, n_rows).fingerprint()
    rows = rows_of(part)
    assert np.unique(rows).size == rows.size
    np.testing.assert_array_equal(part.query_ids[part.query], data.query_ids[data.query[rows]])


def test_short_queries_are_whole_and_long_ones_in_runs():
    sizes = np.r_[np.full(40, _parts.WHOLE), 4000, np.full(40, 5)]
    qid = np.repeat(np.arange(sizes.size), sizes)
    X = np.arange(qid.size)[:, None] + 1.0
    data = RankingData(X, np.arange(qid.size) % 7, qid)
    part = draw(data, 900)
    drawn, there = np.bincount(part.query_ids[part.query], minlength=sizes.size), np.arange(sizes.size) != 40
    assert set((drawn / sizes)[there]) == {0.0, 1.0}
    assert 0.1 < drawn[40] / sizes[40] < 0.3
    rows = rows_of(part)
    giant = rows[qid[rows] == 40]
    lengths = np.diff(np.flatnonzero(np.r_[True, np.diff(giant) != 1, True]))
    assert np.all(lengths % _parts.RUN == 0)


def test_more_queries_rather_than_more_rows_of_each():
    """Of queries longer than that, as many rows as have pairs at all."""
    data = numbered(20_000, 100, shuffled=False)
    part = draw(data, 1000)
    _, counts = np.unique(part.query, return_counts=True)
    assert set(counts) == {_parts.WHOLE}
    assert 20 < counts.size < 45


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("n_parts", [2, 7])
def test_parts_draw_the_rows_that_the_whole_draws(name, n_parts):
    data = numbered(*SIZES[name])
    parts, first, drawn = split_queries(data, n_parts), 0, []
    for part in parts:
        drawn.append(draw(part, 700, first, data.n_rows))
        first += part.n_rows
    expected = draw(data, 700)
    np.testing.assert_array_equal(np.concatenate([rows_of(part) for part in drawn]), rows_of(expected))
    joined = RankingData.joined([part for part in drawn if part.n_rows])
    assert Facts.of(joined) == Facts.of(expected)


def test_a_sample_that_is_no_smaller_is_none():
    data = numbered(300, 20)
    assert draw(data, 100) is not None
    assert draw(data, 101) is None
    small = data.part(np.arange(30))
    assert draw(small, 30, 0, 300) is not None  # what counts is the whole
    assert draw(small, 101, 0, 300) is None
    assert draw(data, 1) is not None


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array], ids=["C", "F", "csr"])
@pytest.mark.parametrize("name", SIZES)
def test_a_sample_has_a_limit_in_bytes(name, make, monkeypatch):
    data = numbered(*SIZES[name], make=make)
    wanted = draw(data, 1500)
    limit = 8000
    monkeypatch.setattr(_parts, "MAX_BYTES", limit)
    part = draw(data, 1500)
    X = part.X
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes
    assert 0 < size <= limit + (X.indptr.itemsize if sp.issparse(X) else 0)
    np.testing.assert_array_equal(rows_of(part), rows_of(wanted)[: part.n_rows])
    if part.n_queries > 1:
        assert is_whole(part, wanted)
    assert size > limit / 3


@pytest.mark.parametrize("limit", [400, 1000, 3000, 8000, 20_000])
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_the_limit_is_the_same_for_parts(name, n_parts, limit, monkeypatch):
    data = numbered(*SIZES[name])
    monkeypatch.setattr(_parts, "MAX_BYTES", limit)
    engines = [LocalEngine(part) for part in split_queries(data, n_parts)]
    expected = rows_of(LocalEngine(data).draw(1500))
    np.testing.assert_array_equal(rows_of(SumEngine(engines).draw(1500)), expected)
    nested = SumEngine([SumEngine(engines[:1]), *([SumEngine(engines[1:])] if engines[1:] else [])])
    np.testing.assert_array_equal(rows_of(nested.draw(1500)), expected)
    row = data.X[0].nbytes
    assert all(engine.draw(1500, 0, data.n_rows).X.nbytes <= limit + row for engine in engines)


def test_within_the_limit_are_whole_queries():
    X, query = np.zeros((10, 1)), np.repeat([0, 1, 2], [3, 3, 4])
    with pytest.MonkeyPatch.context() as patch:
        for n, kept in ((80, 10), (79, 6), (55, 6), (48, 6), (47, 3), (24, 3), (16, 2), (8, 1)):
            patch.setattr(_parts, "MAX_BYTES", n)
            assert within_limit(X, query, np.arange(10)).size == kept, n
            assert within_limit(X, query, np.arange(10), one_more=True).size == min(10, n // 8 + 1), n
