"""The local engine: products, norms and scales for every kind of X, the same bits for any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import DataError, LinearRanker, LinrankError, RankingData
from linrank.data import preferences as _rankings
from linrank.engines import LocalEngine, local, matrix
from linrank.losses import LOSSES
from linrank.testing import make_ranking
from products import dot, transpose_dot

KINDS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 F": lambda X: np.asfortranarray(X, dtype=np.float32),
    "csr": sp.csr_array,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "csr long indices": lambda X: _long_indices(sp.csr_array(X)),
}


def _long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks and pieces even of small matrices."""
    monkeypatch.setattr(matrix, "BLOCK_ENTRIES", 64)
    monkeypatch.setattr(matrix, "PIECE_ENTRIES", 16)
    monkeypatch.setattr(_rankings, "BLOCK_MEMBERS", 16)


def problem():
    X, y, qid = make_ranking(300, 7, 5, 4)
    X[np.abs(X) < 0.5] = 0.0
    X[17] = 0.0
    return X, y, qid


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("streamed", [False, True])
def test_products_norms_and_scales(kind, n_jobs, streamed, small_blocks, monkeypatch):
    if streamed:
        monkeypatch.setattr(matrix, "STREAMED_BYTES", 0)
        monkeypatch.setattr(matrix, "STREAMED_COLUMNS", 0)
    X, y, qid = problem()
    given = KINDS[kind](X)
    exact = given.toarray().astype(float) if sp.issparse(given) else given.astype(float)
    rng = np.random.default_rng(0)
    w, g, unit = rng.standard_normal(7), rng.standard_normal(300), rng.uniform(0.5, 2, 7)
    with LocalEngine(RankingData(given, y, qid), n_jobs) as engine:
        assert engine.matrix.n_blocks > 1
        np.testing.assert_allclose(dot(engine, w), exact @ w, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(engine.scores(w).values, dot(engine, w)[engine.data.preferences.row], rtol=0)
        np.testing.assert_allclose(transpose_dot(engine, g), g @ exact, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(engine.columns().deviation, exact.std(axis=0), rtol=1e-12)
        assert engine.largest_row(None) == pytest.approx(np.linalg.norm(exact, axis=1).max())
        assert engine.largest_row(unit) == pytest.approx(np.linalg.norm(exact / unit, axis=1).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["C", "csr"])
def test_same_bits_for_any_number_of_threads(loss, kind, small_blocks):
    X, y, qid = problem()
    answers = []
    for n_jobs in (1, 2, 5):
        with LocalEngine(RankingData(KINDS[kind](X), y, qid), n_jobs) as engine:
            assert len(engine.blocks) > 1
            scores, d = engine.scores(np.arange(7.0)), engine.scores(np.ones(7))
            here, there = engine.evaluate(LOSSES[loss], scores), engine.evaluate(LOSSES[loss], scores, d, 0.3)
            arrays = [scores.values, there.scores.values, here.gradient(), there.gradient()]
            arrays += [here.outer(u).total for u in ("queries", "rows")[: 1 + LOSSES[loss].smooth]]
            if LOSSES[loss].smooth:
                arrays.append(here.hessian_product(np.ones(7)))
            if engine.hessian_cost(LOSSES[loss]) is not None:
                arrays.append(here.hessian(None))
            answers.append((here.sums, there.sums, *(array.tobytes() for array in arrays)))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_sample_knows_its_pairs_and_shares_what_threads_there_are(n_jobs):
    X, y, qid = make_ranking(600, 7, 40, 4)
    with LocalEngine(RankingData(X, y, qid), n_jobs) as engine:
        part = engine.sample(150)
        assert part._pool is engine._pool
        assert (part._pool is None) == (n_jobs == 1)  # so little is done in the calling thread
        assert 110 < part.data.n_rows < 190
        assert 0 < part.data.preferences.n_pairs < engine.data.preferences.n_pairs
        assert engine.sample(201) is None  # not worth it


@pytest.mark.parametrize("n_features", [7, 70_000])
def test_rounded_products_are_those_of_float32(n_features, monkeypatch):
    monkeypatch.setattr(matrix, "FLOAT32_ENTRIES", 1)
    X, y, qid = problem()
    X = sp.csr_array((X[X != 0], np.nonzero(X)), shape=(300, n_features))
    X.indices[:] += n_features - 7
    rng = np.random.default_rng(0)
    w, g = rng.standard_normal(n_features), rng.standard_normal(300)
    with LocalEngine(RankingData(X, y, qid), 2) as engine:
        rounded = engine.fast
        assert rounded is engine.fast  # made once
        assert rounded.matrix.data.dtype == np.float32
        assert rounded.matrix.indices.dtype == (np.uint16 if n_features == 7 else X.indices.dtype)
        exact = X.astype(np.float32).astype(np.float64)
        np.testing.assert_allclose(dot(engine, w, rounded), exact @ w, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(transpose_dot(engine, g, rounded), exact.T @ g, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("why", ["dense", "float32", "few entries", "large", "small"])
def test_no_rounded_copy_where_it_gains_nothing_or_loses_more_than_digits(why, monkeypatch):
    monkeypatch.setattr(matrix, "FLOAT32_ENTRIES", 10**9 if why == "few entries" else 1)
    X, y, qid = problem()
    X[5, 3] = {"large": 1e39, "small": 1e-40}.get(why, 1.0)
    given = X if why == "dense" else sp.csr_array(X.astype(np.float32 if why == "float32" else np.float64))
    with LocalEngine(RankingData(given, y, qid)) as engine:
        assert engine.fast.matrix is engine.matrix


def test_a_refused_copy_is_not_tried_again(monkeypatch):
    tried = []
    monkeypatch.setattr(matrix.SparseMatrix, "in_float32", lambda self: tried.append(self))
    X, y, qid = problem()
    with LocalEngine(RankingData(sp.csr_array(X), y, qid)) as engine:
        assert engine.fast.matrix is engine.fast.matrix is engine.matrix
    assert len(tried) == 1


def test_an_interruption_reaches_samples():
    X, y, qid = make_ranking(600, 7, 40, 4)
    with LocalEngine(RankingData(sp.csr_array(X), y, qid), 2) as engine:
        for one in (engine, engine.sample(150)):
            ran = []

            def work(block, ran=ran):
                ran.append(block)
                engine._open.clear()  # as leaving the engine does

            with pytest.raises(LinrankError, match="This engine was left"):
                one.map(work, range(100))
            assert len(ran) <= 2  # each thread was at one block
            engine._open.set()


def test_scores_of_another_number_of_features_are_refused():
    with pytest.raises(DataError, match="X has 3 features, but the model has 2"):
        matrix.predict(np.zeros((5, 3)), np.zeros(2))


@pytest.mark.parametrize("loss", LOSSES)
def test_too_few_weights_and_scores_of_other_data_are_refused(loss):
    """Kernels do not look at lengths: they would read what lies beyond."""
    X, y, qid = problem()
    with LocalEngine(RankingData(X, y, qid)) as engine, LocalEngine(RankingData(X[:90], y[:90], qid[:90])) as other:
        for wrong in (np.zeros(2), np.zeros((7, 1)), np.zeros(8)):
            with pytest.raises(DataError, match="give one each"):
                engine.scores(wrong)
        mine, others = engine.scores(np.ones(7)), other.scores(np.ones(7))
        for handles in ((others,), (mine, others), (others, mine)):
            with pytest.raises(DataError, match="another engine"):
                engine.evaluate(LOSSES[loss], *handles)
        point = engine.evaluate(LOSSES[loss], mine)
        if LOSSES[loss].smooth:
            with pytest.raises(DataError, match="give one each"):
                point.hessian_product(np.zeros(2))


def test_the_cost_of_a_hessian_is_known_before_any_evaluation(monkeypatch):
    X, y, qid = problem()
    engine, sparse = (LocalEngine(RankingData(features, y, qid)) for features in (X, sp.csr_array(X)))
    assert engine.hessian_cost(LOSSES["hinge"]) is None  # it has none
    assert 1 < engine.hessian_cost(LOSSES["squared_hinge"]) < 20
    assert 5 < engine.hessian_cost(LOSSES["logistic"]) <= 7.0  # a product a column
    monkeypatch.setattr(local, "LARGEST_TREE", 6)
    assert engine.hessian_cost(LOSSES["squared_hinge"]) is None
    assert engine.hessian_cost(LOSSES["logistic"]) is not None
    monkeypatch.setattr(local, "MAX_HESSIAN", 6)
    for one in (engine, sparse):
        assert [one.hessian_cost(loss) for loss in LOSSES.values()] == [None] * len(LOSSES)


@pytest.mark.smoke
@pytest.mark.parametrize("kind", ["C", "F", "float32", "csr"])
def test_more_features_than_a_block_holds_with_few_rows(kind):
    X = KINDS[kind](np.random.default_rng(0).standard_normal((4, 1_100_000)))
    ranker = LinearRanker(scale=True, tol=0.1).fit(X, [0.0, 1.0, 2.0, 3.0])
    assert ranker.status_ == "converged"
    assert ranker.score(X, [0.0, 1.0, 2.0, 3.0]) == 1.0


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_are_there_before_they_are_needed(n_jobs):
    """Python waits for ever for a thread that dies for want of memory while it begins."""
    X, y, qid = problem()
    with LocalEngine(RankingData(X, y, qid), n_jobs) as engine:
        assert len(engine._pool._threads) == n_jobs


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_earlier_trial_of_a_line_can_be_asked_again(n_jobs, monkeypatch):
    """Its scores were let go: they are made anew before the pool works on them, not by its threads."""
    for name, value in {"MANY_MEMBERS": 1, "QUICK_ENTRIES": 0, "QUICK_MEMBERS": 0}.items():
        monkeypatch.setattr(local, name, value)
    X, y, qid = make_ranking(300, 4, 30, 4)
    loss, w = LOSSES["squared_hinge"], np.ones((2, 4))
    with LocalEngine(RankingData(X, y, qid), n_jobs) as engine:
        s, d = engine.scores(w[0]), engine.scores(w[1])
        early = engine.evaluate(loss, s, d, 0.3)
        expected = early.gradient(), early.hessian_product(w[0])
        early = engine.evaluate(loss, s, d, 0.3)
        engine.evaluate(loss, s, d, 0.7)  # the earlier one rests
        np.testing.assert_array_equal(early.gradient(), expected[0])
        engine.evaluate(loss, s, d, 0.7)
        np.testing.assert_array_equal(early.hessian_product(w[0]), expected[1])
