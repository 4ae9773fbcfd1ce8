"""SGDRanker as a user meets it: fitting in memory."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from linrank import DataError, LinearRanker, NoPairsError, ParameterError, SGDRanker, labels
from linrank.testing import enumerate_pairs, make_ranking

pytestmark = pytest.mark.smoke

RULES = ["sgd", "pegasos", "passive_aggressive", "romma", "passive_aggressive_then_pegasos", "sgd_svm",
         "perceptron", "perceptron_margin"]  # fmt: skip
#: A random draw cannot be the same for a row of weight 2 and for two rows: scikit-learn's own SGD expects this, too.
RANDOM = {
    "check_sample_weight_equivalence_on_dense_data": "pairs are drawn at random",
    "check_sample_weight_equivalence_on_sparse_data": "pairs are drawn at random",
}


@parametrize_with_checks(
    [SGDRanker(n_steps=2000), SGDRanker(rule="passive_aggressive", average=True, n_steps=500)],
    expected_failed_checks=lambda _: RANDOM,
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    return make_ranking(600, 5, 12, 5, seed=3)


@pytest.fixture(scope="module")
def exact(problem):
    return LinearRanker("hinge", 1e-2, tol=1e-7).fit(*problem)


@pytest.mark.parametrize("rule", ["sgd", "pegasos", "passive_aggressive_then_pegasos"])
@pytest.mark.parametrize("sampling", ["uniform", "rejection"])
def test_comes_close_to_the_exact_solution(problem, exact, rule, sampling):
    ranker = SGDRanker(alpha=1e-2, rule=rule, sampling=sampling, n_steps=300_000, random_state=0).fit(*problem)
    assert exact.objective_ - 1e-7 <= ranker.objective_ <= 1.01 * exact.objective_
    assert abs(ranker.score(*problem) - exact.score(*problem)) < 5e-3
    assert ranker.status_ == "finished"
    assert ranker.n_iter_ == ranker.t_ == ranker.history_[-1][0] == 300_000
    assert ranker.n_pairs_ == exact.n_pairs_
    assert np.isnan(ranker.gap_)


def test_squared_hinge_comes_close_too(problem):
    exact = LinearRanker("squared_hinge", 1e-2, tol=1e-7).fit(*problem)
    ranker = SGDRanker("squared_hinge", 1e-2, n_steps=300_000, average=True, decay=10.0, random_state=0).fit(*problem)
    assert exact.objective_ - 1e-7 <= ranker.objective_ <= 1.01 * exact.objective_


def test_logistic_descends_its_own_objective(problem):
    X, y, qid = problem
    pairs = enumerate_pairs(y, qid)
    D = (X[pairs.winner] - X[pairs.loser]) / X.std(axis=0)

    def f(w):
        return 5e-3 * w @ w + np.mean(np.logaddexp(0, -D @ w))

    ranker = SGDRanker("logistic", 1e-2, n_steps=300_000, random_state=0).fit(X, y, qid)
    w = ranker.coef_ * X.std(axis=0)
    gradient = 1e-2 * w - D.T @ expit(-D @ w) / len(D)
    assert f(w) - gradient @ gradient / 2e-2 <= f(w) <= f(np.zeros(5)) / 2  # alpha-strong convexity bounds the gap
    assert gradient @ gradient / 2e-2 < 0.01 * f(w)
    np.testing.assert_allclose(ranker.objective_, f(w), rtol=1e-4)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("average", [False, True])
def test_every_rule_learns(problem, exact, rule, average):
    ranker = SGDRanker(alpha=1e-2, rule=rule, average=average, C=0.01, switch=1000, random_state=1).fit(*problem)
    luck = 0.06 if rule == "perceptron" and not average else 0.03  # without margin or average it ends anywhere
    assert ranker.score(*problem) > exact.score(*problem) - luck


def test_balanced_sampling_weighs_queries_alike():
    """One long query says up, ten short ones say down: uniform follows the pairs, balanced the queries."""
    X = np.r_[np.arange(100) // 50, np.tile([0.0, 1.0], 10)][:, None]
    y = np.r_[np.arange(100) // 50, np.tile([1, 0], 10)]
    qid = np.r_[np.zeros(100), np.repeat(np.arange(1, 11), 2)].astype(int)
    up, down = (
        SGDRanker(alpha=1.0, sampling=s, scale=False, random_state=0).fit(X, y, qid).coef_[0]
        for s in ("uniform", "balanced")
    )
    assert up > 0 > down


@pytest.mark.parametrize("kind", ["csr", "F", "float32", "readonly", "qid text", "int64 indices"])
def test_the_answer_does_not_depend_on_how_data_is_given(problem, kind):
    X, y, qid = problem
    X = X.astype(np.float32)
    plain = SGDRanker(alpha=1e-2, random_state=0).fit(X.astype(np.float64), y, qid)
    wide = sp.csr_matrix(X.astype(np.float64))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    frozen = X.copy()
    frozen.flags.writeable = False
    given = {
        "csr": (sp.csr_array(X), y, qid),
        "F": (np.asfortranarray(X), y, qid),
        "float32": (X, y, qid),
        "readonly": (frozen, y, qid),
        "qid text": (X, y, [f"query {q:03}" for q in qid]),
        "int64 indices": (wide, y, qid),
    }
    ranker = SGDRanker(alpha=1e-2, random_state=0).fit(*given[kind])
    np.testing.assert_allclose(ranker.coef_, plain.coef_, rtol=1e-4, atol=1e-6)


def test_labels_bring_their_queries(problem):
    X, y, qid = problem
    for name in ("fit", "partial_fit"):
        plain = getattr(SGDRanker(random_state=0), name)(X, y, qid)
        ranker = getattr(SGDRanker(random_state=0), name)(X, labels(y, qid))
        assert ranker.coef_.tobytes() == plain.coef_.tobytes()
        assert ranker.score(X, labels(y, qid)) == plain.score(X, y, qid)
        with pytest.raises(DataError, match="pass qid"):
            ranker.score(X, y)


def test_same_seed_same_bits(problem):
    def bits(random_state):
        return SGDRanker(random_state=random_state, n_steps=5000).fit(*problem).coef_.tobytes()

    assert bits(3) == bits(3) != bits(4)
    assert bits(np.random.default_rng(3)) == bits(np.random.default_rng(3)) != bits(3)
    assert bits(np.random.RandomState(3)) == bits(3)
    assert bits(None) != bits(None)


def test_watching_does_not_change_the_bits(problem, capsys):
    silent, loud = (SGDRanker(random_state=0, verbose=v).fit(*problem) for v in (0, 2))
    assert silent.coef_.tobytes() == loud.coef_.tobytes()
    assert silent.objective_ == loud.objective_
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21  # what is trained on, and 20 looks
    assert len(loud.history_) == 20
    assert f"{loud.history_[4][1]:.6f}" in lines[5]
    assert "gap" not in lines[5]


def test_shown_objectives_are_exact(problem):
    X, y, qid = problem
    ranker = SGDRanker(alpha=1e-2, n_steps=20, random_state=0, verbose=1, scale=False).fit(X, y, qid)
    for step, value, *_ in ranker.history_:
        half = SGDRanker(alpha=1e-2, n_steps=step, random_state=0, scale=False).fit(X, y, qid)
        pairs = enumerate_pairs(y, qid)
        z = X[pairs.winner] @ half.coef_ - X[pairs.loser] @ half.coef_
        exact = np.mean(np.maximum(0, 1 - z)) + 5e-3 * half.coef_ @ half.coef_
        assert value == pytest.approx(exact, rel=1e-9)


def test_scaling_is_folded_back(problem):
    X, y, qid = problem
    by_hand = SGDRanker(alpha=1e-2, random_state=0, scale=False).fit(X / X.std(axis=0), y, qid)
    ranker = SGDRanker(alpha=1e-2, random_state=0).fit(X, y, qid)
    given = SGDRanker(alpha=1e-2, random_state=0, scale=X.std(axis=0)).fit(X, y, qid)
    np.testing.assert_allclose(ranker.coef_ * X.std(axis=0), by_hand.coef_, rtol=1e-6)
    np.testing.assert_allclose(given.coef_, ranker.coef_, rtol=1e-6)
    assert ranker.objective_ == pytest.approx(by_hand.objective_, rel=1e-6)


@pytest.mark.parametrize("factor", [1e160, 1e-200])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_scaling_survives_the_ends_of_the_range(problem, factor, kind):
    X, y, qid = problem
    plain, extreme = (SGDRanker(random_state=0).fit(kind(Z), y, qid) for Z in (X, X * factor))
    np.testing.assert_allclose(extreme.coef_ * factor, plain.coef_, rtol=1e-4)
    assert extreme.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_weights_and_pairs_enter_by_the_sampling(problem):
    X, y, qid = problem
    v = np.random.default_rng(0).integers(0, 3, y.size)
    exact = LinearRanker("hinge", 1e-2, tol=1e-6).fit(X, y, qid, sample_weight=v)
    ranker = SGDRanker(alpha=1e-2, n_steps=300_000, random_state=0).fit(X, y, qid, sample_weight=v)
    assert ranker.objective_ == pytest.approx(exact.objective_, rel=0.02)
    pairs = np.column_stack(np.nonzero((y[:60, None] > y[:60]) & (qid[:60, None] == qid[:60])))
    explicit = SGDRanker(alpha=1e-2, random_state=0).fit(X[:60], None, qid[:60], pairs=pairs)
    assert explicit.n_pairs_ == len(pairs)
    assert explicit.score(X[:60], y[:60], qid[:60]) > 0.85


@pytest.mark.parametrize("sampling", ["uniform", "rejection"])
def test_queries_may_count_the_same(sampling):
    X, y, qid = make_ranking(600, 5, 12, 5, seed=3)
    keep = (qid > 3) | (np.arange(600) % 5 == 0)  # some queries are a fifth as long, and have other pairs
    X, y, qid = np.where(qid > 3, 1.0, -1.0)[keep, None] * X[keep], y[keep], qid[keep]
    exact = LinearRanker("hinge", 1e-2, tol=1e-6, query_weighting="queries").fit(X, y, qid)
    ranker = SGDRanker(alpha=1e-2, sampling=sampling, query_weighting="queries", n_steps=300_000, random_state=0)
    ranker.fit(X, y, qid)
    by_pairs = SGDRanker(alpha=1e-2, n_steps=300_000, random_state=0).fit(X, y, qid)
    assert ranker.objective_ == pytest.approx(exact.objective_, rel=0.01)
    assert np.linalg.norm(by_pairs.coef_ - exact.coef_) > 3 * np.linalg.norm(ranker.coef_ - exact.coef_)
    assert ranker.score(X, y, qid) == pytest.approx(exact.score(X, y, qid), abs=0.01)


def test_the_objective_is_computed_when_it_is_asked_for(problem, monkeypatch):
    from linrank.stochastic.run import Problem

    asked, objective = [], Problem.objective
    monkeypatch.setattr(Problem, "objective", lambda self, coef: asked.append(1) or objective(self, coef))
    ranker = SGDRanker(random_state=0, n_steps=500)
    assert not hasattr(ranker, "objective_")
    ranker.fit(*problem)
    assert not asked
    pending = clone(ranker).fit(*problem)
    again = pickle.loads(pickle.dumps(pending))  # its data stay behind
    assert "_pending" not in again.__dict__
    assert again.objective_ == ranker.objective_ == ranker.objective_
    assert len(asked) == 2
    assert again.n_pairs_ == ranker.n_pairs_
    assert again.history_[-1][:2] == (500, ranker.objective_)
    ranker.partial_fit(*problem)
    assert np.isnan(ranker.objective_)


def test_a_fit_without_ranking_its_rows(problem, monkeypatch):
    """Bare labels and queries are enough, whatever the rows' order; alpha and scale are those of LinearRanker."""
    X, y, qid = problem
    exact = LinearRanker("hinge").fit(X, y, qid)
    mixed = np.random.default_rng(0).permutation(len(y))

    def no_ranking(*_):
        raise AssertionError("ranked")

    monkeypatch.setattr("linrank.data.labelled.rank", no_ranking)
    monkeypatch.setattr("linrank.stochastic.samplers.FEW_ROWS", 0)
    for rows, sampling, alpha in ((np.arange(len(y)), "uniform", "auto"), (mixed, "rejection", 1e-3)):
        ranker = SGDRanker(alpha=alpha, sampling=sampling, random_state=0).fit(X[rows], y[rows], qid[rows])
        assert ranker.score(X, y, qid) > exact.score(X, y, qid) - 0.01
        if alpha == "auto":
            assert ranker.alpha_ == pytest.approx(exact.alpha_, rel=1e-12)
        np.testing.assert_allclose(ranker.scale_, exact.scale_, rtol=1e-12)


def test_columns_of_many_rows_are_measured_on_a_sample():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100_000, 3)) * [1.0, 50.0, 0.1] + 3.0, rng.standard_normal(100_000)
    exact = LinearRanker("hinge", tol=0.1).fit(X, y)
    ranker = SGDRanker(random_state=0, n_steps=100).fit(X, y)
    np.testing.assert_allclose(ranker.scale_, exact.scale_, rtol=0.03)
    assert ranker.alpha_ == pytest.approx(exact.alpha_, rel=0.05)
    X[:, 2] *= rng.random(100_000) < 0.3  # mostly 0: nothing may be missed
    sparse = SGDRanker(random_state=0, n_steps=100).fit(X, y)
    np.testing.assert_allclose(sparse.scale_, LinearRanker("hinge", tol=0.1).fit(X, y).scale_, rtol=1e-12)


def test_early_stopping_keeps_the_best_weights(problem):
    ranker = SGDRanker(early_stopping=True, n_steps=2_000_000, alpha=1e-2, random_state=0).fit(*problem)
    assert ranker.status_ == "stopped"
    assert ranker.n_iter_ < 2_000_000
    assert ranker.score(*problem) > 0.85
    single = SGDRanker(early_stopping=True, n_steps=20_000, random_state=0).fit(*make_ranking(300, 4)[:2])
    assert single.score(*make_ranking(300, 4)[:2]) > 0.8
    with pytest.raises(DataError, match="early_stopping"):
        SGDRanker(early_stopping=True).fit([[0.0], [1.0]], [0, 1])


def test_warm_start_goes_on_where_the_last_fit_ended(problem):
    whole = SGDRanker(n_steps=20_000, random_state=0, average=True).fit(*problem)
    halves = SGDRanker(n_steps=10_000, random_state=0, average=True, warm_start=True).fit(*problem).fit(*problem)
    assert halves.coef_.tobytes() == whole.coef_.tobytes()
    assert (halves.t_, halves.n_iter_) == (20_000, 10_000)


def test_warm_start_from_any_linear_ranker(problem, exact):
    ranker = SGDRanker(alpha=1e-2, n_steps=10_000, random_state=0)
    for start in (exact, exact.coef_):
        moved = ranker.fit(*problem, start=start).coef_ - exact.coef_
        assert 0 < np.linalg.norm(moved) < 0.2 * np.linalg.norm(exact.coef_)
        assert ranker.objective_ < 1.05 * exact.objective_
    by_hand = SGDRanker(alpha=1e-2, n_steps=10_000, random_state=0, warm_start=True)
    by_hand.coef_ = exact.coef_
    assert by_hand.fit(*problem).coef_.tobytes() == ranker.coef_.tobytes()
    other = SGDRanker(alpha=1e-2, n_steps=1000, random_state=5).fit(*problem)
    assert ranker.fit(*problem, start=other).t_ == 11_000
    with pytest.raises(DataError, match="features"):
        ranker.fit(*problem, start=np.zeros(3))


BAD = [
    dict(loss="absolute"), dict(rule="adam"), dict(sampling="all"), dict(alpha=0), dict(C=-1), dict(n_steps=0),
    dict(n_steps=1.5), dict(n_steps=np.inf), dict(average="yes"),
    dict(scale="std"), dict(scale=[1.0, -1.0, 1, 1, 1]), dict(scale=[1.0]),
    dict(validation_fraction=1.0), dict(decay=0), dict(switch=-1), dict(reservoir=0), dict(open_queries=0),
    dict(steps_per_row=0), dict(random_state="x"), dict(preferences="some"), dict(verbose="loud"),
    dict(rule="romma", loss="logistic"), dict(margin=0), dict(query_weighting="rows"), dict(rule=len),
]  # fmt: skip


@pytest.mark.parametrize("parameters", BAD, ids=str)
def test_bad_parameters_are_named(problem, parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        SGDRanker(**parameters).fit(*problem)


def test_bad_data_is_named(problem):
    with pytest.raises(NoPairsError):
        SGDRanker().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(DataError, match="overflow"):
        SGDRanker(scale=False, alpha=1e-9, n_steps=10).fit([[0.0], [1e300]], [0, 1])


def test_pickles_and_clones(problem):
    ranker = SGDRanker(random_state=0, n_steps=500).fit(*problem)
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(problem[0]), ranker.predict(problem[0]))
    assert again.partial_fit(*problem).coef_.tobytes() == ranker.partial_fit(*problem).coef_.tobytes()
    assert not hasattr(clone(ranker), "coef_")


def test_ctrl_c_stops_soon_and_leaves_nothing_half_done():
    X, y, _ = make_ranking(2000, 20)
    ranker, sent = SGDRanker(n_steps=10**11), []
    SGDRanker(n_steps=10).fit(X, y)  # compiled

    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, y)
    assert time.perf_counter() - sent[0] < 1.0
    assert not hasattr(ranker, "coef_")
