"""The engines' conformance suite, and whole fits, on two worker processes."""

import gc
import re
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import LinearRanker, RankingData
from linrank.defaults import choose_scale
from linrank.engines import Dask, LocalEngine
from linrank.losses import LOSSES
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import SOLVERS
from linrank.testing import check_engine, make_ranking
from linrank.testing.cases import CASES, FEW_ROWS
from linrank.testing.engines import engine_cases

pytestmark = pytest.mark.dask

WHOLE = [
    "stored as float64 C",
    "stored as float32 CSR",
    "explicit pairs and grades",
    "rows, queries and a chain weighted",
    "thousands of queries, sparse",
    "queries without pairs",
]
#: Of more rows than those for which rows are asked for as units of standard errors: they cut a ranking.
SPANNING = ["a giant sparse query", "a long query of three levels", "thousands of queries, a chain"]


@pytest.fixture
def config(client):
    return Dask(client, patience=30)


def whole(config):
    from linrank.engines.dask.build import from_data

    return lambda data: from_data(config, data, n_parts=3)


def spanning(config):
    from linrank.engines.dask.build import spanning

    return lambda data: spanning(config, data, n_parts=3)


@pytest.mark.parametrize("name", WHOLE)
def test_conformance(config, name):
    check_engine(whole(config), cases=[name])


@pytest.mark.parametrize("name", SPANNING)
def test_conformance_of_rankings_that_span_workers(config, name):
    check_engine(spanning(config), cases=[name])


@pytest.mark.slow
@pytest.mark.parametrize("make", [whole, spanning])
@pytest.mark.filterwarnings("ignore:Sending large graph")
def test_conformance_of_all_cases(config, make):
    few = [name for name in CASES if make is spanning and CASES[name]().data.n_rows <= FEW_ROWS]
    check_engine(make(config), cases=set(engine_cases()) - {*(WHOLE if make is whole else SPANNING), *few})


def test_conformance_on_a_device_of_each_worker(config):
    pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
    from linrank.engines.dask.build import from_data

    check_engine(lambda data: from_data(config, data, device="torch:cpu", n_parts=2), cases=["stored as float32 C"])


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("make", [whole, spanning])
def test_fits_are_those_of_the_local_engine(config, make, stored):
    X, y, qid = make_ranking(4000, 7, 60, 4, seed=5)
    X[np.abs(X) < 0.5] = 0.0
    data = RankingData(stored(X * np.arange(1, 8) + (0.0 if stored is sp.csr_array else 3.0)), y, qid)
    with make(config)(data) as engine, LocalEngine(data) as local:
        scale = choose_scale("auto", engine.columns())
        for loss in LOSSES:
            for solver in ("newton", "bundle"):
                one, other = (
                    SOLVERS[solver](tol=1e-4).minimise(Objective(e, LOSSES[loss], Ridge(0.01), scale))
                    for e in (engine, local)
                )
                assert one.status == other.status == "converged"
                assert abs(one.value - other.value) <= one.gap + other.gap, (loss, solver)


def test_long_fits_go_on_from_scores_that_are_made_anew(config):
    """Steps are noted for 16 of them; a method of many short ones goes on beyond that, and its recipes stay short."""
    X, y, qid = make_ranking(3000, 6, 50, 4, seed=1)
    data = RankingData(X, y, qid)
    with whole(config)(data) as engine, LocalEngine(data) as local:
        d = np.linspace(-1, 1, 6)
        for e in (engine, local):
            s, step = e.scores(np.zeros(6)), e.scores(d)
            for _ in range(40):
                point = e.evaluate(LOSSES["squared_hinge"], s, step, 0.01)
                s = point.scores
            if e is engine:
                value, gradient, depth = point.sums.value, point.gradient(), s.step.depth
        assert depth <= 16
        np.testing.assert_allclose(value, point.sums.value, rtol=1e-12)
        np.testing.assert_allclose(gradient, point.gradient(), rtol=1e-10)


def test_handles_and_rows_are_let_go(client, config):
    X, y, qid = make_ranking(3000, 6, 50, 4, seed=1)
    with whole(config)(RankingData(X, y, qid)) as engine:
        SOLVERS["newton"]().minimise(Objective(engine, LOSSES["logistic"], Ridge(0.01)))
        gc.collect()
        engine.at_zero(LOSSES["logistic"])  # tells what nobody needs any more
        assert sum(client.run(_held).values()) == 0
    del engine
    ranker = LinearRanker().fit(X, y, qid, client=client)
    assert ranker.status_ == "converged"
    gc.collect()
    end = time.monotonic() + 10
    while any("linrank" in key for key in client.who_has()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [key for key in client.who_has() if "linrank" in key]


def _held(dask_worker):
    return sum(len(value._held) for value in dask_worker.data.values() if hasattr(value, "_held"))


def test_the_page_on_clusters_shows_code_that_runs(client, tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    page = (Path(__file__).parents[3] / "docs" / "cluster.md").read_text()
    (code,) = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    X, y, qid = make_ranking(900, 3, 30, 3, seed=1)
    for k in range(3):
        rows = slice(300 * k, 300 * (k + 1))
        frame = pd.DataFrame(X[rows], columns=list("abc")).assign(label=y[rows], query=qid[rows])
        frame.to_parquet(tmp_path / "data" / f"{k}.parquet")
    found = {}
    exec(code.replace('"tcp://scheduler:8786"', repr(client.scheduler.address)), found)
    local = LinearRanker().fit(X, y, qid)
    assert found["ranker"].n_pairs_ == local.n_pairs_
    np.testing.assert_allclose(found["scores"].compute(), X @ found["ranker"].coef_, rtol=1e-12, atol=1e-12)
    found["client"].close()
