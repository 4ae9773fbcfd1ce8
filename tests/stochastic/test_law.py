"""The law of sampling in streams: every pair that came by weighs the same, in the chunk where its later row arrives."""

import os
from collections import Counter

import numpy as np
import pytest

from linrank import NoPairsError
from linrank.data.labelled import LabelledRows
from linrank.stochastic import fresh_draws
from linrank.stochastic.fresh_draws import Filtered, NewFirst, count_fresh, over_fresh
from linrank.stochastic.reservoir import OpenQueries, keys_of
from linrank.stochastic.samplers import as_sampler

pytestmark = pytest.mark.kernels

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
STREAMS, DRAWS = (20, 20) if UNCOMPILED else (600, 200)
N, CHUNK = 36, 9

ORDERS = {
    "in order": np.arange(N) // 7,  # a query goes on in the next chunk
    "interleaved": np.arange(N) % 5,
    "by time": np.random.default_rng(2).integers(0, 6, N),
    "one endless query": np.zeros(N, dtype=np.int64),
}


def chunks_of(y, qid, size, seed, most=2**62, weight=None):
    """(rows, new ones among them, their numbers in the stream) chunk by chunk; X holds the numbers."""
    queries = OpenQueries(size=size, most=most, seed=np.uint64(seed * 977 + 5))
    for k in range(0, N, CHUNK):
        here = slice(k, k + CHUNK)
        weights = None if weight is None else weight[here]
        chunk = LabelledRows.of(np.arange(N, dtype=float)[here, None], y[here], qid[here], sample_weight=weights)
        keys = keys_of(chunk.grades.ids)
        rows = queries.working_set(chunk, keys)
        yield rows, chunk.n_rows, rows.X[:, 0].astype(int)
        queries = queries.after(chunk, keys)


def expected(y, qid, weight):
    """Each chunk draws its pairs, those with a row of it and none later, in proportion to their weights."""
    law = {}
    for k in range(0, N, CHUNK):
        pairs = {(i, j): weight[i] * weight[j] for i in range(k + CHUNK) for j in range(k + CHUNK)
                 if qid[i] == qid[j] and y[i] > y[j] and max(i, j) >= k}  # fmt: skip
        law |= {pair: w / sum(pairs.values()) for pair, w in pairs.items()}
    return law


def drawn(y, qid, size, sampling, weight=None):
    """How often each pair is drawn, DRAWS of each chunk, over many streams; and its square, for the variance."""
    total, squares, n_chunks = Counter(), Counter(), 0
    winner, loser = np.empty((2, DRAWS), dtype=np.int64)
    for seed in range(STREAMS):
        here = Counter()
        for n_chunks, (rows, n_new, number) in enumerate(chunks_of(y, qid, size, seed, weight=weight)):  # noqa: B007
            draws = over_fresh(as_sampler(sampling), rows, n_new)
            draws.draw(np.uint64(seed), np.uint64(0), winner, loser)
            assert np.all(np.minimum(winner, loser) < n_new)
            here.update(zip(number[winner].tolist(), number[loser].tolist(), strict=True))
        for pair, n in here.items():
            total[pair] += n
            squares[pair] += n * n
    assert n_chunks == N // CHUNK - 1
    return total, squares


@pytest.mark.parametrize("size", [4, 100])
@pytest.mark.parametrize("order", ORDERS)
def test_every_pair_is_drawn_in_the_chunk_of_its_later_row(order, size):
    """All labels differ, so that a chunk's weights add up to the same in every stream; a t-test for each pair."""
    y, qid = np.random.default_rng(1).permutation(N), ORDERS[order]
    law = expected(y, qid, np.ones(N))
    total, squares = drawn(y, qid, size, "uniform")
    assert set(total) <= set(law)
    if UNCOMPILED:
        return
    mean = np.array([total[pair] for pair in law]) / STREAMS
    error = np.sqrt((np.array([squares[pair] for pair in law]) / STREAMS - mean**2) / STREAMS)
    z = (mean - DRAWS * np.array(list(law.values()))) / error
    assert np.mean(z**2) < 1.0 + 5 * np.sqrt(2 / z.size)
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("way", ["new first", "filtered"])
@pytest.mark.parametrize("order", ["interleaved", "one endless query"])
def test_both_ways_of_drawing_have_the_same_law(order, way, monkeypatch):
    """With row weights, from the rows at hand: in proportion to v_i v_j, kept ones weighing what they stand for."""
    monkeypatch.setattr(fresh_draws, "FEW_TRIES", 0.0 if way == "filtered" else 1e9)
    rng = np.random.default_rng(3)
    y, qid, weight = rng.integers(0, 3, N), ORDERS[order], rng.choice([0.5, 1.0, 2.0], N)
    rows, n_new, _ = list(chunks_of(y, qid, 5, 1, weight=weight))[-1]
    draws = over_fresh(as_sampler("uniform"), rows, n_new)
    assert isinstance(draws, Filtered if way == "filtered" else NewFirst)
    n = 3_000 if UNCOMPILED else 200_000
    winner, loser = np.empty((2, n), dtype=np.int64)
    counter = draws.draw(np.uint64(1), np.uint64(0), winner, loser)
    v, query = rows.sample_weight, rows.grades.query
    share = {(i, j): v[i] * v[j] for i in range(rows.n_rows) for j in range(rows.n_rows)
             if query[i] == query[j] and rows.y[i] > rows.y[j] and min(i, j) < n_new}  # fmt: skip
    found = Counter(zip(winner.tolist(), loser.tolist(), strict=True))
    assert set(found) <= set(share)
    assert count_fresh(rows, n_new) == len(share)
    wanted = n * np.array(list(share.values())) / sum(share.values())
    seen = np.array([found[pair] for pair in share])
    if not UNCOMPILED:
        assert np.sum((seen - wanted) ** 2 / wanted) < len(share) + 5 * np.sqrt(2 * len(share))
    pieces, at = np.empty((2, n), dtype=np.int64), np.uint64(0)
    for k in range(0, n, n // 3):
        at = draws.draw(np.uint64(1), at, pieces[0, k : k + n // 3], pieces[1, k : k + n // 3])
    assert at == counter
    np.testing.assert_array_equal(pieces, [winner, loser])


def test_a_chunk_without_new_pairs():
    y, qid = np.r_[np.zeros(9), np.ones(27)], np.zeros(N, dtype=np.int64)
    counts = []
    for rows, n_new, _ in chunks_of(y, qid, 100, 0):
        try:
            counts.append(count_fresh(rows, n_new))
        except NoPairsError:
            counts.append(0)
    assert counts == [0, 81, 81, 81]
    first = list(chunks_of(np.r_[np.arange(27), np.full(9, 5)], np.r_[np.zeros(27), np.ones(9)].astype(int), 100, 0))[
        -1
    ]
    with pytest.raises(NoPairsError):
        count_fresh(*first[:2])
