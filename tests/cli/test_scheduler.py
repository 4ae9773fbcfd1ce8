"""`linrank train --scheduler`: files are read on workers; Ctrl-C ends them with the command."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from linrank import LinearRanker, load, scan, write_svmlight
from linrank.cli._scheduler import WithScheduler
from linrank.testing import make_ranking

COMMAND = [sys.executable, "-c", "from linrank.cli import main; main()"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pd = pytest.importorskip("pandas")
    place = tmp_path_factory.mktemp("files")
    X, y, qid = make_ranking(3000, 4, 100, 4, seed=5)
    for k in range(4):
        rows = slice(750 * k, 750 * (k + 1))
        frame = pd.DataFrame(X[rows], columns=list("abcd")).assign(label=y[rows], qid=qid[rows])
        frame.to_parquet(place / f"{k}.parquet")
        write_svmlight(place / f"{k}.txt", X[rows][:, : 4 if k == 2 else 3], y[rows], qid[rows])
    return place


@pytest.mark.parametrize(
    ("words", "scheduler", "files"),
    [
        (["--scheduler", "a.parquet", "b.parquet"], "local", ("a.parquet", "b.parquet")),
        (["a.parquet", "--scheduler"], "local", ("a.parquet",)),
        (["--scheduler", "tcp://host:8786", "a.parquet"], "tcp://host:8786", ("a.parquet",)),
        (["--scheduler", "host:8786", "a.parquet"], "host:8786", ("a.parquet",)),
        (["--scheduler=tls://host:1", "a"], "tls://host:1", ("a",)),
    ],
)
def test_an_address_may_be_left_out(words, scheduler, files):
    import click

    from linrank.cli._scheduler import scheduler_option

    @click.command(cls=WithScheduler)
    @click.argument("data", nargs=-1)
    @scheduler_option
    def command(data, scheduler):
        return data, scheduler

    assert command.main(words, standalone_mode=False) == (files, scheduler)


@pytest.mark.dask
def test_train_on_processes_of_this_machine(folder, tmp_path):
    pytest.importorskip("distributed", reason="dask is not installed: pip install 'linrank[dask]'")
    model = tmp_path / "model.json"
    files = [str(folder / f"{k}.parquet") for k in range(4)]
    told = [*COMMAND, "train", "--scheduler", *files, "-o", str(model), "--json", "--jobs", "2"]
    run = subprocess.run(told, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    local = LinearRanker().fit(scan(str(folder / "*.parquet")))
    assert report["data"]["rows"] == 3000
    assert report["data"]["pairs"] == local.n_pairs_
    found = load(model)
    assert found.feature_names_in_.tolist() == list("abcd")
    assert abs(found.objective_ - local.objective_) <= found.gap_ + local.gap_


@pytest.mark.dask
def test_ctrl_c_of_a_terminal_ends_the_command_and_its_workers(folder, tmp_path):
    pytest.importorskip("distributed", reason="dask is not installed: pip install 'linrank[dask]'")
    model = tmp_path / "model.json"
    told = [*COMMAND, "train", "--scheduler", str(folder / "*.parquet"), "-o", str(model), "--jobs", "2", "-v"]
    endless = ["--loss", "hinge", "--solver", "bundle", "--tol", "1e-15", "--max-iter", "1000000"]
    run = subprocess.Popen([*told, *endless], stderr=subprocess.PIPE, text=True, start_new_session=True)
    for line in run.stderr:
        if line.startswith("iteration"):
            break
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    began = time.monotonic()
    _, rest = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "Interrupted: files are as they were before" in rest
    assert "Traceback" not in rest
    assert not model.exists()
    assert time.monotonic() - began < 20
    assert is_gone(run.pid)


def is_gone(group):
    """Whether nobody is left of a group of processes, soon."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.dask
def test_what_cannot_be_had_on_a_cluster_is_refused(folder, tmp_path):
    pytest.importorskip("distributed", reason="dask is not installed: pip install 'linrank[dask]'")
    data = str(folder / "0.parquet")
    for more, text in (
        (["--solver", "sgd"], "is for the exact solvers"),
        (["--pairs", data], "is for data in memory"),
        (["--method", "treersvm", "--lambda", "0.1"], "is not for the papers' systems"),
    ):
        told = [*COMMAND, "train", data, "--scheduler", "-o", str(tmp_path / "m"), *more]
        run = subprocess.run(told, capture_output=True, text=True, timeout=60)
        assert run.returncode != 0
        assert text in " ".join(run.stderr.split())


@pytest.mark.dask
def test_scans_are_read_on_workers(folder):
    distributed = pytest.importorskip("distributed", reason="dask is not installed: pip install 'linrank[dask]'")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        for kind in ("parquet", "txt"):  # of SVMlight one file alone shows the last feature
            data = scan(str(folder / f"*.{kind}"))
            found, local = LinearRanker().fit(data, client=client), LinearRanker().fit(data)
            assert (found.n_features_in_, found.n_pairs_) == (local.n_features_in_, local.n_pairs_)
            assert abs(found.objective_ - local.objective_) <= found.gap_ + local.gap_
        with pytest.raises(ValueError, match="brings labels, queries and weights along"):
            LinearRanker().fit(data, np.zeros(3000), client=client)
        broken = scan(str(folder / "*.parquet"), label="no such column")
        with pytest.raises(ValueError, match="no such column"):
            LinearRanker().fit(broken, client=client)
        with pytest.raises(ValueError, match="X has no rows"):
            LinearRanker().fit(scan(str(lay_out(folder / "none", none=True))), client=client)
        for source in (folder / "sizes", folder / "tables"):
            data = scan(str(lay_out(source)))
            found, local = LinearRanker().fit(data, client=client), LinearRanker().fit(data)
            assert (found.n_queries_, found.n_pairs_) == (local.n_queries_, local.n_pairs_)
            assert getattr(found, "feature_names_in_", None) is None or [*found.feature_names_in_] == [*"abcd"]
            assert abs(found.objective_ - local.objective_) <= found.gap_ + local.gap_
        os.remove(folder / "sizes" / "0.txt.query")
        with pytest.raises(ValueError, match="Partitions differ in their columns"):
            LinearRanker().fit(scan(str(folder / "sizes")), client=client)


def lay_out(place, none=False):
    """SVMlight with sizes of queries beside; or tables with columns in another order, other kinds of ids, no rows."""
    pd = pytest.importorskip("pandas")
    place.mkdir()
    X, y, qid = make_ranking(600, 4, 30, 4, seed=5)
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    middle = int(np.searchsorted(qid, 15))
    for k, rows in enumerate((slice(0, middle), slice(middle, 600))):
        if place.name == "sizes":
            write_svmlight(place / f"{k}.txt", X[rows], y[rows])
            sizes = np.unique(qid[rows], return_counts=True)[1]
            (place / f"{k}.txt.query").write_text("".join(f"{size}\n" for size in sizes))
            continue
        frame = pd.DataFrame(X[rows], columns=list("abcd")).assign(label=y[rows], qid=qid[rows])
        frame = frame.astype({"qid": str}) if k else frame
        frame = frame.assign(qid="q" + frame["qid"])[["qid", *"dcba", "label"]] if k else frame
        frame[: 0 if none else None].to_csv(place / f"{2 * k}.csv", index=False)
        frame[:0].to_csv(place / "1.csv", index=False)
    return place
