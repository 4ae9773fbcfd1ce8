"""Why is A above B?"""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linrank import DataError, LinearRanker, SGDRanker
from linrank.testing import make_ranking


@pytest.fixture(scope="module")
def problem():
    return make_ranking(n_rows=100, n_features=4, n_queries=4, n_levels=3, seed=1)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 30))
def test_contributions_are_exact_and_sorted(seed, d):
    rng = np.random.default_rng(seed)
    ranker = LinearRanker()
    ranker.coef_, ranker.n_features_in_, ranker.fill_ = rng.integers(-2, 3, d) / 3, d, None
    a, b = rng.integers(-2, 3, (2, d)) / 7
    found = ranker.explain(a, b)
    assert np.array_equal(found.contributions, (ranker.coef_ * (a - b))[found.features])
    assert np.all(np.diff(np.abs(found.contributions)) <= 0)
    assert found.difference == math.fsum(ranker.coef_ * (a - b))
    assert found.names == tuple(f"feature {j + 1}" for j in found.features)
    for values, row in ((found.a, a), (found.b, b), (found.weights, ranker.coef_)):
        assert np.array_equal(values, row[found.features])
    back = ranker.explain(b, a)
    assert back.difference == -found.difference
    assert sorted(found.features) == list(range(d))


def test_rows_of_any_kind(problem):
    X, y, qid = problem
    ranker = LinearRanker().fit(X, y, qid)
    expected = ranker.explain(X[0], X[1])
    np.testing.assert_allclose(expected.difference, ranker.predict(X[:1])[0] - ranker.predict(X[1:2])[0], rtol=1e-9)
    sparse = sp.csr_matrix(X)
    for a, b in [
        (X[:1], X[1:2]),
        (X[0].tolist(), X[1].tolist()),
        (sparse[0], sparse[1]),
        (sp.csr_array(X)[0], sp.csr_array(X)[1]),
        (X[0], sparse[1]),
    ]:
        assert np.array_equal(ranker.explain(a, b).contributions, expected.contributions)


def test_rows_of_dataframes_bring_names(problem):
    X, y, qid = problem
    names = ["bm25", "pagerank", "age", "a name that is much too long to be shown in a column as it is"]
    frame = pd.DataFrame(X, columns=names)
    ranker = LinearRanker().fit(frame, y, qid)
    found = ranker.explain(frame.iloc[0], frame.iloc[1])
    assert sorted(found.names) == sorted(names)
    assert np.array_equal(found.contributions, ranker.explain(frame.iloc[[0]], frame.iloc[[1]]).contributions)
    assert all(len(line) <= 80 for line in str(found).splitlines())
    with pytest.raises(ValueError, match="feature names"):
        ranker.explain(frame.iloc[0].rename({"bm25": "other"}), frame.iloc[1])


def test_missing_values_are_replaced_as_in_predict(problem):
    X, y, qid = problem
    ranker = LinearRanker(missing="mean").fit(X, y, qid)
    hole = X[0].copy()
    hole[2] = np.nan
    filled = np.where(np.isnan(hole), ranker.fill_, hole)
    assert ranker.explain(hole, X[1]).difference == ranker.explain(filled, X[1]).difference
    with pytest.raises(DataError, match="NaN"):
        LinearRanker().fit(X, y, qid).explain(hole, X[1])


def test_the_table(problem):
    X, y, qid = problem
    ranker = SGDRanker(n_steps=1000, random_state=0).fit(X, y, qid)
    found = ranker.explain(X[0], X[1])
    lines = str(found).splitlines()
    assert lines[0].startswith(f"a is {'above' if found.difference > 0 else 'below'} b: the scores differ by")
    assert len(lines) == 6
    assert found.names[0] in lines[2]
    short = found.table(2).splitlines()
    assert short[-1].startswith("2 more")
    assert float(short[-1].split()[-1]) == pytest.approx(found.contributions[2:].sum(), rel=1e-3)
    assert "beside" in str(ranker.explain(X[0], X[0]))


def test_wrong_rows(problem):
    X, y, qid = problem
    ranker = LinearRanker().fit(X, y, qid)
    with pytest.raises(DataError, match="one each"):
        ranker.explain(X[:2], X[1])
    with pytest.raises(ValueError, match="3 features"):
        ranker.explain(X[0, :3], X[1])
