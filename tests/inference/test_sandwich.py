"""Standard errors by the formula: against the definition, statsmodels, the bootstrap and coverage."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm

from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine, SumEngine, split_queries
from linrank.inference import infer
from linrank.losses import LOSSES
from linrank.testing import enumerate_pairs, naive_hessian, naive_phi, naive_psi

SMOOTH = ["squared_hinge", "logistic", "logistic_erfc"]
W = np.array([1.0, -0.5, 0.0])


def sample(rng, n_queries=60, rows=6, levels=True):
    """Rows whose utility is a linear score with logistic noise."""
    X = rng.standard_normal((n_queries * rows, 3))
    y = X @ W + rng.logistic(size=len(X))
    return X, np.round(y).clip(-1, 2) if levels else y, np.repeat(np.arange(n_queries), rows)


def closely(loss="squared_hinge", alpha=0.01, **options):
    return LinearRanker(loss, alpha=alpha, scale=False, tol=1e-14, solver="newton", **options)


def fit(ranker, *args, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a tol at the edge of rounding
        return ranker.fit(*args, **given)


def naive_covariance(ranker, X, y, qid, unit, **given):
    """H^-1 B H^-1 pair by pair, at the ranker's weights."""
    pairs = enumerate_pairs(y, qid, n_rows=len(X), **given)
    phi, w, N = naive_phi(LOSSES[ranker.loss]), ranker.coef_, pairs.c.sum()
    psi, c = naive_psi(phi.slope, X, X @ w, pairs, unit)
    psi = psi + c[:, None] * ranker.alpha * w
    n = np.count_nonzero(c)
    H = np.linalg.inv(naive_hessian(phi.curvature, X, X @ w, pairs) + ranker.alpha * np.eye(len(w)))
    return n / (n - 1) * H @ (psi.T @ psi / N**2) @ H


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("kind", ["queries", "rows", "clusters", "cut clusters", "weights", "explicit pairs", "chain"])
def test_it_is_the_definition_pair_by_pair(loss, kind):
    rng = np.random.default_rng(1)
    X, y, qid = sample(rng, 1, 60) if kind in ("rows", "cut clusters") else sample(rng, 64, 6)
    given, options, unit, cluster = {}, {}, qid, None
    if kind == "rows":
        unit = np.arange(60)
    if "clusters" in kind:
        unit = cluster = (qid if kind == "clusters" else np.arange(60)) // 2
    if kind == "weights":
        given = {"sample_weight": rng.uniform(0.5, 2, len(y)), "query_weight": dict.fromkeys(range(64), 1.0) | {3: 2.5}}
    if kind == "explicit pairs":
        given = {"pairs": np.column_stack([np.arange(0, 240, 2), np.arange(1, 240, 2), rng.uniform(1, 2, 120)])}
    if kind == "chain":
        options = {"preferences": "chain"}
    ranker = fit(closely(loss, **options), X, y, qid, **given)
    found = ranker.inference(X, y, qid, cluster=cluster, **given)
    exact = naive_covariance(ranker, X, y, qid, unit, **given, **options)
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.abs(found.covariance - exact).max() <= 1e-6 * size.max()
    assert np.abs((found.covariance - exact) / size).max() < 1e-6
    assert found.units == ("rows" if kind == "rows" else "clusters" if cluster is not None else "queries")


def test_statsmodels_cluster_robust_covariance_of_explicit_pairs():
    rng = np.random.default_rng(2)
    X, y, qid = sample(rng, 50, 4, levels=False)
    pairs = enumerate_pairs(y, qid)
    keep = rng.random(pairs.c.size) < 0.7
    winner, loser = pairs.winner[keep], pairs.loser[keep]
    ranker = fit(closely("logistic", 1e-11), X, None, qid, pairs=np.column_stack([winner, loser]))
    found = ranker.inference(X, None, qid, pairs=np.column_stack([winner, loser]))
    flip = np.where(rng.random(winner.size) < 0.5, 1.0, -1.0)  # which of both stands first does not matter
    model = sm.GLM((flip > 0).astype(float), flip[:, None] * (X[winner] - X[loser]), family=sm.families.Binomial())
    theirs = model.fit(
        tol=1e-14, maxiter=100, cov_type="cluster",
        cov_kwds={"groups": qid[winner], "use_correction": False},
    )  # fmt: skip
    np.testing.assert_allclose(ranker.coef_, theirs.params, rtol=1e-8)
    factor = found.n_units / (found.n_units - 1)
    np.testing.assert_allclose(found.covariance / factor, theirs.cov_params(), rtol=1e-8, atol=1e-10)


def test_a_query_of_weight_2_is_that_query_twice_within_one_cluster():
    rng = np.random.default_rng(3)
    X, y, qid = sample(rng)
    once = fit(closely("logistic"), X, y, qid, query_weight=np.where(qid == 5, 2.0, 1.0))
    again = np.r_[np.arange(len(y)), np.flatnonzero(qid == 5)]
    other = np.r_[qid, np.full(6, 1000)]
    twice = fit(closely("logistic"), X[again], y[again], other)
    a = once.inference(X, y, qid, query_weight=np.where(qid == 5, 2.0, 1.0))
    b = twice.inference(X[again], y[again], other, cluster=np.r_[qid, np.full(6, 5)])
    assert a.n_units == b.n_units
    np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_the_bootstrap_agrees(loss):
    X, y, qid = sample(np.random.default_rng(4), 150)
    ranker = LinearRanker(loss, alpha=0.01).fit(X, y, qid)
    a, b = ranker.inference(X, y, qid), ranker.inference(X, y, qid, method="bootstrap", n_resamples=300)
    np.testing.assert_allclose(b.standard_errors / a.standard_errors, 1.0, atol=0.17)  # 4 of their own errors
    assert b.resamples.shape == (300, 3)
    assert np.array_equal(b.resamples, ranker.inference(X, y, qid, method="bootstrap", n_resamples=300).resamples)
    y1 = X[:300] @ W + np.random.default_rng(5).logistic(size=300)
    one = LinearRanker(loss, alpha=0.01).fit(X[:300], y1)
    a, b = one.inference(X[:300], y1), one.inference(X[:300], y1, method="bootstrap", n_resamples=300)
    np.testing.assert_allclose(b.standard_errors / a.standard_errors, 1.0, atol=0.17)


def test_pairs_of_one_query_are_not_independent():
    """They share rows: counted as independent, variances are several times too small."""
    rng = np.random.default_rng(6)
    X, y, qid = sample(rng, 1, 300, levels=False)
    ranker = fit(closely("logistic"), X, y)
    rows = np.diag(ranker.inference(X, y).covariance)
    pairs = enumerate_pairs(y, qid)
    p = 1 / (1 + np.exp((X @ ranker.coef_)[pairs.winner] - (X @ ranker.coef_)[pairs.loser]))
    D = X[pairs.winner] - X[pairs.loser]
    psi = -p[:, None] * D + ranker.alpha * ranker.coef_
    H = np.linalg.inv((p * (1 - p) * D.T) @ D / len(D) + ranker.alpha * np.eye(3))
    naive = np.diag(H @ (psi.T @ psi / len(D) ** 2) @ H)
    assert np.all(rows / naive > 4)


def coverage(loss, alpha, n, draw, population, fits=100):
    """Share of nominal 95 % intervals that hold the penalised optimum of the population."""
    truth = fit(closely(loss, alpha), *population).coef_
    hits = []
    for seed in range(fits):
        data = draw(np.random.default_rng([7, seed]), n)
        ends = LinearRanker(loss, alpha=alpha, scale=False).fit(*data).inference(*data).interval()
        hits.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    return np.mean(hits)


@pytest.mark.parametrize(("loss", "alpha"), [("squared_hinge", 1.0), ("logistic", 1e-2), ("logistic_erfc", 1e-4)])
def test_intervals_hold_what_they_are_of(loss, alpha):
    """The short version of `benchmarks/run.py coverage`: 100 simulations of 3 weights each."""
    share = coverage(loss, alpha, 200, sample, sample(np.random.default_rng(8), 20_000))
    assert 0.91 < share < 0.99

    def one(rng, n):
        return sample(rng, 1, n, levels=False)

    share = coverage(loss, alpha, 200, one, sample(np.random.default_rng(9), 1, 20_000, levels=False), fits=80)
    assert 0.90 < share < 0.99


def test_sparse_features_and_features_by_conjugate_gradients(monkeypatch):
    X, y, qid = sample(np.random.default_rng(10))
    ranker = LinearRanker(alpha=0.01).fit(X, y, qid)
    dense, sparse = ranker.inference(X, y, qid), ranker.inference(sp.csr_array(X), y, qid)
    np.testing.assert_allclose(sparse.covariance, dense.covariance, rtol=1e-4, atol=1e-8)
    monkeypatch.setattr("linrank.inference.sandwich.MAX_HESSIAN", 2)
    with pytest.raises(ValueError, match="name those that matter by features="):
        ranker.inference(X, y, qid)
    for given in (X, sp.csr_array(X)):
        some = ranker.inference(given, y, qid, features=[2, 0])
        np.testing.assert_allclose(some.covariance, dense.covariance[np.ix_([2, 0], [2, 0])], rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(some.information, dense.information[[2, 0]], rtol=1e-5)
        assert some.names == ("feature 3", "feature 1")
        with pytest.raises(ValueError, match="leave features= out"):
            some.compare(X[0], X[1])


def test_more_features_than_a_hessian_has_room_for():
    rng = np.random.default_rng(14)
    X = sp.random(300, 1001, 0.02, format="csr", random_state=14)
    y, qid = np.round(X[:, :50] @ rng.standard_normal(50) * 3 + rng.standard_normal(300)), np.arange(300) // 6
    ranker = fit(LinearRanker("logistic", alpha=0.01, scale=False, tol=1e-10), X, y, qid)
    found = ranker.inference(X, y, qid, features=["feature 4", "feature 8"])
    exact = naive_covariance(ranker, X.toarray(), y, qid, qid)[np.ix_([3, 7], [3, 7])]
    np.testing.assert_allclose(found.covariance, exact, rtol=1e-3, atol=1e-3 * exact.max())


def test_it_does_not_depend_on_where_the_fit_stopped():
    X, y, qid = sample(np.random.default_rng(11), 400)
    rough = infer(LinearRanker(alpha=0.01, tol=0.3).fit(X, y, qid), X, y, qid)
    close = infer(LinearRanker(alpha=0.01, tol=1e-10).fit(X, y, qid), X, y, qid)
    assert np.all(np.abs(rough.coef - close.coef) < 0.05 * close.standard_errors)
    assert rough.facts["gap"] <= 1e-3 * 3 * rough.facts["objective"]


def test_a_sum_of_engines_adds_up_and_refuses_a_cluster_in_two_parts():
    X, y, qid = sample(np.random.default_rng(12))
    data = RankingData(X, y, qid)
    loss, w = LOSSES["logistic"], np.ones(3)

    def outer(engine):
        with engine:
            return engine.evaluate(loss, engine.scores(w)).outer("clusters", None, w)

    whole = data.clustered(qid % 7)
    parts = [LocalEngine(part) for part in split_queries(whole, 3)]
    one, three = outer(LocalEngine(whole)), outer(SumEngine(parts))
    assert len(parts) == 3
    assert one.units == three.units == 7
    assert np.array_equal(one.clusters, three.clusters)
    np.testing.assert_allclose(one.total, three.total, rtol=1e-12)
    assert one.largest == pytest.approx(three.largest)
    cut = [whole.part(np.arange(len(y))[half]) for half in (slice(0, 180), slice(180, None))]
    with pytest.raises(ValueError, match="A cluster has queries in two parts of the data"):
        outer(SumEngine([LocalEngine(part) for part in cut]))


def test_rows_never_become_a_second_matrix():
    """Memory beside X: O(m) a task, not m x d."""
    import tracemalloc

    rng = np.random.default_rng(13)
    X = rng.standard_normal((20_000, 60))
    with LocalEngine(RankingData(X, rng.standard_normal(20_000))) as engine:
        point = engine.evaluate(LOSSES["logistic"], engine.scores(np.ones(60) / 8))
        tracemalloc.start()
        point.outer("rows")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 0.5 * X.nbytes
