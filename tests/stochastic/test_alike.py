"""Early stopping, averaging, warm start and checkpoints, alike for fit, partial_fit and streams."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from linrank import DataError, ParameterError, SGDRanker
from linrank.stochastic import run
from linrank.testing import make_ranking


@pytest.fixture(scope="module")
def problem():
    return make_ranking(3000, 5, 60, 4, seed=3)


def cut(problem, size=150):
    return [tuple(part[k : k + size] for part in problem) for k in range(0, len(problem[1]), size)]


def by_fit(ranker, problem, **options):
    return ranker.fit(*problem, **options)


def by_stream(ranker, problem, **options):
    return ranker.fit_stream(cut(problem), passes=3, **options)


def by_chunks(ranker, problem, **options):
    for _ in range(3):
        for chunk in cut(problem):
            ranker.partial_fit(*chunk, **options)
    return ranker


WAYS = {"fit": by_fit, "fit_stream": by_stream, "partial_fit": by_chunks}


@pytest.mark.parametrize("way", WAYS)
def test_early_stopping_ends_with_the_best_weights(problem, way):
    """Passive-aggressive steps of any length do not settle: sooner or later five checks in a row gain nothing."""
    gains = []
    for seed in range(6):  # where they end is luck
        ranker = SGDRanker(rule="passive_aggressive", C=10.0, average=False, early_stopping=True, random_state=seed,
                           n_steps=400_000)  # fmt: skip
        stopped = WAYS[way](ranker, problem)
        assert stopped.status_ == "stopped"
        assert stopped.n_iter_ < (400_000 if way == "fit" else 90_000)
        last = WAYS[way](clone(ranker).set_params(early_stopping=False, n_steps=stopped.n_iter_), problem)
        assert last.status_ == "finished"
        gains.append(stopped.score(*problem) - last.score(*problem))
    assert np.mean(gains) > 0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_held_out_queries_are_never_trained_on(problem, kind, monkeypatch):
    """A tenth of the queries, or of the rows where there is no qid: the scores see them, and the steps do not."""
    scored = []
    monkeypatch.setattr("linrank.stochastic.held_out.accuracy", lambda data, coef: scored.append(data) or len(scored))
    y = problem[1]
    queries = [(kind(a), b, c) for a, b, c in cut(problem)]
    rows = [(a, b) for a, b, _ in queries]
    for chunks in (queries, rows):
        scored.clear()
        with_, without = (SGDRanker(early_stopping=stop, random_state=0).fit_stream(chunks) for stop in (True, False))
        assert with_.n_iter_ == pytest.approx(0.9 * without.n_iter_, rel=0.1)
        held = scored[-1]
        assert held.n_rows == pytest.approx(0.1 * len(y), rel=0.5)
        assert len(scored) < 20  # the later, the rarer
        twice = SGDRanker(early_stopping=True, random_state=0).fit_stream(chunks, passes=2)
        assert twice.n_iter_ == 2 * with_.n_iter_  # the same rows are held out again
        assert held.n_rows <= scored[-1].n_rows < 1.2 * held.n_rows


def test_a_stream_stops_reading_once_it_has_stopped(problem):
    read = []

    def endless():
        while True:
            for chunk in cut(problem):
                read.append(1)
                yield chunk

    ranker = SGDRanker(rule="passive_aggressive", C=10.0, average=False, early_stopping=True, random_state=0)
    assert ranker.fit_stream(endless()).status_ == "stopped"
    before, n_read = ranker.coef_.copy(), len(read)
    assert n_read < 400
    ranker.partial_fit(*cut(problem)[0])
    np.testing.assert_array_equal(ranker.coef_, before)  # and learns no more


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_a_warm_start_goes_on(problem, way, average):
    halves = [tuple(part[k : k + 1500] for part in problem) for k in (0, 1500)]
    given = {"average": average, "alpha": 1e-2, "scale": False, "random_state": 0, "n_steps": 5000}
    if way == "fit":
        whole = SGDRanker(**given | {"n_steps": 10_000}).fit(*problem)
        parts = SGDRanker(warm_start=True, **given).fit(*problem).fit(*problem)
    elif way == "fit_stream":
        whole = SGDRanker(**given).fit_stream(halves)
        parts = SGDRanker(warm_start=True, **given).fit_stream(halves[:1]).fit_stream(halves[1:])
    else:
        whole = SGDRanker(**given).fit_stream(halves)
        parts = SGDRanker(warm_start=True, **given).partial_fit(*halves[0]).partial_fit(*halves[1])
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert parts.t_ == whole.t_


class TornError(Exception):
    pass


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"average": False, "rule": "romma"}])
def test_a_fit_resumes_with_the_same_bits(problem, kind, options, tmp_path, monkeypatch):
    X, y, qid = problem
    given = kind(X), y, qid
    ranker, path = SGDRanker(random_state=0, n_steps=40_000, **options), tmp_path / "state"
    whole = clone(ranker).fit(*given)
    steps, calls = run.Run.steps, []

    def torn(self, descent, n):
        calls.append(n)
        if len(calls) == 4:
            raise TornError
        steps(self, descent, n)

    with monkeypatch.context() as patch:
        patch.setattr(run.Run, "steps", torn)
        with pytest.raises(TornError):
            clone(ranker).fit(*given, checkpoint=path)
    assert path.exists()
    with pytest.raises(DataError, match="of other rows"):
        clone(ranker).fit(given[0], y[::-1], qid, checkpoint=path)
    with pytest.raises(ParameterError, match="n_steps"):
        clone(ranker).set_params(n_steps=7).fit(*given, checkpoint=path)
    calls.clear()
    with monkeypatch.context() as patch:
        patch.setattr(run.Run, "steps", lambda self, descent, n: calls.append(n) or steps(self, descent, n))
        resumed = clone(ranker).fit(*given, checkpoint=path)
    assert len(calls) <= 17  # of twenty pieces three were made before
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    assert (resumed.n_iter_, resumed.t_, resumed.status_) == (whole.n_iter_, whole.t_, whole.status_)
    assert not path.exists()


@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"open_queries": 2, "reservoir": 5}])
def test_a_loop_of_chunks_goes_on_from_its_checkpoint(problem, options, tmp_path):
    ranker, path, chunks = SGDRanker(random_state=0, **options), tmp_path / "state", cut(problem)
    whole = clone(ranker)
    for chunk in chunks:
        whole.partial_fit(*chunk)
    parts = clone(ranker)
    for k, chunk in enumerate(chunks):
        if k in (5, 11):
            parts = clone(ranker)  # as if in another process
        parts.partial_fit(*chunk, checkpoint=path)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    assert (parts.n_iter_, parts.n_pairs_, parts.status_) == (whole.n_iter_, whole.n_pairs_, whole.status_)


def test_a_stream_with_early_stopping_resumes_with_the_same_bits(problem, tmp_path):
    chunks, path = cut(problem), tmp_path / "state"
    ranker = SGDRanker(early_stopping=True, random_state=0)

    def torn():
        yield from chunks[:7]
        raise TornError

    with pytest.raises(TornError):
        clone(ranker).fit_stream(torn(), checkpoint=path)
    resumed, whole = clone(ranker).fit_stream(chunks, checkpoint=path), clone(ranker).fit_stream(chunks)
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    assert resumed._stream.watch.score == whole._stream.watch.score
