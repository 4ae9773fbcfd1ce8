"""Queries stay whole, however rows are partitioned; and one ranking over all workers."""

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import DataError, LinearRanker, NoPairsError
from linrank.engines import Dask
from linrank.engines.dask import rows, table
from linrank.engines.dask.config import Dask as Config
from linrank.testing import make_ranking

pytestmark = pytest.mark.dask
da = pytest.importorskip("dask.array", reason="dask is not installed: pip install 'linrank[dask]'")

N = 3000
X, Y, QID = make_ranking(N, 5, 90, 4, seed=2)
LOCAL = LinearRanker(alpha=0.01).fit(X, Y, QID)


def collections(X, y, qid, chunks):
    return [da.from_array(a, chunks=(chunks, *a.shape[1:])) for a in (X, y, qid)]


def assert_same(ranker, local=LOCAL):
    assert (ranker.n_rows_, ranker.n_queries_, ranker.n_pairs_) == (local.n_rows_, local.n_queries_, local.n_pairs_)
    assert abs(ranker.objective_ - local.objective_) <= ranker.gap_ + local.gap_


def sizes_of(kind):
    return {
        "many tiny": (10,) * 300,
        "a row each for some": (1,) * 40 + (N - 40,),
        "empty ones": (0, 700, 0, 0, 1300, 0, 1000, 0),
        "one": (N,),
        "uneven": (5, 2000, 95, 900),
    }[kind]


@pytest.mark.parametrize("kind", ["many tiny", "a row each for some", "empty ones", "one", "uneven"])
@pytest.mark.parametrize("order", ["by query", "descending", "scattered"])
def test_partitions(client, kind, order):
    place = np.argsort(QID, kind="stable")
    if order == "descending":
        place = place[::-1]
    elif order == "scattered":
        place = np.random.default_rng(1).permutation(N)
    given = collections(X[place], Y[place], QID[place], sizes_of(kind))
    assert_same(LinearRanker(alpha=0.01).fit(*given, client=client))


@pytest.mark.slow
def test_ten_thousand_tiny_partitions(client):
    Z, y, qid = make_ranking(20_000, 3, 500, 4, seed=2)
    local = LinearRanker(alpha=0.01).fit(Z, y, qid)
    assert_same(LinearRanker(alpha=0.01).fit(*collections(Z, y, qid, 2), client=client), local)


def test_strings_and_more_workers_than_queries(client):
    ids = np.array([f"query {q}" for q in QID])
    assert_same(LinearRanker(alpha=0.01).fit(*collections(X, Y, ids, 400), client=client))
    one = QID == QID[0]
    few = LinearRanker(alpha=0.01).fit(X[one], Y[one], QID[one])
    found = LinearRanker(alpha=0.01).fit(*collections(X[one], Y[one], QID[one], 5), client=client)
    assert_same(found, few)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("sparse", [False, True])
def test_one_ranking_over_all_workers(client, loss, sparse):
    local = LinearRanker(loss, alpha=0.01).fit(X, Y)
    dX, dy, _ = collections(X, Y, QID, 400)
    dX = dX.map_blocks(sp.csr_matrix) if sparse else dX
    found = LinearRanker(loss, alpha=0.01).fit(dX, dy, client=Dask(client, shard_bytes=0))
    assert_same(found, local)


def test_queries_of_all_sizes_some_of_which_span_workers(client):
    ids = np.where(np.arange(N) % 3 > 0, -7, QID)  # one of two thirds of the rows, over all partitions
    v, u = np.random.default_rng(3).uniform(0.5, 2.0, N), {int(q): 1.0 + q % 3 for q in np.unique(ids)}
    told = {"alpha": 0.01, "query_weighting": "queries", "preferences": "chain"}
    local = LinearRanker(**told).fit(X, Y, ids, sample_weight=v, query_weight=u)
    dX, dy, dq = collections(X, Y, ids, 300)
    weights = {"sample_weight": da.from_array(v, chunks=300), "query_weight": u}
    found = LinearRanker(**told).fit(dX, dy, dq, **weights, client=Dask(client, shard_bytes=0))
    assert_same(found, local)


def test_a_chunk_of_whole_queries_stays_where_it_is(client, monkeypatch):
    monkeypatch.setattr(rows, "cut", None)  # nothing is cut
    monkeypatch.setattr(rows, "join", None)
    place = np.argsort(QID, kind="stable")
    ends = [np.searchsorted(QID[place], q) for q in (20, 45, 70)]
    given = collections(X[place], Y[place], QID[place], tuple(np.diff([0, *ends, N]).tolist()))
    given = client.persist(given)
    assert_same(LinearRanker(alpha=0.01).fit(*given))  # the client is that of the collections


def test_the_same_bits_again_and_on_any_number_of_workers(client):
    place = np.random.default_rng(1).permutation(N)
    given = collections(X[place], Y[place], QID[place], 250)
    one = LinearRanker(alpha=0.01).fit(*given, client=client)
    one_worker = next(iter(client.scheduler_info()["workers"]))
    client.retire_workers([one_worker], close_workers=False)
    other = LinearRanker(alpha=0.01).fit(*given, client=Dask(client))
    assert np.array_equal(one.coef_, other.coef_)


def test_tables_send_queries_where_most_of_their_rows_are():
    ids = [np.array([1, 2, 3]), np.array([2, 3, 9]), np.array([1, 2])]
    counts = [table.Counts(i, np.array(n)) for i, n in zip(ids, ([5, 1, 2], [4, 2, 1], [5, 1]), strict=True)]
    homes, plan = table.make_table(counts, span_rows=100)
    assert not plan.spans
    where = {}
    for chunk, home in enumerate(homes):
        for q, target in zip(ids[chunk].tolist(), home.tolist(), strict=True):
            assert where.setdefault(q, target) == target  # one home each
    assert sum(sum(own.values()) for own in plan.shards) == 21
    homes, plan = table.make_table(counts, span_rows=5.5)
    assert [sum(own.values()) for own in plan.spans] == [10, 6]  # queries 1 and 2


def test_what_cannot_be_is_refused(client):
    dX, dy, dq = collections(X, Y, QID, 500)
    told = [
        (DataError, "contains NaN", lambda: LinearRanker().fit(da.where(dX > 3, np.nan, dX), dy, dq)),
        (DataError, "2500 values, but X has 3000", lambda: LinearRanker().fit(dX, dy[:2500], dq)),
        (DataError, "the target y is None", lambda: LinearRanker().fit(dX)),
        (NoPairsError, "no pair to learn from", lambda: LinearRanker().fit(dX, dy * 0, dq)),
        (ValueError, "pairs name rows", lambda: LinearRanker().fit(dX, dy, dq, pairs=[[0, 1]])),
        (ValueError, "is no client of a cluster", lambda: LinearRanker().fit(X, Y, client="tcp://nowhere")),
        (ValueError, "patience", lambda: Config(client, patience=0)),
        (DataError, "X lies in memory", lambda: LinearRanker().fit(X, dy, dq)),
    ]
    for kind, text, call in told:
        with pytest.raises(kind, match=text):
            call()
