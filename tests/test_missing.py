"""Missing values: a policy of the ranker, learnt, applied and kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import linrank
from linrank import DataError, LinearRanker, LinearRankerCV, ParameterError
from linrank import _missing as missing_module
from linrank._missing import fill_missing, learn_missing
from linrank.testing import make_ranking

VALUES = st.one_of(st.just(np.nan), st.floats(-100, 100), st.sampled_from([0.0, 1.0]))


def naive(X, policy):
    """Column by column."""
    fill, X = [], X.copy()
    for column in X.T:
        known = column[~np.isnan(column)]
        fill.append(known.mean() if policy == "mean" and known.size else 0.0)
        column[np.isnan(column)] = fill[-1]
    return X, np.array(fill)


@given(
    X=arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=VALUES),
    policy=st.sampled_from(["zero", "mean"]),
    sparse=st.booleans(),
    pieces=st.booleans(),
)
def test_equals_its_definition(X, policy, sparse, pieces):
    before = X.copy()
    given = sp.csr_matrix(X) if sparse else X
    with pytest.MonkeyPatch.context() as patch:
        if pieces:
            patch.setattr(missing_module, "PIECE_ENTRIES", 2)
        filled, fill = learn_missing(given, policy)
    expected, expected_fill = naive(X, policy)
    filled = filled.toarray() if sparse else filled
    np.testing.assert_allclose(fill, expected_fill, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(filled, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(X, before)


def test_complete_data_is_not_copied():
    X = np.eye(3)
    assert fill_missing(X, np.zeros(3)) is X
    S = sp.csr_matrix(X)
    assert np.shares_memory(fill_missing(S, np.zeros(3)).data, S.data)


def test_huge_values_have_a_mean():
    X = np.array([[1e308], [1e308], [1e308], [np.nan]])
    assert learn_missing(X, "mean")[1][0] == pytest.approx(1e308)
    assert learn_missing(sp.csr_matrix(X), "mean")[1][0] == pytest.approx(1e308)


@pytest.fixture(scope="module")
def problem():
    X, y, qid = make_ranking(300, 4, 10, 4, seed=3)
    rng = np.random.default_rng(0)
    return np.where(rng.random(X.shape) < 0.1, np.nan, X + np.array([1, 0, 2, 0])), y, qid


@pytest.mark.parametrize("policy", ["zero", "mean"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("make", [LinearRanker, lambda **p: LinearRankerCV(2, cv=3, **p)], ids=["ranker", "cv"])
def test_a_ranker_learns_it_applies_it_and_keeps_it(problem, policy, sparse, make, tmp_path):
    X, y, qid = problem
    complete, fill = naive(X, policy)
    given = sp.csr_matrix(X) if sparse else X
    ranker = make(missing=policy).fit(given, y, qid)
    expected = make().fit(sp.csr_matrix(complete) if sparse else complete, y, qid)
    np.testing.assert_allclose(ranker.coef_, expected.coef_, rtol=1e-6)
    np.testing.assert_allclose(ranker.fill_, fill, rtol=1e-12)
    single = X[:1].copy()
    single[0, 2] = np.nan  # at prediction it is the mean of the rows fitted to
    np.testing.assert_allclose(ranker.predict(single), naive_row(single, fill) @ ranker.coef_)
    assert ranker.score(given, y, qid) > 0.7
    linrank.save(ranker, tmp_path / "m.json")
    loaded = linrank.load(tmp_path / "m.json")
    assert loaded.missing == policy
    assert loaded.predict(given).tobytes() == ranker.predict(given).tobytes()


def naive_row(row, fill):
    return np.where(np.isnan(row), fill, row)


def test_an_error_is_the_default(problem):
    X, y, qid = problem
    with pytest.raises(DataError, match="NaN"):
        LinearRanker().fit(X, y, qid)
    ranker = LinearRanker().fit(np.nan_to_num(X), y, qid)
    assert ranker.fill_ is None
    with pytest.raises(DataError, match="NaN"):
        ranker.predict(X)
    with pytest.raises(ParameterError, match="missing='median'"):
        LinearRanker(missing="median").fit(X, y, qid)


def test_infinity_stays_an_error_and_so_does_a_wrong_width(problem):
    X, y, qid = problem
    infinite = X.copy()
    infinite[3, 1] = np.inf
    for estimator in (LinearRanker(missing="mean"), LinearRankerCV(2, missing="zero")):
        with pytest.raises(DataError, match="infinity"):
            estimator.fit(infinite, y, qid)
    with pytest.raises(ValueError, match="4 features"):
        LinearRanker(missing="mean").fit(X, y, qid).predict(X[:, :3])
