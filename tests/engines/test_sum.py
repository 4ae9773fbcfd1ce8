"""Several engines as one: every fit through a sum of seven, odd parts, and what is refused."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import DataError, LinrankError, RankingData
from linrank.data.parts import split_queries
from linrank.defaults import choose_scale
from linrank.engines import Facts, LocalEngine, SumEngine
from linrank.losses import LOSSES, Hinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import SOLVERS, Newton
from linrank.testing import CountingEngine, make_ranking

TASKS = [
    (loss, solver) for loss in LOSSES for solver in SOLVERS if LOSSES[loss].smooth or solver in ("bundle", "newton")
]


def seven(data, parts=None, **options):
    """A sum of seven, behind an engine that lets no array over rows out."""
    return CountingEngine(SumEngine([LocalEngine(part) for part in parts or split_queries(data, 7)], **options))


def fit(engine, loss, solver, tol=1e-5):
    with engine:
        objective = Objective(engine, LOSSES[loss], Ridge(0.01), choose_scale("auto", engine.columns()))
        return SOLVERS[solver](tol=tol).minimise(objective)


def ordinary(n_rows=700):
    """Data, and its seven parts: the first is one row, the fourth has no pair."""
    X, y, _ = make_ranking(n_rows, 6, 1, 4, seed=3)
    qid = np.sort(np.random.default_rng(3).integers(1, 40, n_rows))
    qid[0] = 0
    y[np.isin(qid, [20, 21, 22, 23, 24])] = 1.0
    v = np.random.default_rng(4).integers(0, 4, n_rows).astype(float)
    data = RankingData(X * np.arange(1, 7) + 2.0, y, qid, sample_weight=v)
    cuts = np.searchsorted(qid, [0, 1, 10, 20, 25, 30, 35, 40])
    return data, [data.part(np.arange(first, last)) for first, last in itertools.pairwise(cuts)]


@pytest.mark.parametrize(("loss", "solver"), TASKS)
def test_every_fit_through_a_sum_of_seven(loss, solver):
    data, parts = ordinary()
    assert parts[0].n_rows == 1
    assert [part.preferences.n_pairs > 0 for part in parts] == [False, True, True, False, True, True, True]
    engines = LocalEngine(data), seven(data, parts), seven(data, parts)
    local, one, again = (fit(engine, loss, solver) for engine in engines)
    assert local.status == one.status == "converged"
    assert abs(local.value - one.value) <= local.gap + one.gap
    for other in (again, fit(seven(data, parts, at_once=True), loss, solver)):
        assert (other.w.tobytes(), other.value, other.gap) == (one.w.tobytes(), one.value, one.gap)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_fit_that_begins_on_samples(loss):
    X, y, qid = make_ranking(16_000, 5, 300, 4)
    data = RankingData(X, y, qid)
    engines = LocalEngine(data), seven(data), seven(data, at_once=True)
    local, one, again = (fit(engine, loss, "newton", 1e-4) for engine in engines)
    assert engines[1].trips["sample"] > 0
    assert abs(local.value - one.value) <= local.gap + one.gap
    assert one.w.tobytes() == again.w.tobytes()


@pytest.mark.parametrize("n_rows", [2, 3, 9])
def test_fewer_queries_than_parts(n_rows):
    X, y, _ = make_ranking(n_rows, 3, 1, None)
    data = RankingData(X, y, np.r_[0, 0, np.arange(1, n_rows - 1)])  # one pair, and queries of one row
    one, local = (fit(engine, "logistic", "newton") for engine in (seven(data), LocalEngine(data)))
    assert abs(one.value - local.value) <= one.gap + local.gap


def test_a_part_whose_pairs_stand_on_rows_without_weight():
    X, y, qid = make_ranking(40, 3, 1, 3)[0], np.arange(40) % 4, np.repeat([0, 1], 20)
    v = np.where(qid == 0, 2.0, 0.0)
    data = RankingData(X, y, qid, sample_weight=v, pairs=[(21, 22)])
    parts = split_queries(data, 2)
    assert [part.preferences.n_pairs for part in parts] == [150, 1]
    with SumEngine([LocalEngine(part) for part in parts]) as engine:
        assert engine.facts.row_weights == pytest.approx(Facts.of(data).row_weights)
        assert engine.facts.row_weights.effective == Facts.of(data).row_weights.effective


@pytest.mark.parametrize("make", [np.asfortranarray, lambda X: np.asfortranarray(X, dtype=np.float32)])
def test_parts_are_contiguous(make):
    """Kernels would be compiled anew, and every product would copy."""
    X, y, qid = make_ranking(60, 3, 5, 3)
    for part in split_queries(RankingData(make(X), y, qid), 3):
        assert part.X.flags.c_contiguous or part.X.flags.f_contiguous


def test_refused():
    X, y, qid = make_ranking(60, 3, 5, 3)
    data, wider = RankingData(X, y, qid), RankingData(np.c_[X, X], y, qid)
    with pytest.raises(DataError, match="A sum of no engines has no rows"):
        SumEngine([])
    with pytest.raises(DataError, match="different numbers of features"):
        SumEngine([LocalEngine(data), LocalEngine(wider)])


def test_scores_of_another_engine_are_refused():
    X, y, qid = make_ranking(60, 3, 5, 3)
    data = RankingData(X, y, qid)
    two, three = (SumEngine([LocalEngine(part) for part in split_queries(data, n)]) for n in (2, 3))
    with two, three, LocalEngine(data) as local:
        handles = [engine.scores(np.ones(3)) for engine in (two, three, local)]
        for engine, own in zip((two, three, local), handles, strict=True):
            for other in handles:
                if other is not own:
                    for given in ((other,), (own, other), (other, own)):
                        with pytest.raises(DataError, match="another engine's"):
                            engine.evaluate(Hinge(), *given)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_scales_of_another_number_of_features_are_refused(store, size):
    """Kernels do not look at lengths: they would read what lies beyond."""
    X, y, qid = make_ranking(60, 3, 5, 3)
    with seven(RankingData(store(X), y, qid)) as engine:
        for loss in ("squared_hinge", "logistic"):
            point, scale = engine.evaluate(LOSSES[loss], engine.scores(np.ones(3))), np.ones(size)
            asked = [point.gradient, engine.largest_row, lambda s, p=point: p.hessian_product(np.ones(3), scale=s)]
            if engine.hessian_cost(LOSSES[loss]) is not None:
                asked.append(point.hessian)
            for ask in asked:
                with pytest.raises(DataError, match="for 3 features: give one each"):
                    ask(scale)


class Slow(Hinge):
    """Takes its time, as a large block does."""

    seen = threading.Event()

    def at(self, scores, rankings, work):
        self.seen.set()
        time.sleep(0.05)
        return super().at(scores, rankings, work)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_while_parts_work_at_once(n_jobs, monkeypatch):
    monkeypatch.setattr("linrank.data.preferences.BLOCK_MEMBERS", 20)  # a hundred blocks a part
    X, y, qid = make_ranking(4000, 3, 200, 3)
    parts = [LocalEngine(part, n_jobs) for part in split_queries(RankingData(X, y, qid), 2)]
    Slow.seen.clear()

    def press():
        Slow.seen.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    begin = time.perf_counter()
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt), SumEngine(parts, at_once=True) as engine:
        engine.evaluate(Slow(), engine.scores(np.ones(3)))
    assert time.perf_counter() - begin < 3.0  # all of it would take five seconds
    deadline = time.perf_counter() + 5.0
    while threading.active_count() >= before and time.perf_counter() < deadline:
        time.sleep(0.02)
    assert threading.active_count() < before
    for part in parts:
        with pytest.raises(LinrankError, match="was left"):
            part.scores(np.ones(3))
        with part:  # and can be entered again
            assert part.evaluate(Hinge(), part.scores(np.ones(3))).sums.value > 0


def test_an_error_of_one_part_comes_out_when_all_have_answered():
    X, y, qid = make_ranking(60, 3, 5, 3)
    parts = [LocalEngine(part) for part in split_queries(RankingData(X, y, qid), 3)]
    answered = []
    with SumEngine(parts, at_once=True) as engine:

        def ask(k):
            if k == 1:
                raise DataError("This part fails.")
            time.sleep(0.05)
            answered.append(k)

        with pytest.raises(DataError, match=r"This part fails\."):
            engine.each(ask)
        assert sorted(answered) == [0, 2]


def test_parts_that_were_entered_are_left_if_the_next_cannot_be():
    class Fails(LocalEngine):
        def __enter__(self):
            raise OSError("no such device")

    X, y, qid = make_ranking(60, 3, 5, 3)
    one, other = split_queries(RankingData(X, y, qid), 2)
    first = LocalEngine(one)
    with pytest.raises(OSError, match="no such device"), SumEngine([first, Fails(other)]):
        pass
    with pytest.raises(LinrankError, match="was left"):
        first.scores(np.ones(3))


def test_newton_by_products_and_by_hessians():
    data, parts = ordinary()
    for hessian in ("exact", "products"):
        with seven(data, parts) as engine, LocalEngine(data) as local:
            solver = Newton(hessian=hessian)
            one, other = (solver.minimise(Objective(e, LOSSES["squared_hinge"], Ridge(0.1))) for e in (engine, local))
        assert abs(one.value - other.value) <= one.gap + other.gap
        assert engine.trips["hessian" if hessian == "exact" else "hessian_product"] > 0
