"""RankingData: what it accepts, what it refuses and how it says so, and the preferences it makes."""

import logging
import pickle
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import DataError, LinrankError, NoPairsError, ParameterError, RankingData
from linrank.data import preferences as _rankings
from linrank.data.preferences import restrict
from linrank.engines import LocalEngine
from linrank.losses import LOSSES
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton
from linrank.testing import enumerate_pairs, make_ranking
from strategies import problems

X5 = np.arange(10.0).reshape(5, 2)
Y5 = np.array([3.0, 1.0, 2.0, 1.0, 0.0])
Q5 = np.array([0, 0, 0, 1, 1])


@given(problem=problems(max_rows=25))
@settings(max_examples=360)
def test_preferences_equal_their_definition(problem):
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    if pairs.c.size == 0:
        with pytest.raises(NoPairsError):
            RankingData(np.zeros((problem.y.size, 1)), problem.y, problem.qid, **problem.options)
        return
    data = RankingData(np.zeros((problem.y.size, 1)), problem.y, problem.qid, **problem.options)
    assert data.preferences.n_pairs == pairs.c.size
    assert data.preferences.total == pytest.approx(pairs.c.sum(), rel=1e-12)
    assert _spelled_out(data) == pytest.approx(
        {(i, j): c for i, j, c in zip(*(a.tolist() for a in pairs), strict=True)}, rel=1e-12
    )


def _spelled_out(data: RankingData) -> dict[tuple[int, int], float]:
    """The pairs of all rankings, read off the arrays that kernels see."""
    p, weight = data.preferences, {}
    for r in range(p.n_rankings):
        ends = p.level_ptr[p.ranking_levels[r] : p.ranking_levels[r + 1] + 1]
        assert ends[0] == p.ranking_ptr[r]
        assert ends[-1] == p.ranking_ptr[r + 1]
        for below, here, above in zip([ends[0]] * len(ends), ends[:-1], ends[1:], strict=False):
            for i in range(here, above):
                for j in range(below, here):
                    v = 1.0 if p.v is None else p.v[i] * p.v[j]
                    key = int(p.row[i]), int(p.row[j])
                    weight[key] = weight.get(key, 0.0) + p.u[r] * v
    return weight


def test_blocks_never_share_a_row():
    X, y, qid = make_ranking(200_000, 1, 3000, 4)
    rng = np.random.default_rng(0)
    pairs = np.column_stack([np.arange(0, 199_999), np.arange(1, 200_000)])
    pairs = pairs[qid[pairs[:, 0]] == qid[pairs[:, 1]]][rng.permutation(1000)]
    p = RankingData(X, y, qid, pairs=pairs, preferences="chain").preferences
    assert p.n_blocks > 3
    owner = np.full(y.size, -1)
    for block in range(p.n_blocks):
        first, last = p.ranking_ptr[p.blocks[block : block + 2]]
        rows = p.row[first:last]
        assert np.isin(owner[rows], (-1, block)).all()
        owner[rows] = block


@given(problem=problems(max_rows=40))
@settings(max_examples=200)
def test_blocks_together_are_the_whole(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rankings, "BLOCK_MEMBERS", 5)
        try:
            data = RankingData(np.zeros((problem.y.size, 1)), problem.y, problem.qid, **problem.options)
        except NoPairsError:
            return
    p, weight, members = data.preferences, {}, 0
    for number in range(p.n_blocks):
        block = p.block(number)
        for pointers, last in ((block.ranking_ptr, block.n_members), (block.level_ptr, block.n_members)):
            assert (pointers[0], pointers[-1]) == (0, last)  # members are counted from 0
        assert (block.ranking_levels[0], block.ranking_levels[-1]) == (0, block.level_ptr.size - 1)
        np.testing.assert_array_equal(block.row, p.row[members : members + block.n_members])
        members += block.n_members
        spelled = _spelled_out(SimpleNamespace(preferences=block))
        assert not spelled.keys() & weight.keys()  # no row is in two blocks
        assert block.weight == pytest.approx(sum(spelled.values()))
        weight |= spelled
    assert members == p.n_members
    assert weight == pytest.approx(_spelled_out(data))
    assert sum(p.block(b).weight for b in range(p.n_blocks)) == pytest.approx(p.total) == pytest.approx(p.weight)
    assert sum(p.block(b).n_rankings for b in range(p.n_blocks)) == p.n_rankings


def test_rankings_are_split_by_their_pairs_a_member():
    data = RankingData(np.zeros((12, 1)), [0, 1, *range(10)], [0, 0, *[1] * 10])
    short, long = data.preferences.split(1)  # 1 pair of 2 rows, 45 of 10
    assert (short.tolist(), long.tolist()) == ([0], [1])
    assert [part.tolist() for part in data.preferences.split(5)] == [[0, 1], []]
    assert data.preferences.split(1)[0] is short  # found once


# --- pickles


def _arrays(data: RankingData) -> dict[str, np.ndarray]:
    """All that data are made of."""
    p = data.preferences
    found = {f"preferences.{each.name}": getattr(p, each.name) for each in fields(p)}
    found |= {each.name: getattr(data, each.name) for each in fields(data) if each.name != "preferences"}
    X = found.pop("X")
    found |= {"X": X} if not sp.issparse(X) else {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    return found


def assert_same_data(one: RankingData, other: RankingData) -> None:
    """The same numbers in the same types."""
    a, b = _arrays(one), _arrays(other)
    assert a.keys() == b.keys()
    for name, value in a.items():
        assert type(value) is type(b[name]), name
        np.testing.assert_array_equal(value, b[name], err_msg=name)
        assert getattr(value, "dtype", None) == getattr(b[name], "dtype", None), name


@given(problem=problems(max_rows=30), sparse=st.booleans())
@settings(max_examples=200)
def test_data_are_the_same_after_a_round_trip(problem, sparse):
    X = np.eye(problem.y.size, 2)
    try:
        data = RankingData(sp.csr_array(X) if sparse else X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    for one in (data, data.part(np.arange(problem.y.size // 2)), data.part(np.empty(0, dtype=np.int64))):
        assert_same_data(pickle.loads(pickle.dumps(one)), one)


SHAPES = {
    "small queries, levels": (20_000, 4, 4000, 5),
    "pairs of rows": (20_000, 4, 10_000, 2),
    "small queries, real": (20_000, 4, 1000, None),
    "one query, real": (20_000, 4, 1, None),
}


@pytest.mark.parametrize("weights", ["none", "all", "some"])
@pytest.mark.parametrize("shape", SHAPES)
def test_pickles_are_small(shape, weights):
    X, y, qid = make_ranking(*SHAPES[shape])
    v = {"none": None, "all": 1.0 + np.arange(y.size) % 7, "some": np.arange(y.size) % 3.0}[weights]
    data = RankingData(X, y, qid, sample_weight=v)
    assert len(pickle.dumps(data)) <= X.nbytes + 32 * y.size + 2000


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic", "logistic_erfc"])
def test_a_fit_leaves_nothing_in_the_data_and_pickled_data_give_the_same_fit(loss):
    X, y, qid = make_ranking(1500, 4, 3, None)  # long rankings: sorted, with much to keep
    v = 1.0 + np.arange(y.size) % 3
    data = RankingData(X, y, qid, sample_weight=v, query_weighting="queries")
    before = pickle.dumps(data)
    copy = pickle.loads(before)
    fits = []
    for one in (data, copy):
        with LocalEngine(one, 2) as engine:
            solution = Newton(tol=1e-6).minimise(Objective(engine, LOSSES[loss], Ridge(1e-2)))
            fits.append((solution.w.tobytes(), solution.value, solution.gap, solution.n_iter, engine.fingerprint()))
        assert len(pickle.dumps(one)) == len(before)
    assert fits[0] == fits[1]
    block = copy.preferences.block(0)
    size = len(pickle.dumps(block))
    assert block.split(1)[0] is not None
    assert block.weight > 0
    assert len(pickle.dumps(block)) == size


def test_a_part_pickles_as_its_rows_alone():
    X, y, qid = make_ranking(10_000, 4, 1000, 4)
    part = RankingData(X, y, qid).part(np.arange(100, 200))
    assert len(pickle.dumps(part)) < 100 * (4 * 8 + 32) + 2000


BAD = {
    "y: NaN": (dict(y=[1, np.nan, 0, 0, 0]), "NaN"),
    "y: infinity": (dict(y=[1, np.inf, 0, 0, 0]), "infinity"),
    "y: length": (dict(y=[1, 0]), "one utility per row"),
    "y: text": (dict(y=list("abcde")), "real number"),
    "y: complex": (dict(y=np.array([1j, 2, 3, 4, 5])), "real"),
    "y: none": (dict(y=None), "y, or pairs"),
    "X: NaN": (dict(X=np.full((5, 2), np.nan)), "NaN"),
    "X: infinity": (dict(X=sp.csr_matrix(np.full((5, 2), np.inf))), "infinity"),
    "X: one-dimensional": (dict(X=np.ones(5)), "Reshape"),
    "weights: negative": (dict(sample_weight=[-1, 1, 1, 1, 1]), "negative"),
    "weights: length": (dict(sample_weight=[1, 1]), "one per row"),
    "weights: all zero": (dict(sample_weight=np.zeros(5)), "zero"),
    "weights: overflow": (dict(sample_weight=np.full(5, 1e200)), "underflow"),
    "query weight: varies": (dict(query_weight=[1, 2, 1, 1, 1]), "constant within a query"),
    "query weight: missing": (dict(query_weight={0: 1.0}), "no entry for qid 1"),
    "query weight: negative": (dict(query_weight={0: 1.0, 1: -1.0}), "negative"),
    "pairs: shape": (dict(pairs=[1, 2]), "shape"),
    "pairs: itself": (dict(pairs=[[1, 1]]), "row 1 to itself"),
    "pairs: across": (dict(pairs=[[0, 4]]), "same qid"),
    "pairs: outside": (dict(pairs=[[0, 5]]), "outside 0 ... 4"),
    "pairs: negative row": (dict(pairs=[[-1, 2]]), "outside"),
    "pairs: fraction": (dict(pairs=[[0.5, 2]]), "fractional"),
    "pairs: negative weight": (dict(pairs=[[0, 1, -1]]), "negative"),
    "no pairs": (dict(y=np.ones(5)), "no pair"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_names_the_cure(case):
    changes, text = BAD[case]
    arguments = {"X": X5, "y": Y5, "qid": Q5} | changes
    with pytest.raises(DataError, match=text) as caught:
        RankingData(**arguments)
    assert isinstance(caught.value, (ValueError, LinrankError))
    assert "\n" not in str(caught.value).strip() or case.startswith("X")


def test_no_pair_is_an_error_of_its_own():
    with pytest.raises(NoPairsError, match="n_samples=1"):
        RankingData([[1.0]], [1.0])


@pytest.mark.parametrize("name", ["preferences", "query_weighting"])
def test_unknown_choices_list_the_known(name):
    with pytest.raises(ParameterError, match="choose one of"):
        RankingData(X5, Y5, **{name: "nonsense"})


def test_pairs_alone_need_no_grades():
    data = RankingData(
        X5,
        None,
        Q5,
        pairs=[
            [0, 1],
            [1, 0],
            [
                0,
                1,
            ],
        ],
    )
    assert data.preferences.n_pairs == 2
    assert data.preferences.total == 3.0


def test_queries_without_pairs_are_counted_in_a_message(caplog):
    with caplog.at_level(logging.INFO, logger="linrank"):
        data = RankingData(X5, [3, 1, 2, 1, 1], Q5)
    assert data.n_queries_without_pairs == 1
    assert "1 of 2 queries have no pair" in caplog.text


def test_data_is_frozen():
    data = RankingData(X5, Y5)
    with pytest.raises(AttributeError):
        data.X = None


def test_fingerprint_sees_every_change():
    prints = [RankingData(X5, Y5, Q5).fingerprint()]
    prints.append(RankingData(X5 + np.array([[0, 1e-9]]), Y5, Q5).fingerprint())
    prints.append(RankingData(X5, -Y5, Q5).fingerprint())
    prints.append(RankingData(X5, Y5).fingerprint())
    prints.append(RankingData(X5, Y5, Q5, sample_weight=[1, 1, 1, 1, 2]).fingerprint())
    prints.append(RankingData(X5.astype(np.float32), Y5, Q5).fingerprint())
    assert len(set(prints)) == len(prints)
    assert RankingData(X5.copy(), list(Y5), Q5 + 7).fingerprint() == prints[0]


@given(problem=problems(max_rows=25), seed=st.integers(0, 99))
@settings(max_examples=300)
def test_preferences_of_a_sample_are_those_among_its_rows(problem, seed):
    m = problem.y.size
    rows = np.flatnonzero(np.random.default_rng(seed).random(m) < 0.6)
    try:
        data = RankingData(np.zeros((m, 1)), problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    number = {int(row): k for k, row in enumerate(rows)}
    expected = {(number[i], number[j]): c for (i, j), c in _spelled_out(data).items() if i in number and j in number}
    part = restrict(data.preferences, rows, data.query)
    found = _spelled_out(SimpleNamespace(preferences=part))
    assert found == pytest.approx(expected)
    assert part.total == pytest.approx(sum(expected.values()))
    assert part.n_pairs == len(expected)  # those that are given twice count once
    assert (part.n_rankings == 0) == (not expected)


@given(problem=problems(max_rows=25), seed=st.integers(0, 99))
@settings(max_examples=100)
def test_a_part_is_the_data_of_its_rows(problem, seed):
    """Levels, weights and queries are those of the whole, in the order of the rows given; pairs may be missing."""
    m = problem.y.size
    rng = np.random.default_rng(seed)
    rows = rng.permutation(m)[: rng.integers(1, m + 1)]
    X = rng.standard_normal((m, 2))
    try:
        data = RankingData(X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    for matrix in (X, sp.csr_array(X)):
        for chosen in (rows, np.arange(m // 3, m)):  # some, and some that are neighbours
            part = RankingData(matrix, problem.y, problem.qid, **problem.options).part(chosen)
            found = part.X.toarray() if sp.issparse(part.X) else part.X
            np.testing.assert_array_equal(found, X[chosen])
            np.testing.assert_array_equal(part.y, data.y[chosen])
            np.testing.assert_array_equal(part.query_ids[part.query], data.query_ids[data.query[chosen]])
            if data.sample_weight is not None:
                np.testing.assert_array_equal(part.sample_weight, data.sample_weight[chosen])
            with_pairs = np.unique(part.query[part.preferences.row])
            assert part.n_queries_without_pairs == part.n_queries - with_pairs.size


def test_a_part_of_neighbours_is_not_copied():
    X, y, qid = make_ranking(100, 3, 5, 4)
    part = RankingData(X, y, qid).part(np.arange(20, 60))
    assert np.shares_memory(part.X, X)


def test_large_integers_are_different_utilities():
    y = 2**60 + np.arange(5)
    assert RankingData(X5, y).preferences.n_pairs == 10


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint8, np.int64])
def test_levels_of_short_integers_are_counted_without_overflow(kind):
    y = np.repeat([0, 60, 125], 100).astype(kind)
    if kind is np.int8:
        y = y * 2 - 125  # from -125 up to 125
    assert RankingData(np.zeros((300, 1)), y).preferences.n_pairs == 30_000


@pytest.mark.parametrize("size", [1e-160, 4e152])
def test_weights_that_leave_no_room_for_sums_are_refused(size):
    X, y, qid = make_ranking(50, 3, 1, 3)
    with pytest.raises(DataError, match="scale them to about 1"):
        RankingData(X, y, qid, sample_weight=np.full(50, size))
