"""Streams: chunks, queries that go on, bounded memory, checkpoints that survive a kill."""

import os
import runpy
import signal
import subprocess
import sys
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

from linrank import DataError, LinearRanker, ParameterError, RankingData, SGDRanker
from linrank.data.labelled import LabelledRows
from linrank.stochastic import reservoir
from linrank.stochastic.checkpoint import load_checkpoint
from linrank.stochastic.reservoir import OpenQueries, keys_of
from linrank.testing import make_ranking


def cut(problem, size):
    """Chunks of so many rows."""
    return [tuple(part[k : k + size] for part in problem) for k in range(0, len(problem[1]), size)]


@pytest.fixture(scope="module")
def problem():
    return make_ranking(2000, 5, 40, 4, seed=3)


def stream_ranker(**options):
    return SGDRanker(**{"alpha": 1e-2, "steps_per_row": 20, "random_state": 0, **options})


@pytest.mark.parametrize("kind", ["dense", "csr", "objects", "function", "generator"])
def test_learns_from_chunks(problem, kind):
    chunks = cut(problem, 170)
    given = {
        "dense": chunks,
        "csr": [(sp.csr_matrix(X), y, qid) for X, y, qid in chunks],
        "objects": [SimpleNamespace(X=X, y=y, qid=qid) for X, y, qid in chunks],
        "function": lambda: iter(chunks),
        "generator": (chunk for chunk in chunks),
    }
    ranker = stream_ranker().fit_stream(given[kind])
    plain = stream_ranker()
    for chunk in chunks:
        plain.partial_fit(*chunk)
    np.testing.assert_allclose(ranker.coef_, plain.coef_, rtol=1e-9)
    assert ranker.n_iter_ == ranker.t_ == 20 * 2000
    assert ranker.score(*problem) > 0.85
    assert np.isnan(ranker.objective_)


def test_one_chunk_is_drawn_like_a_fit(problem):
    """A stream of one chunk makes the very steps of a fit on it."""
    one = SGDRanker(n_steps=20_000, random_state=0).fit(*problem)
    stream = SGDRanker(random_state=0).fit_stream([problem])
    np.testing.assert_array_equal(stream.coef_, one.coef_)
    assert (stream.alpha_, stream.n_pairs_) == (one.alpha_, one.n_pairs_)


def test_a_query_goes_on_in_the_next_chunk():
    """Each chunk has one level of the only query: without kept rows there would be no pair at all."""
    X, y, _ = make_ranking(600, 3, 1, 2, noise=0.1)
    order = np.argsort(y, kind="stable")
    chunks = cut((X[order], y[order], np.zeros(600, dtype=int)), 300)
    assert stream_ranker().fit_stream(chunks).score(X, y, np.zeros(600)) > 0.9
    without_qid = stream_ranker().fit_stream([chunk[:2] for chunk in chunks])
    assert without_qid.score(X, y) > 0.9
    apart = stream_ranker().fit_stream([(X, y, q + np.full(len(y), k)) for k, (X, y, q) in enumerate(chunks)])
    assert apart.n_iter_ == 0
    assert not apart.coef_.any()


def seen(queries, X, y, qid, weights=None):
    """The working set of a chunk, and the open queries after it."""
    chunk = LabelledRows.of(X, y, qid, sample_weight=weights)
    keys = keys_of(chunk.grades.ids)
    return queries.working_set(chunk, keys), queries.after(chunk, keys)


def names(queries, *ids):
    """The given ids that are open, in the order in which they stand."""
    key = {int(keys_of(np.array([name]))[0]): name for name in ids}
    return [key[int(k)] for k in queries.key]


def test_queries_that_alternate_stay_open(caplog):
    X, y, _ = make_ranking(400, 3, 1, 2, noise=0.1)
    order = np.argsort(y, kind="stable")
    X, y, qid = X[order], y[order], np.tile([0, 1], 200)
    chunks = [tuple(part[k::8] for part in (X, y, qid)) for k in range(8)]  # each chunk has one of the two queries
    opened, closed = (stream_ranker(open_queries=n).fit_stream(chunks) for n in (None, 1))
    assert opened.n_pairs_ == RankingData(X, y, qid).preferences.n_pairs  # all of them
    assert opened.n_pairs_ > 2 * closed.n_pairs_ > 0
    (told,) = [record.getMessage() for record in caplog.records]
    within, across = 8 * 50 * 49 / 2, 2 * (1 + 2 + 3) * 50 * 50
    assert told.startswith(f"{100 * across / (within + across):.1f} % of the pairs of rows")
    assert "raise open_queries" in told


def test_the_reservoir_is_a_uniform_sample_and_bounded():
    found: Counter[int] = Counter()
    for seed in range(400):
        queries = OpenQueries(size=5, most=1, seed=np.uint64(seed * 7919))
        for start in range(0, 40, 8):
            rows = np.arange(start, start + 8)
            _, queries = seen(queries, rows[:, None].astype(float), rows, np.zeros(8, dtype=int))
        kept = queries.kept
        assert kept.y.size == 5
        assert queries.seen.tolist() == [40]
        assert np.unique(kept.y).size == 5
        np.testing.assert_array_equal(kept.rows.X[:, 0], kept.y)
        found.update(kept.y.astype(int).tolist())
    assert chisquare([found[row] for row in range(40)]).pvalue > 1e-3


def test_samples_that_became_smaller_are_uniform(monkeypatch):
    """Two queries, their rows interleaved; the memory has room for 8 rows of the 40."""
    monkeypatch.setattr(reservoir, "MEMORY", 8 * 8)
    found: Counter[int] = Counter()
    for seed in range(600):
        queries = OpenQueries(size=100, most=100, seed=np.uint64(seed * 7919))
        for start in range(0, 40, 8):
            rows = np.arange(start, start + 8)
            _, queries = seen(queries, rows[:, None].astype(float), rows, rows % 2)
        assert queries.kept.y.size <= 8
        assert queries.seen.tolist() == [20, 20]
        assert queries.limit == 4
        found.update(queries.kept.y.astype(int).tolist())
    assert chisquare([found[row] for row in range(40)]).pvalue > 1e-3


def test_only_the_last_queries_are_kept():
    queries = OpenQueries(size=3, most=2, seed=np.uint64(1))
    X = np.arange(8.0)[:, None]
    _, queries = seen(queries, X, np.arange(8), ["a", "b", "b", "c", "a", "c", "d", "a"])
    assert names(queries, "a", "b", "c", "d") == ["d", "a"]
    _, queries = seen(queries, X[:2], [0, 1], ["d", "e"])
    assert names(queries, "d", "e") == ["d", "e"]
    assert queries.seen.tolist() == [2, 1]
    _, queries = seen(queries, X[:1], [0], np.array([1]))
    assert queries.key[-1] == keys_of(np.array([1]))[0] != keys_of(np.array(["1"]))[0]  # they are different queries


def test_what_is_lost_is_counted():
    """Of queries that are closed and come again: each new row meets all rows that were forgotten."""
    queries = OpenQueries(size=9, most=1, seed=np.uint64(1))
    for rows, name in ((5, "a"), (4, "b"), (3, "a"), (2, "a"), (1, "b")):
        _, queries = seen(queries, np.zeros((rows, 1)), np.arange(rows), [name] * rows)
    assert queries.lost == 3 * 5 + 2 * 5 + 1 * 4
    assert queries.met == 10 * 9 // 2 + 5 * 4 // 2
    again = queries.without_rows()
    _, again = seen(again, np.zeros((3, 1)), np.arange(3), ["b"] * 3)
    assert again.lost == queries.lost  # another pass remembers nothing


def test_kept_rows_keep_their_weights_and_kinds():
    queries = OpenQueries(size=9, most=1, seed=np.uint64(1))
    dense, sparse = np.eye(3), sp.csr_matrix(np.eye(3))
    _, queries = seen(queries, dense, [0, 0, 1], None, [1.0, 2.0, 3.0])
    joined, _ = seen(queries, sparse, [2, 2, 2], None)
    assert sp.issparse(joined.X)
    order = 3 + np.argmax(joined.X.toarray()[3:], axis=1)  # in which the rows kept stand
    np.testing.assert_array_equal(np.sort(order), [3, 4, 5])
    np.testing.assert_array_equal(joined.sample_weight[np.r_[0:3, order]], [1, 1, 1, 1, 2, 3])
    np.testing.assert_array_equal(joined.y[np.r_[0:3, order]], [2, 2, 2, 0, 0, 1])


def test_scale_is_given_or_that_of_the_first_chunk_or_of_a_fit(problem):
    X, y, qid = problem
    s = np.array([1.0, 10.0, 0.1, 1.0, 2.0])
    by_hand = stream_ranker(scale=False).fit_stream(cut((X / s, y, qid), 300))
    given = stream_ranker(scale=s).fit_stream(cut(problem, 300))
    np.testing.assert_allclose(given.coef_ * s, by_hand.coef_, rtol=1e-6)
    np.testing.assert_array_equal(given.scale_, s)
    first = stream_ranker().fit_stream(cut(problem, 300))
    np.testing.assert_allclose(first.scale_, X[:300].std(axis=0), rtol=1e-9)
    fitted = stream_ranker().fit(*problem)
    before = fitted.scale_.copy()
    fitted.partial_fit(X[:100] * 50, y[:100], qid[:100])
    np.testing.assert_array_equal(fitted.scale_, before)
    assert fitted.t_ == 100_000 + 2000  # the step count goes on


def test_alpha_follows_the_rows_seen(problem):
    whole = LinearRanker("hinge", scale=False).fit(*problem).alpha_
    stream = stream_ranker(alpha="auto", scale=False)
    for number, chunk in enumerate(cut(problem, 500)):
        stream.partial_fit(*chunk)
        assert stream.alpha_ == pytest.approx(4 / (number + 1) * whole, rel=0.05)
    twice = stream_ranker(alpha="auto", scale=False).fit_stream(cut(problem, 500), passes=2)
    assert twice.alpha_ == stream.alpha_  # rows that are read again count once


def test_passes(problem):
    chunks = cut(problem, 300)
    twice = stream_ranker().fit_stream(chunks, passes=2)
    assert twice.n_iter_ == 2 * 20 * 2000
    opened = stream_ranker().fit_stream(lambda: iter(chunks), passes=2)
    assert opened.coef_.tobytes() == twice.coef_.tobytes()
    with pytest.raises(ParameterError, match="read again"):
        stream_ranker().fit_stream(iter(chunks), passes=2)


def test_warm_start_goes_on_with_another_stream(problem):
    chunks = cut(problem, 200)
    whole = stream_ranker().fit_stream(chunks)
    halves = stream_ranker(warm_start=True).fit_stream(chunks[:4]).fit_stream(chunks[4:])
    assert halves.coef_.tobytes() == whole.coef_.tobytes()
    anew = stream_ranker().fit_stream(chunks[:4]).fit_stream(chunks)
    assert anew.coef_.tobytes() == whole.coef_.tobytes()


def test_progress_shows_the_objective_of_each_chunk_before_its_steps(problem, capsys):
    loud = stream_ranker(verbose=2).fit_stream(cut(problem, 500))
    silent = stream_ranker().fit_stream(cut(problem, 500))
    assert loud.coef_.tobytes() == silent.coef_.tobytes()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 + 4
    assert "objective 1.000000" in lines[1]  # w = 0


class InterruptedStreamError(Exception):
    pass


def breaking(chunks, after):
    yield from chunks[:after]
    raise InterruptedStreamError


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize(
    "options", [{}, {"average": True, "open_queries": 3, "reservoir": 7, "scale": np.full(5, 2.0)}]
)
def test_an_interrupted_stream_ends_with_the_same_bits(problem, kind, options, tmp_path):
    chunks = [(sp.csr_matrix(X) if kind == "csr" else X, y, qid) for X, y, qid in cut(problem, 130)]
    whole = stream_ranker(**options).fit_stream(chunks, passes=2)
    path = tmp_path / "stream.npz"
    for passes in (1, 2):  # broken off in each of the two passes
        reads = iter([chunks] * (passes - 1) + [None])

        def source(reads=reads):
            here = next(reads)
            return breaking(chunks, 6) if here is None else here

        with pytest.raises(InterruptedStreamError):
            stream_ranker(**options).fit_stream(source, passes=2, checkpoint=path)
        assert path.exists()
    resumed = stream_ranker(**options, verbose=0).fit_stream(chunks, passes=2, checkpoint=path)
    for name in ("coef_", "scale_"):
        assert getattr(resumed, name).tobytes() == getattr(whole, name).tobytes()
    assert (resumed.t_, resumed.n_iter_, resumed.n_pairs_) == (whole.t_, whole.n_iter_, whole.n_pairs_)
    assert resumed.n_features_in_ == 5
    assert not path.exists()  # the stream has come to its end


SCRIPT = """
import sys, time
import numpy as np
from linrank import SGDRanker
from linrank.testing import make_ranking

X, y, qid = make_ranking(2000, 5, 40, 4, seed=3)

def chunks():
    for k in range(0, 2000, 100):
        time.sleep(float(sys.argv[2]))
        yield X[k : k + 100], y[k : k + 100], qid[k : k + 100]

ranker = SGDRanker(alpha=1e-2, steps_per_row=20, random_state=0, average=True)
ranker.fit_stream(chunks, passes=2, checkpoint=sys.argv[1])
print(ranker.coef_.tobytes().hex())
"""


def done_of(path):
    ranker = SGDRanker(alpha=1e-2, steps_per_row=20, random_state=0, average=True)
    return load_checkpoint(path, ranker._described()).done


def test_a_killed_process_ends_with_the_same_bits(tmp_path, monkeypatch, capsys):
    script, path = tmp_path / "train.py", tmp_path / "stream.npz"
    script.write_text(SCRIPT)

    def weights(checkpoint):
        monkeypatch.setattr(sys, "argv", ["train.py", checkpoint, "0"])
        runpy.run_path(str(script))
        return capsys.readouterr().out

    whole = weights(tmp_path / "other.npz")
    assert len(whole) == 5 * 16 + 1
    process = subprocess.Popen([sys.executable, script, path, "0.05"], stdout=subprocess.DEVNULL)
    until = time.perf_counter() + 60
    while not (path.exists() and done_of(path)[1] >= 4):
        assert process.poll() is None
        assert time.perf_counter() < until
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert done_of(path) != (1, 19)
    assert weights(path) == whole


def test_checkpoints_are_refused_where_they_do_not_fit(problem, tmp_path):
    chunks, path = cut(problem, 300), tmp_path / "stream.npz"
    with pytest.raises(InterruptedStreamError):
        stream_ranker().fit_stream(breaking(chunks, 3), checkpoint=path)
    with pytest.raises(ParameterError, match=r"alpha=0\.01"):
        stream_ranker(alpha=0.5).fit_stream(chunks, checkpoint=path)
    anew = stream_ranker(alpha=0.5).fit_stream(chunks, checkpoint=path, resume=False)
    assert anew.coef_.tobytes() == stream_ranker(alpha=0.5).fit_stream(chunks).coef_.tobytes()
    path.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot be read"):
        stream_ranker().fit_stream(chunks, checkpoint=path)


OTHER_STREAMS = {
    "another file": lambda X, y, qid: (X[::-1].copy(), y, qid),
    "one value": lambda X, y, qid: (np.where(np.arange(5) == 4, X + (np.arange(len(X)) == 7)[:, None], X), y, qid),
    "other labels": lambda X, y, qid: (X, y + 1, qid),
    "other queries": lambda X, y, qid: (X, y, qid + 1),
    "queries as text": lambda X, y, qid: (X, y, qid.astype(str)),
    "no queries": lambda X, y, qid: (X, y),
    "float32": lambda X, y, qid: (X.astype(np.float32), y, qid),
    "sparse": lambda X, y, qid: (sp.csr_matrix(X), y, qid),
    "more columns": lambda X, y, qid: (np.c_[X, X], y, qid),
    "weights": lambda X, y, qid: SimpleNamespace(X=X, y=y, qid=qid, sample_weight=np.full(len(y), 2.0)),
}


@pytest.fixture
def broken_off(problem, tmp_path):
    """The chunks of a stream, and its checkpoint after three of them."""
    chunks, path = cut(problem, 300), tmp_path / "state"
    with pytest.raises(InterruptedStreamError):
        stream_ranker().fit_stream(breaking(chunks, 3), checkpoint=path)
    return chunks, path


@pytest.mark.parametrize("kind", [*OTHER_STREAMS, "larger chunks"])
def test_a_checkpoint_does_not_go_on_with_other_data(problem, broken_off, kind):
    chunks, path = broken_off
    change = OTHER_STREAMS.get(kind)
    other = cut(problem, 400) if change is None else [change(*chunk) for chunk in chunks]
    before, ranker = path.read_bytes(), stream_ranker()
    with pytest.raises(DataError, match=r"another stream.*--restart"):
        ranker.fit_stream(other, checkpoint=path)
    assert not hasattr(ranker, "coef_")  # an error leaves everything as it was
    assert path.read_bytes() == before
    anew = stream_ranker().fit_stream(other, checkpoint=path, resume=False)
    assert anew.coef_.tobytes() == stream_ranker().fit_stream(other).coef_.tobytes()


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (lambda: 0, lambda: 1, False),
        (lambda: 0, lambda: None, False),
        (lambda: None, lambda: None, True),
        (lambda: np.int64(3), lambda: 3, True),
        (lambda: np.random.default_rng(0), lambda: np.random.default_rng(0), True),
        (lambda: np.random.default_rng(0), lambda: np.random.default_rng(1), False),
        (lambda: np.random.RandomState(0), lambda: np.random.RandomState(0), True),
        (lambda: np.random.RandomState(0), lambda: np.random.RandomState(1), False),
        (lambda: 0, lambda: np.random.RandomState(0), False),
    ],
)
def test_a_checkpoint_does_not_go_on_with_another_seed(problem, tmp_path, first, second, same):
    chunks, path = cut(problem, 300), tmp_path / "state"
    with pytest.raises(InterruptedStreamError):
        stream_ranker(random_state=first()).fit_stream(breaking(chunks, 3), checkpoint=path)
    if same:
        stream_ranker(random_state=second()).fit_stream(chunks, checkpoint=path)
        return
    with pytest.raises(ParameterError, match="random_state"):
        stream_ranker(random_state=second()).fit_stream(chunks, checkpoint=path)


@pytest.mark.parametrize(
    "options",
    [
        {"average": False}, {"loss": "logistic"}, {"rule": "sgd"}, {"sampling": "balanced"}, {"reservoir": 5},
        {"steps_per_row": 3}, {"open_queries": 2}, {"decay": 1.0}, {"scale": np.full(5, 2.0)}, {"warm_start": True},
        {"missing": "zero"}, {"preferences": "chain"}, {"n_steps": 5}, {"C": 2.0}, {"switch": 1}, {"margin": 2.0},
        {"query_weighting": "queries"}, {"early_stopping": True},
    ],
)  # fmt: skip
def test_a_checkpoint_does_not_go_on_with_other_parameters(broken_off, options):
    chunks, path = broken_off
    with pytest.raises(ParameterError, match=f"{next(iter(options))}=.*same parameters.*--restart"):
        stream_ranker(**options).fit_stream(chunks, checkpoint=path)


def test_long_scales_are_told_apart(tmp_path):
    X, y, qid = make_ranking(60, 200, 3, 3)
    chunks, path = [(X, y, qid), (X, y, qid)], tmp_path / "state"
    scale = np.ones(200)
    with pytest.raises(InterruptedStreamError):
        stream_ranker(scale=scale).fit_stream(breaking(chunks, 1), checkpoint=path)
    with pytest.raises(ParameterError, match="scale="):
        stream_ranker(scale=np.r_[scale[1:], 2.0]).fit_stream(chunks, checkpoint=path)
    stream_ranker(scale=scale.copy()).fit_stream(chunks, checkpoint=path)


def test_resuming_is_said(broken_off, caplog):
    chunks, path = broken_off
    stream_ranker(verbose=0).fit_stream(chunks, checkpoint=path)
    assert caplog.messages == [f"resuming at step {20 * 900:,} from the checkpoint {path}"]
    caplog.clear()
    stream_ranker().fit_stream(chunks, checkpoint=path)
    assert caplog.messages == []


def test_a_checkpoint_of_a_later_pass_is_not_cut_short(broken_off):
    chunks, path = broken_off
    reads = iter([chunks, breaking(chunks, 2)])
    with pytest.raises(InterruptedStreamError):
        stream_ranker().fit_stream(lambda: next(reads), passes=3, checkpoint=path)
    with pytest.raises(ParameterError, match="is of pass 2"):
        stream_ranker().fit_stream(chunks, passes=1, checkpoint=path)
    assert stream_ranker().fit_stream(chunks, passes=2, checkpoint=path).n_iter_ == 2 * 20 * 2000


def test_a_checkpoint_goes_on_with_rows_of_zeros_and_columns_by_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, qid = make_ranking(120, 3, 1, 3)
    for kind in (
        lambda X: pandas.DataFrame(X, columns=["a", "b", "c"]),
        lambda X: sp.csr_matrix(0 * X),
        np.asfortranarray,
    ):
        chunks, path = [(kind(X[k : k + 40]), y[k : k + 40], qid[k : k + 40]) for k in (0, 40, 80)], tmp_path / "state"
        with pytest.raises(InterruptedStreamError):
            stream_ranker().fit_stream(breaking(chunks, 2), checkpoint=path)
        resumed = stream_ranker().fit_stream(chunks, checkpoint=path)
        assert resumed.coef_.tobytes() == stream_ranker().fit_stream(chunks).coef_.tobytes()


def test_an_empty_stream_beside_a_checkpoint(broken_off):
    _, path = broken_off
    for options in ({}, {"warm_start": False}):
        with pytest.raises(DataError, match="no row"):
            stream_ranker(**options).fit_stream([], checkpoint=path)


def test_bad_chunks_are_named_and_leave_the_ranker_alone(problem):
    X, y, qid = problem
    ranker = stream_ranker().partial_fit(X[:100], y[:100], qid[:100])
    before = ranker.coef_.copy()
    with pytest.raises(DataError, match="qid"):
        ranker.partial_fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="features"):
        ranker.partial_fit(X[:50, :2], y[:50], qid[:50])
    with pytest.raises(DataError, match="requires y"):
        ranker.partial_fit(X[:50])
    np.testing.assert_array_equal(ranker.coef_, before)
    for chunk in ((X,), 5):
        with pytest.raises(DataError, match="A chunk"):
            stream_ranker().fit_stream([chunk])
    with pytest.raises(DataError, match="no row"):
        stream_ranker().fit_stream([])
    with pytest.raises(ParameterError, match="passes"):
        stream_ranker().fit_stream([problem], passes=0)
    assert stream_ranker().fit_stream([(X[:0], y[:0], qid[:0]), problem]).n_iter_ == 40_000


def test_a_stream_that_has_run_dry_loses_no_checkpoint(broken_off):
    chunks, path = broken_off
    before = path.read_bytes()
    for dry in (iter(()), [], chunks[:1]):
        with pytest.raises(DataError, match=r"holds no row|ends before the checkpoint"):
            stream_ranker().fit_stream(dry, checkpoint=path)
        assert path.read_bytes() == before
    fitted = stream_ranker().fit(*chunks[0])
    with pytest.raises(DataError, match="holds no row"):
        fitted.fit_stream([])


def test_names_of_other_data_do_not_outlive_a_resumption(broken_off):
    import pandas as pd

    chunks, path = broken_off
    ranker = stream_ranker().fit(pd.DataFrame(chunks[0][0]).rename(columns=str), *chunks[0][1:])
    assert hasattr(ranker, "feature_names_in_")
    ranker.fit_stream(chunks, checkpoint=path)
    assert not hasattr(ranker, "feature_names_in_")
