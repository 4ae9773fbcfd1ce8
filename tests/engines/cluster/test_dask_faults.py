"""Workers die, fall silent or differ; the scheduler goes; Ctrl-C: the same bits, or a named error in time."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from slowly import Crawling, Met, meet, met

from linrank import DataError, LinearRanker, ParameterError
from linrank.engines import ClusterError, Dask
from linrank.engines.dask import rows
from linrank.engines.dask.engine import DaskEngine
from linrank.losses import SquaredHinge
from linrank.testing import make_ranking

pytestmark = pytest.mark.dask
N = 6000


@pytest.fixture(scope="module")
def given():
    da = pytest.importorskip("dask.array", reason="dask is not installed: pip install 'linrank[dask]'")
    X, y, qid = make_ranking(N, 6, 200, 4, seed=3)
    order = np.random.default_rng(0).permutation(N)
    return [da.from_array(a[order], chunks=(N // 6, *a.shape[1:])) for a in (X, y, qid)]


def fit(given, client, loss="squared_hinge", **more):
    return LinearRanker(loss, alpha=0.01, tol=1e-6, **more).fit(*given, client=client)


def kill_when_met(folder, killed):
    def wait_and_kill():
        pid = met(folder)
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    thread = threading.Thread(target=wait_and_kill)
    thread.start()
    return thread


@pytest.mark.parametrize("after", [0, 20])
def test_a_worker_killed_in_a_trip(client, given, tmp_path, after):
    quiet = fit(given, client, SquaredHinge())
    killed = []
    thread = kill_when_met(tmp_path, killed)
    found = fit(given, Dask(client, patience=30), Met(tmp_path, after))
    thread.join()
    assert killed  # by the number it wrote from within a task
    assert np.array_equal(found.coef_, quiet.coef_)
    assert (found.gap_, found.n_iter_) == (quiet.gap_, quiet.n_iter_)


@pytest.mark.parametrize("shard_bytes", [8 << 20, 0])
def test_the_holder_of_the_first_shard_killed(client, given, monkeypatch, shard_bytes):
    config = Dask(client, patience=30, shard_bytes=shard_bytes)
    X, y, qid = given
    qid = None if shard_bytes == 0 else qid  # one ranking over all workers
    quiet = fit((X, y, qid), config)
    evaluate, calls, killed = DaskEngine.evaluate, [], []

    def killing(engine, *arguments, **more):
        calls.append(1)
        if len(calls) == 3:
            assert bool(engine.spans) == (shard_bytes == 0)
            first = engine.futures[0]
            (holder,) = client.who_has([first])[first.key]
            pid = client.run(os.getpid, workers=[holder])[holder]
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return evaluate(engine, *arguments, **more)

    monkeypatch.setattr(DaskEngine, "evaluate", killing)
    found = fit((X, y, qid), config)
    assert killed
    assert np.array_equal(found.coef_, quiet.coef_)


def test_a_worker_killed_while_rows_are_brought_together(client, given, tmp_path, monkeypatch):
    quiet = fit(given, client)
    cut = rows.cut

    def met_cut(chunk, homes, target):
        meet(tmp_path)
        return cut(chunk, homes, target)

    monkeypatch.setattr(rows, "cut", met_cut)
    killed = []
    thread = kill_when_met(tmp_path, killed)
    found = fit(given, Dask(client, patience=30))
    thread.join()
    assert killed
    assert np.array_equal(found.coef_, quiet.coef_)


def test_what_shards_have_computed_may_be_lost_at_any_time(client, given, monkeypatch):
    quiet = fit(given, client, loss="logistic")
    ask, calls = DaskEngine.about, []

    def forgetting(engine, step, question):
        calls.append(1)
        if len(calls) % 3 == 0:
            client.run(_forget)
        return ask(engine, step, question)

    monkeypatch.setattr(DaskEngine, "about", forgetting)
    assert np.array_equal(fit(given, client, loss="logistic").coef_, quiet.coef_)
    assert len(calls) > 6


def _forget(dask_worker):
    for value in dask_worker.data.values():
        if hasattr(value, "_held"):
            value._held.clear()


def test_ctrl_c_leaves_the_cluster_usable_at_once(client, given, tmp_path):
    def press():
        met(tmp_path)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    X, y, qid = given
    many = X.repeat(30, axis=0), y.repeat(30), qid.repeat(30)  # some blocks a shard, half a second each
    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        fit(many, client, Crawling(tmp_path, 0.5))
    thread.join()
    began = time.monotonic()
    numbers = client.gather(client.map(lambda k: k + 1, range(4), pure=False))
    assert numbers == [1, 2, 3, 4]
    assert time.monotonic() - began < 4.0  # one block, and no more: all of them would take half a minute
    assert np.array_equal(fit(given, client).coef_, fit(given, client).coef_)


def test_ends_by_its_own_clock(separate, given, tmp_path):
    client, processes, workers = separate
    quiet = fit(given, client)
    config = Dask(client, patience=4)
    assert np.array_equal(fit(given, config).coef_, quiet.coef_)  # processes of their own, the same bits

    def stop():
        os.kill(met(tmp_path), signal.SIGSTOP)

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(ClusterError, match="silent for 4 s"):
        took(lambda: fit(given, config, Met(tmp_path)), 4, 12)
    thread.join()
    for worker in workers:
        os.kill(worker.pid, signal.SIGCONT)
        worker.kill()
    with pytest.raises(ClusterError, match=r"no worker"):
        took(lambda: fit(given, config), 3, 10)
    processes.worker()
    client.wait_for_workers(1, timeout=60)
    assert np.array_equal(fit(given, client).coef_, quiet.coef_)
    (tmp_path / "met").unlink()
    thread = threading.Thread(target=lambda: (met(tmp_path), processes.scheduler.kill()))
    thread.start()
    with pytest.raises(ClusterError, match="scheduler"):
        took(lambda: fit(given, config, Met(tmp_path)), 0, 8)
    thread.join()


def took(work, least, most):
    """Do it, and assert how long it took, also where it ends with an error."""
    began = time.monotonic()
    try:
        return work()
    finally:
        seconds = time.monotonic() - began
        assert least <= seconds <= most, f"it took {seconds:.1f} s"


def test_workers_must_have_the_same_linrank(processes, given, distributed):
    lacking = "import sys; sys.modules['linrank'] = None; from distributed.cli import dask_worker; dask_worker.main()"
    older = lacking.replace("= None", "= __import__('types').SimpleNamespace(__version__='0.0')")
    for code, text in ((lacking, "has no linrank"), (older, "has linrank 0.0")):
        worker = processes.worker(code=code)
        with distributed.Client(scheduler_file=str(processes.file), timeout=30) as client:
            client.wait_for_workers(1, timeout=60)
            with pytest.raises(ParameterError, match=text):
                fit(given, client)
            assert len(client.scheduler_info()["workers"]) == 1  # nothing was sent that it could not read
        worker.kill()
        worker.wait()


def test_rows_that_cannot_be_read(client, tmp_path):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    for k in range(3):
        pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1], "q": [k, k]}).to_parquet(tmp_path / f"{k}.parquet")
    frame = dd.read_parquet(str(tmp_path / "*.parquet"))
    (tmp_path / "1.parquet").unlink()
    with pytest.raises(DataError, match="cannot be read on the cluster"):
        took(lambda: LinearRanker().fit(frame[["a"]], frame["y"], frame["q"], client=client), 0, 20)


def test_a_loss_that_workers_cannot_read_is_an_error(client, given):
    class Own(SquaredHinge):
        def __reduce__(self):
            return __import__, ("a_module_that_no_worker_has",)

    with pytest.raises(ModuleNotFoundError, match="a_module_that_no_worker_has"):
        fit(given, client, Own())
    assert len(client.scheduler_info()["workers"]) >= 1
