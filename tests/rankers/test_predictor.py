"""A score depends on its row alone: not on the rows around it, nor on how X is laid out in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linrank import LinearRanker, SGDRanker


def fitted(d: int, seed: int = 0) -> LinearRanker:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(max(20, d), d))
    return LinearRanker(max_iter=5, tol=0.5).fit(X, X @ rng.normal(size=d))


def layouts(X):
    """X as it may come: rows or columns together, sparse, sparse with unsorted columns, strided."""
    unsorted = sp.csr_matrix(X)
    for i in range(unsorted.shape[0]):
        part = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
        unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1], unsorted.data[part][::-1]
    unsorted.has_sorted_indices = False
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "csr": sp.csr_matrix(X),
        "csc": sp.csc_array(X),
        "unsorted": unsorted,
    }


@pytest.mark.smoke
@pytest.mark.parametrize("d", [1, 5, 7, 8, 46, 137])
def test_identical_rows_get_identical_scores_wherever_they_stand(d):
    ranker = fitted(d)
    row = np.random.default_rng(1).normal(size=d)
    for n in (1, 2, 3, 7, 1001, 2500):
        for name, X in layouts(np.tile(row, (n, 1))).items():
            scores = ranker.predict(X)
            assert np.all(scores == scores[0]), (n, name)
            assert scores[0] == ranker.predict(row[None])[0], (n, name)


@pytest.mark.smoke
def test_equal_rows_keep_their_input_order_in_a_ranking():
    ranker, rows = fitted(46), np.random.default_rng(2).normal(size=(8, 46))
    for row in rows:
        assert np.array_equal(ranker.rank(np.tile(row, (1003, 1))), np.arange(1, 1004))


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 60), st.sampled_from([0.0, 0.5, 0.95]))
def test_scores_do_not_depend_on_the_layout_of_x(seed, n, d, zeros):
    rng = np.random.default_rng(seed)
    ranker = fitted(d)
    X = rng.normal(size=(n, d)).astype(np.float32) * (rng.random((n, d)) >= zeros)
    expected = ranker.predict(X.astype(np.float64))
    for dtype in (np.float32, np.float64):
        for name, given_X in layouts(X.astype(dtype)).items():
            assert np.array_equal(ranker.predict(given_X), expected), (dtype, name)
    one_by_one = [ranker.predict(X[i : i + 1])[0] for i in range(n)]
    assert np.array_equal(one_by_one, expected)


def test_large_matrices_score_as_their_rows_do():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40_000, 40)).astype(np.float32)
    ranker = SGDRanker(n_steps=100, random_state=0).fit(X[:100], rng.normal(size=100))
    expected = np.concatenate([ranker.predict(part) for part in np.array_split(X, 1000)])
    for name, given_X in layouts(X).items():
        assert np.array_equal(ranker.predict(given_X), expected), name
    np.testing.assert_allclose(expected, X.astype(np.float64) @ ranker.coef_, rtol=1e-12, atol=1e-12)
