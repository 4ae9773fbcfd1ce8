"""Whole fits by LinearRanker on a cluster: its parameters, what it says, and what it leaves behind."""

import os
import signal

import numpy as np
import pytest

from linrank import LinearRanker, ParameterError
from linrank.engines import Dask
from linrank.engines.dask.build import from_data
from linrank.testing import make_ranking

pytestmark = pytest.mark.dask
da = pytest.importorskip("dask.array", reason="dask is not installed: pip install 'linrank[dask]'")

X, Y, QID = make_ranking(2400, 5, 60, 4, seed=4)
ORDER = np.random.default_rng(0).permutation(2400)
X, Y, QID = X[ORDER] * [1, 10, 0.1, 1, 1] + 2.0, Y[ORDER], QID[ORDER]


def collections(*arrays, chunks=400):
    return [da.from_array(a, chunks=(chunks, *a.shape[1:])) for a in arrays]


def assert_same(found, local):
    assert found.n_pairs_ == local.n_pairs_
    assert abs(found.objective_ - local.objective_) <= found.gap_ + local.gap_
    np.testing.assert_allclose(found.scale_, local.scale_, rtol=1e-12)
    np.testing.assert_allclose(found.alpha_, local.alpha_, rtol=1e-12)


@pytest.mark.parametrize(
    "told",
    [
        {"loss": "hinge", "solver": "bundle"},
        {"loss": "hinge"},
        {"loss": "logistic", "scale": True},
        {"loss": "logistic_erfc", "solver": "cg"},
        {"preferences": [(0, 2), (1, 3, 0.5)], "solver": "tron"},
        {"query_weighting": "queries", "preferences": "chain", "scale": False},
        {"l1_ratio": 0.5, "alpha": 0.02},
        {"bounds": (0, None), "alpha": 0.02},
    ],
    ids=str,
)
def test_parameters(client, told):
    local = LinearRanker(**told).fit(X, Y, QID)
    assert_same(LinearRanker(**told).fit(*collections(X, Y, QID), client=client), local)


@pytest.mark.parametrize(
    "told", [{"l1_ratio": 0.9}, {"l1_ratio": 1.0, "alpha": 0.05, "loss": "hinge"}, {"monotonic_cst": [-1, 1, 0, -1, 1]}]
)
def test_an_l1_part_and_signs(client, told):
    local = LinearRanker(**told).fit(X, Y, QID)
    found = LinearRanker(**told).fit(*collections(X, Y, QID), client=client)
    assert_same(found, local)
    ridge = {name: value for name, value in told.items() if name == "loss"} | {"alpha": local.alpha_}
    assert LinearRanker(**ridge).fit(X, Y, QID).objective_ < local.objective_ - local.gap_  # they make a difference
    assert np.array_equal(found.coef_ == 0.0, local.coef_ == 0.0)


def test_signs_by_name(client):
    frames = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = frames.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=3)
    y, qid = (frames.from_pandas(pd.Series(values), npartitions=3) for values in (Y, QID))
    local = LinearRanker(monotonic_cst=[0, 0, 0, -1, 1]).fit(X, Y, QID)
    assert_same(LinearRanker(monotonic_cst={"d": -1, "e": 1}).fit(frame, y, qid, client=client), local)
    with pytest.raises(ParameterError, match="which is no feature of X"):
        LinearRanker(monotonic_cst={"z": 1}).fit(frame, y, qid, client=client)


@pytest.mark.parametrize("missing", ["zero", "mean"])
def test_missing_values(client, missing):
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    gaps[:, 4] = np.nan
    local = LinearRanker(missing=missing).fit(gaps, Y, QID)
    found = LinearRanker(missing=missing).fit(*collections(gaps, Y, QID), client=client)
    assert_same(found, local)
    np.testing.assert_allclose(found.fill_, local.fill_, rtol=1e-12)


def test_a_warm_start_knows_the_same_data(client):
    given = collections(X, Y, QID)
    ranker = LinearRanker("hinge", 0.01, solver="bundle", warm_start=True).fit(*given, client=client)
    first = ranker.n_iter_
    assert ranker.fit(*given, client=client).n_iter_ < first
    assert ranker._key is not None
    started = LinearRanker(alpha=0.01).fit(*given, client=client, start=ranker)
    assert started.status_ == "converged"


def test_what_is_said_before_work_begins(client, capsys):
    LinearRanker(verbose=1).fit(*collections(X, Y, QID), client=client)
    said = " ".join(capsys.readouterr().err.split())
    assert "reading 6 partitions" in said
    assert "bringing queries together: 2,400 rows in 6 chunks" in said
    assert "2,400 rows x 5 features, 60 queries" in said
    assert "6 shards on" in said
    assert "a trip takes 40 bytes to a worker" in said
    assert "iteration 1" in said
    LinearRanker(verbose=1).fit(*collections(X, Y), client=Dask(client, shard_bytes=0))
    assert "2,400 rows of rankings that span workers send 19.2 kB" in " ".join(capsys.readouterr().err.split())


def test_a_device_that_workers_do_not_have(client):
    with pytest.raises(ParameterError, match="nowhere"):
        LinearRanker(device="nowhere").fit(*collections(X, Y, QID), client=client)


def test_a_device_on_each_worker(client):
    pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
    local = LinearRanker(alpha=0.01).fit(X, Y, QID)
    found = LinearRanker(alpha=0.01, device="torch:cpu").fit(*collections(X, Y, QID), client=client)
    assert abs(found.objective_ - local.objective_) <= found.gap_ + local.gap_


def test_samples_are_those_of_one_machine_and_come_from_as_few_shards_as_they_need(client, monkeypatch):
    from linrank import RankingData
    from linrank.data import parts
    from linrank.engines.dask import engine as module

    data = RankingData(X, Y, QID)
    with from_data(Dask(client), data, n_parts=6) as engine:
        whole = engine.draw(600)
        monkeypatch.setattr(module, "MAX_BYTES", 4000)
        asked = []
        draw = type(engine)._draw
        monkeypatch.setattr(type(engine), "_draw", lambda *told: asked.append(told[-2:]) or draw(*told))
        part = engine.draw(600)
    assert whole.n_rows == parts.draw(data, 600).n_rows
    assert asked[-1][1] < 6  # not of all shards
    assert 0 < part.n_rows < whole.n_rows
    assert np.array_equal(part.X, whole.X[: part.n_rows])


def test_after_a_death_shards_are_spread_again(separate):
    from linrank import RankingData

    client, processes, workers = separate
    engine = from_data(Dask(client, patience=30), RankingData(X, Y, QID), n_parts=6)
    with engine:
        value = engine.at_zero(_hinge()).value
        os.kill(workers[0].pid, signal.SIGKILL)
        assert engine.at_zero(_hinge()).value == value
    processes.worker()
    client.wait_for_workers(2, timeout=60)
    with engine:  # the next fit
        holders = [there for there in engine.cluster.holders(engine.shards) if there]
        assert len({address for there in holders for address in there}) == 2
        assert engine.at_zero(_hinge()).value == value


def _hinge():
    from linrank.losses import Hinge

    return Hinge()
