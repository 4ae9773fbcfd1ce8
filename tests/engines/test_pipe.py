"""The contract is enough for an engine elsewhere: two processes, joined by pipes."""

import gc
import os
import signal
import threading

import numpy as np
import pytest
from pipe_engine import PipeEngine

from linrank import DataError, ParameterError, RankingData
from linrank.data.parts import split_queries
from linrank.defaults import choose_scale
from linrank.engines import LocalEngine, SumEngine
from linrank.losses import LOSSES, Hinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import SOLVERS, Newton
from linrank.testing import check_engine, make_ranking

D = 8
TASKS = [
    (loss, solver) for loss in LOSSES for solver in SOLVERS if LOSSES[loss].smooth or solver in ("bundle", "newton")
]


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(15_600, D, 300, 4, seed=5)  # enough for a sample
    return RankingData(X * np.arange(1, D + 1) + 3.0, y, qid)


@pytest.fixture(scope="module")
def local(data):
    with LocalEngine(data) as engine:
        yield engine


@pytest.fixture(scope="module")
def joined(data):
    parts = [PipeEngine(part) for part in split_queries(data, 2)]
    with SumEngine(parts, at_once=True) as engine:
        yield engine
    assert all(part.process.exitcode is not None for part in parts)


@pytest.mark.parametrize(("loss", "solver"), TASKS)
def test_fits_are_those_of_the_local_engine(local, joined, loss, solver):
    found = []
    for engine in (local, joined):
        objective = Objective(engine, LOSSES[loss], Ridge(0.01), choose_scale("auto", engine.columns()))
        found.append(SOLVERS[solver](tol=1e-4).minimise(objective))
    one, other = found
    assert one.status == other.status == "converged"
    assert abs(one.value - other.value) <= one.gap + other.gap


def test_messages_are_small_and_handles_are_let_go(local, joined):
    objective = Objective(joined, LOSSES["squared_hinge"], Ridge(0.01))
    solution = Newton(tol=1e-6, hessian="exact").minimise(objective)
    point = objective.at(solution.w)
    exact = Objective(local, LOSSES["squared_hinge"], Ridge(0.01)).at(solution.w)
    np.testing.assert_allclose(point.gradient, exact.gradient, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(point.hessian(), exact.hessian(), rtol=1e-12)
    outer = point.evaluation.outer("queries").total
    np.testing.assert_allclose(outer, exact.evaluation.outer("queries").total, rtol=1e-12)
    assert joined.largest_row(None) == local.largest_row(None)
    del point, objective
    gc.collect()
    for part in joined.engines:  # of all fits so far
        kinds = {method for method, _, _ in part.sizes}
        assert kinds >= {"at_zero", "scores", "evaluate", "of_evaluation", "draw", "largest_row"}
        assert max(sent for _, sent, _ in part.sizes) <= 8 * D + 1000  # vectors go there, no matrix
        assert max(back for method, _, back in part.sizes if method != "draw") <= 8 * D**2 + 1000
        assert part.ask("n_held") == 0


def test_errors_come_back_as_they_are(joined):
    with pytest.raises(DataError, match="weights of shape \\(3,\\) for 8 features"):
        joined.scores(np.zeros(3))
    evaluation = joined.evaluate(Hinge(), joined.scores(np.ones(D)))
    with pytest.raises(ParameterError, match="is not smooth"):
        evaluation.hessian_product(np.ones(D))
    assert joined.at_zero(Hinge()).value == joined.facts.pairs  # and the worker goes on


@pytest.mark.parametrize("by", ["error", "signal"])
def test_the_worker_ends_with_an_interrupt(data, by):
    part = PipeEngine(split_queries(data, 8)[0])
    engine = SumEngine([part], at_once=True)

    def interrupt(iteration):
        if by == "error":
            raise KeyboardInterrupt
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:  # a thread waits for the worker, and this one for the thread
            engine.at_zero(Hinge())

    with pytest.raises(KeyboardInterrupt), engine:
        Newton().minimise(Objective(engine, LOSSES["logistic"], Ridge(0.01)), callback=interrupt)
    assert not part.process.is_alive()
    assert part.pipe.closed


def test_conformance():
    check_engine(PipeEngine, cases=["stored as float64 CSR"])
