"""QueryScaler against loops over queries, in pipelines, and under scikit-learn's checks."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from linrank import DataError, LinearRanker, ParameterError, QueryScaler, labels, metrics
from linrank.data.scaling import METHODS
from linrank.model_selection import QueryKFold, cross_validate
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@parametrize_with_checks(
    [QueryScaler(method, shift=shift, one_query=True) for method in METHODS for shift in (True, False)]
)
def test_scikit_learn(estimator, check):
    check(estimator)


def by_loops(X, qid, method, shift):
    out = np.empty_like(X)
    for q in np.unique(qid):
        for j in range(X.shape[1]):
            x = X[qid == q, j]
            low, size = (x.min(), np.ptp(x)) if method == "minmax" else (x.mean(), x.std())
            out[qid == q, j] = (x - low * shift) / (size if np.ptp(x) > 0 else 1)
    return out


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    X = rng.choice([0.0, 0.0, 1.0, 2.5, 7.0], (n, d)) if draw(st.booleans()) else rng.standard_normal((n, d)) + 5
    return X, rng.integers(0, 4, n)


@given(table=tables(), method=st.sampled_from(["minmax", "standard"]), shift=st.booleans())
def test_equals_loops_over_queries(table, method, shift):
    X, qid = table
    scaler = QueryScaler(method, shift=shift)
    right = by_loops(X, qid, method, shift)
    np.testing.assert_allclose(scaler.fit_transform(X, qid=qid), right, atol=1e-12)
    np.testing.assert_allclose(scaler.fit(X, labels(qid, qid)).transform(X, qid), right, atol=1e-12)
    if shift and method == "standard":
        return
    if shift:
        X = np.abs(X)
    for matrix in (sp.csr_matrix(X), sp.csr_array(X), sp.coo_array(X)):
        found = scaler.fit_transform(matrix, qid=qid)
        assert sp.issparse(found)
        np.testing.assert_allclose(found.toarray(), by_loops(X, qid, method, shift), atol=1e-12)


@pytest.mark.parametrize("method", ["minmax", "standard"])
def test_a_query_depends_on_its_own_rows_only(method):
    X, _, qid = make_ranking(60, 3, 5)
    whole = QueryScaler(method).fit_transform(X, qid=qid)
    here = qid == 2
    alone = QueryScaler(method).fit(X, qid=qid).transform(X[here], qid[here])
    np.testing.assert_allclose(whole[here], alone, rtol=1e-13)
    moved = QueryScaler(method).fit_transform(X + 100 * qid[:, None], qid=qid)
    np.testing.assert_allclose(moved, whole, atol=1e-10)


def test_shift_changes_no_ranking():
    X, y, qid = make_ranking(300, 3, 10, 4)
    a, b = (QueryScaler(shift=shift).fit_transform(X, qid=qid) for shift in (True, False))
    w = LinearRanker(alpha=1e-3, scale=False).fit(a, y, qid).coef_
    np.testing.assert_allclose(w, LinearRanker(alpha=1e-3, scale=False).fit(b, y, qid).coef_, rtol=1e-6)


def test_queries_that_do_not_arrive_are_asked_for():
    X, y, qid = make_ranking(60, 3, 5)
    with pytest.raises(DataError, match=r"no qid arrived.*enable_metadata_routing.*one_query=True"):
        make_pipeline(QueryScaler(), LinearRanker()).fit(X, y, linearranker__qid=qid)
    for call in (QueryScaler().fit, QueryScaler().fit_transform):
        with pytest.raises(DataError, match="no qid arrived"):
            call(X, y)
    with pytest.raises(ParameterError, match="one_query='yes'"):
        QueryScaler(one_query="yes").fit(X)


def test_told_that_all_rows_are_one_query_it_is_an_ordinary_scaler():
    X, _, _ = make_ranking(60, 3, 5)
    scaler = QueryScaler(one_query=True).fit(X)
    np.testing.assert_allclose(scaler.transform(X[:5]), ((X - X.min(0)) / np.ptp(X, axis=0))[:5])
    np.testing.assert_allclose(scaler.scale_, np.ptp(X, axis=0))


def test_what_it_refuses():
    X, _, qid = make_ranking(30, 2, 3)
    with pytest.raises(ParameterError, match=r"QueryScaler\(shift=False\)"):
        QueryScaler().fit(sp.csr_array(X), qid=qid).transform(sp.csr_array(X), qid)
    with pytest.raises(ParameterError, match=r"QueryScaler\(shift=False\)"):
        QueryScaler("standard", one_query=True).fit(sp.csr_array(abs(X)))
    with pytest.raises(DataError, match="fitted with qid"):
        QueryScaler().fit(X, qid=qid).transform(X)
    with pytest.raises(DataError, match="fitted without qid"):
        QueryScaler(one_query=True).fit(X).transform(X, qid)
    with pytest.raises(ParameterError, match="method='rank'"):
        QueryScaler("rank").fit(X)
    with pytest.raises(ParameterError, match="shift='no'"):
        QueryScaler(shift="no").fit(X)


def test_types_are_kept():
    X, _, qid = make_ranking(30, 2, 3)
    assert QueryScaler().fit_transform(X.astype(np.float32), qid=qid).dtype == np.float32
    assert QueryScaler(shift=False).fit_transform(sp.csr_array(X.astype(np.float32)), qid=qid).dtype == np.float32
    frame = pd.DataFrame(X, columns=["bm25", "age"])
    scaler = QueryScaler().set_output(transform="pandas").fit(frame, qid=qid)
    assert list(scaler.transform(frame, qid=qid).columns) == ["bm25", "age"]


def test_in_a_pipeline_with_routing_and_in_our_cross_validation():
    X, y, qid = make_ranking(400, 4, 20, 4, noise=2.0, seed=1)
    X = X * np.random.default_rng(0).lognormal(0, 2, 20)[qid][:, None]  # each query on a scale of its own
    pipeline = make_pipeline(QueryScaler(), LinearRanker(alpha=1e-3, scale=True))
    folds = QueryKFold(4)
    values = []
    for a, b in folds.split(X, y, qid):
        scaled = QueryScaler().fit_transform(X, qid=qid)
        ranker = LinearRanker(alpha=1e-3, scale=True).fit(scaled[a], y[a], qid[a])
        values.append(metrics.ndcg(y[b], ranker.predict(scaled[b]), qid[b], k=5))
    ours = cross_validate(pipeline, X, y, qid, metric="ndcg@5", cv=folds)["test_score"]
    np.testing.assert_allclose(ours, values, rtol=1e-9)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(pipeline, {"linearranker__alpha": [1e-3]}, cv=folds, scoring=metrics.scorer("ndcg@5"))
        search.fit(X, y, qid=qid)
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(values))
        fitted = pipeline.fit(X, y, qid=qid)
        assert fitted.score(X, y, qid=qid) > LinearRanker(alpha=1e-3, scale=True).fit(X, y, qid).score(X, y, qid)
