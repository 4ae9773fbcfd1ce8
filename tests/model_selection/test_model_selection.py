"""Splits by query and cross-validation without metadata routing."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from interrupts import interrupting, wait_for_threads
from linrank import DataError, LinearRanker, LinearRankerCV, ParameterError, labels, metrics
from linrank.model_selection import QueryKFold, QueryShuffleSplit, cross_validate
from linrank.testing import enumerate_pairs, make_ranking

pytestmark = pytest.mark.smoke

SPLITTERS = [
    QueryKFold(3),
    QueryKFold(3, balance="pairs"),
    QueryKFold(3, shuffle=True, random_state=1),
    QueryShuffleSplit(4, 0.3, random_state=2),
    QueryShuffleSplit(4, 0.3, balance="pairs", random_state=2),
]


@given(seed=st.integers(0, 2**32 - 1), which=st.integers(0, len(SPLITTERS) - 1))
def test_no_query_is_ever_split(seed, which):
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.r_[:7, rng.integers(0, 7, 50)])
    y, folds = rng.integers(0, 3, qid.size), SPLITTERS[which]
    parts = list(folds.split(np.zeros((qid.size, 2)), y, qid=qid))
    assert len(parts) == folds.get_n_splits()
    for train, test in parts:
        assert test.size
        assert train.size
        assert not set(qid[train]) & set(qid[test])
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(qid.size))
    if isinstance(folds, QueryKFold):
        np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(qid.size))


@pytest.fixture(scope="module")
def uneven():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(60), rng.integers(2, 60, 60))
    y = rng.integers(0, 3, qid.size)
    y[qid < 20] = 0  # queries without pairs
    return y, qid


def test_what_is_balanced(uneven):
    y, qid = uneven
    X = np.zeros((qid.size, 1))

    def pairs(rows):
        return enumerate_pairs(y[rows], qid[rows]).c.size

    for balance, measure in (("rows", len), ("pairs", pairs)):
        for shuffle in (False, True):
            folds = QueryKFold(5, balance=balance, shuffle=shuffle, random_state=0).split(X, y, qid=qid)
            sizes = [measure(test) for _, test in folds]
            assert max(sizes) < (1.3 if shuffle else 1.05) * min(sizes), (balance, shuffle)
    for _, test in QueryShuffleSplit(20, 0.25, random_state=0).split(X, y, qid=qid):
        assert abs(test.size / qid.size - 0.25) < 0.03


def test_seeds(uneven):
    y, qid = uneven
    X = np.zeros((qid.size, 1))
    for make in (lambda s: QueryKFold(3, shuffle=True, random_state=s), lambda s: QueryShuffleSplit(3, random_state=s)):
        first, again, other = ([test.tolist() for _, test in make(seed).split(X, y, qid)] for seed in (0, 0, 1))
        assert first == again != other


def test_queries_from_labels_groups_and_routing(uneven):
    y, qid = uneven
    X = np.zeros((qid.size, 1))
    tests = [
        [test.tolist() for _, test in QueryKFold(3).split(X, *arguments)]
        for arguments in ((y, qid), (labels(y, qid),), (y, None, qid))
    ]
    assert tests[0] == tests[1] == tests[2]
    X, y, qid = make_ranking(300, 3, 12, 3)
    with config_context(enable_metadata_routing=True):
        GridSearchCV(LinearRanker(), {"alpha": [0.1]}, cv=QueryKFold(3)).fit(X, y, qid=qid)


@pytest.mark.parametrize(
    ("folds", "arguments", "error", "text"),
    [
        (QueryKFold(3), {}, DataError, "no queries to split by"),
        (QueryKFold(3), {"qid": [1, 1, 1, 1]}, DataError, "one query"),
        (QueryKFold(3), {"qid": [1, 1, 2, 2]}, DataError, "use 2 to 2 folds"),
        (QueryKFold(2, balance="pairs"), {"qid": [1, 1, 2, 2]}, DataError, "needs y"),
        (QueryKFold(2, balance="size"), {"qid": [1, 1, 2, 2]}, ParameterError, "balance='size'"),
        (QueryKFold(0), {"qid": [1, 1, 2, 2]}, ParameterError, "n_splits=0"),
        (QueryShuffleSplit(2, 1.5), {"qid": [1, 1, 2, 2]}, ParameterError, "test_size=1.5"),
    ],
)
def test_what_cannot_be_split_is_named(folds, arguments, error, text):
    with pytest.raises(error, match=text):
        list(folds.split(np.zeros((4, 1)), **arguments))


@pytest.fixture(scope="module")
def problem():
    return make_ranking(400, 4, 20, 4, noise=2.0, seed=1)


def test_cross_validate_is_what_one_does_by_hand(problem):
    X, y, qid = problem
    names = ["ndcg@5", "map", "pairwise_error"]
    found = cross_validate(LinearRanker(), X, y, qid, metric=names, cv=QueryKFold(3), n_jobs=2, return_estimator=True)
    for f, (a, b) in enumerate(QueryKFold(3).split(X, y, qid)):
        ranker = LinearRanker().fit(X[a], y[a], qid[a])
        np.testing.assert_array_equal(found["estimator"][f].coef_, ranker.coef_)
        for name in names:
            value = metrics.parse(name)(y[b], ranker.predict(X[b]), qid[b])
            assert found[f"test_{name}"][f] == pytest.approx(value, abs=1e-12)
    assert found["fit_time"].shape == found["score_time"].shape == (3,)


@pytest.mark.parametrize("kind", ["labels", "frame", "sparse", "lists", "text", "pipeline"])
def test_cross_validate_takes_data_as_it_comes(problem, kind):
    X, y, qid = problem
    plain = LinearRanker(tol=1e-9)  # dense and sparse fits end elsewhere within a gap
    ranker = make_pipeline(StandardScaler(), plain) if kind == "pipeline" else plain
    right = cross_validate(plain, X, y, qid, metric="map", cv=4)["test_score"]
    given = {
        "labels": (X, labels(y, qid)),
        "frame": (pd.DataFrame(X), pd.Series(y), pd.Series(qid)),
        "sparse": (sp.csr_array(X), y, qid),
        "lists": (X.tolist(), y.tolist(), qid.tolist()),
        "text": (X, y, [f"{q:03d}" for q in qid]),
        "pipeline": (X, y, qid),
    }[kind]
    found = cross_validate(ranker, *given, metric="map", cv=4)["test_score"]
    np.testing.assert_allclose(found, right, atol=1e-12 if kind != "pipeline" else 1e-3)


def test_cross_validate_weights_presets_and_single_queries(problem):
    X, y, qid = problem
    weight = np.random.default_rng(0).random(y.size)
    by_row = cross_validate(LinearRanker(), X, y, qid, sample_weight=weight, query_weight=1.0 + qid)
    by_name = cross_validate(
        LinearRanker(), X, y, qid, sample_weight=weight, query_weight={int(q): 1.0 + q for q in np.unique(qid)}
    )
    np.testing.assert_array_equal(by_row["test_score"], by_name["test_score"])
    a, b = (cross_validate(LinearRanker(), X, y, qid, metric="ndcg", preset=p)["test_score"] for p in (None, "sklearn"))
    assert np.all(a != b)
    rows = cross_validate(LinearRanker(), X, y, cv=KFold(4))["test_score"]
    assert rows.shape == (4,)
    assert cross_validate(LinearRanker(), X, y)["test_score"].shape == (5,)

    def own(y, scores, qid):
        return metrics.ndcg(y, scores, qid)

    found = cross_validate(LinearRanker(), X, y, qid, metric=own)["test_score"]
    np.testing.assert_array_equal(found, cross_validate(LinearRanker(), X, y, qid, metric="ndcg")["test_score"])


@pytest.mark.parametrize("metric", ["ndcg@5", "map", "auc", "kendall_tau", "pairwise_error"])
def test_linear_ranker_cv_by_any_metric(problem, metric):
    X, y, qid = problem
    y = y > 1
    alphas = np.array([10.0, 1e-2, 1e-4])
    ranker = LinearRankerCV(alphas, cv=QueryKFold(3), metric=metric).fit(X, labels(y, qid))
    mean = ranker.cv_results_["mean_score"]
    for k, alpha in enumerate(alphas):
        found = cross_validate(LinearRanker(alpha=alpha), X, y, qid, metric=metric, cv=QueryKFold(3))["test_score"]
        assert mean[k] == pytest.approx(found.mean(), abs=5e-3)
    best = np.argmin(mean) if metric == "pairwise_error" else np.argmax(mean)
    assert ranker.alpha_ == alphas[best]
    assert ranker.fitted_with_qid_


def test_linear_ranker_cv_says_what_it_cannot_judge(problem):
    X, y, qid = problem
    with pytest.raises(DataError, match="needs y"):
        LinearRankerCV(2, metric="ndcg").fit(
            X, None, qid, pairs=[(i, j) for i in range(40) for j in range(i) if qid[i] == qid[j]]
        )
    with pytest.raises(DataError, match="not defined in any fold"):
        LinearRankerCV(2, metric="map").fit(X, y - 10, qid)


def test_progress_over_folds(problem, capsys):
    LinearRankerCV(4, cv=3, verbose=1).fit(*problem)
    err = capsys.readouterr().err
    assert "3 folds x 4 alphas: 12 of 12 fits" in " ".join(err.split())


def test_control_c_does_not_wait_for_the_other_folds(monkeypatch):
    done = interrupting(monkeypatch, LinearRanker, "fit")
    with pytest.raises(KeyboardInterrupt):
        cross_validate(LinearRanker(), *make_ranking(300, 3, 20, 3))
    wait_for_threads()
    assert (done.begun, done.ended) == (1, 0)
