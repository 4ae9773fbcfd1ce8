"""Missing values: a policy of the ranker, learnt, applied and kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import linrank
from linrank import DataError, LinearRanker, LinearRankerCV, ParameterError, SGDRanker
from linrank.data import missing as missing_module
from linrank.data.missing import fill_missing, learn_missing
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke

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
@pytest.mark.parametrize(
    "make",
    [LinearRanker, lambda **p: LinearRankerCV(2, cv=3, **p), lambda **p: SGDRanker(random_state=0, **p)],
    ids=["ranker", "cv", "sgd"],
)
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
    for estimator in (LinearRanker(missing="mean"), LinearRankerCV(2, missing="zero"), SGDRanker(missing="mean")):
        with pytest.raises(DataError, match="infinity"):
            estimator.fit(infinite, y, qid)
    with pytest.raises(ValueError, match="4 features"):
        LinearRanker(missing="mean").fit(X, y, qid).predict(X[:, :3])


def halves(problem):
    return [tuple(part[k::2] for part in problem) for k in (0, 1)]


@pytest.mark.parametrize("sparse", [False, True])
def test_zeros_in_a_stream(problem, sparse):
    chunks = [(sp.csr_matrix(X) if sparse else X, y, qid) for X, y, qid in halves(problem)]
    complete = [(fill_missing(X, np.zeros(4)), y, qid) for X, y, qid in chunks]
    ranker = SGDRanker(missing="zero", random_state=0).fit_stream(chunks, passes=2)
    expected = SGDRanker(random_state=0).fit_stream(complete, passes=2)
    assert ranker.coef_.tobytes() == expected.coef_.tobytes()
    assert ranker.fill_.tolist() == [0.0] * 4
    assert ranker.predict(problem[0]).tobytes() == expected.predict(np.nan_to_num(problem[0])).tobytes()
    with pytest.raises(DataError, match="NaN"):
        SGDRanker().partial_fit(*chunks[0])


def test_a_stream_goes_on_with_the_means_of_a_fit(problem):
    first, second = halves(problem)
    fill = naive(first[0], "mean")[1]
    ranker, expected = (SGDRanker(missing=policy, random_state=0, n_steps=500) for policy in ("mean", "error"))
    ranker.fit(*first).partial_fit(*second)
    expected.fit(naive_row(first[0], fill), *first[1:]).partial_fit(naive_row(second[0], fill), *second[1:])
    np.testing.assert_allclose(ranker.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(ranker.fill_, fill)
    with pytest.raises(ValueError, match="4 features"):
        ranker.partial_fit(second[0][:, :3], *second[1:])
    for begin in (lambda r: r.partial_fit(*first), lambda r: r.fit_stream([first])):
        with pytest.raises(ParameterError, match="missing='mean' needs the means of a fit"):
            begin(SGDRanker(missing="mean"))


def test_a_checkpoint_keeps_the_means(problem, tmp_path):
    first, second = halves(problem)
    options = {"missing": "mean", "random_state": 0, "n_steps": 500, "warm_start": True}
    whole = SGDRanker(**options).fit(*first).fit_stream([first, second])

    def torn():
        yield first
        raise KeyboardInterrupt

    path = tmp_path / "run.npz"
    with pytest.raises(KeyboardInterrupt):
        SGDRanker(**options).fit(*first).fit_stream(torn(), checkpoint=path)
    resumed = SGDRanker(**options).fit_stream([first, second], checkpoint=path)
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    assert resumed.fill_.tobytes() == whole.fill_.tobytes()
