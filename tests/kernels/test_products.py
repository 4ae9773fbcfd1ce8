"""Products with dense and CSR arrays of either precision, sums over columns, the check of CSR arrays: against numpy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linrank.kernels import products

pytestmark = pytest.mark.kernels

DTYPES = st.sampled_from(["f4", "f8"])
INDICES = st.sampled_from(["i4", "i8"])


def sparse(rng, n, d, dtype="f8", indices="i4"):
    """Some rows in CSR: the matrix in float64, its three arrays, and a range of rows."""
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.random())).astype(dtype)
    stored = sp.csr_array(X)
    arrays = stored.data, stored.indices.astype(indices), stored.indptr.astype(indices)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    return X.astype(float), arrays, first, last


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 60), DTYPES, INDICES)
def test_sparse_products_add_up_in_float64(seed, n, d, dtype, indices):
    """Up to 60 entries a row: several sums at once, and some entries left over."""
    rng = np.random.default_rng(seed)
    X, arrays, first, last = sparse(rng, n, d, dtype, indices)
    w, g = rng.normal(size=d), rng.normal(size=n) * (rng.random(n) < 0.7)
    out, back = np.full(n, 7.0), np.ones(d)
    products.csr_dot(*arrays, w, first, last, out)
    products.csr_transpose_dot(*arrays, g, first, last, back)
    np.testing.assert_allclose(out[first:last], X[first:last] @ w, rtol=0, atol=1e-14 * d)
    assert np.all(out[:first] == 7.0)  # rows beside the range are left as they were
    assert np.all(out[last:] == 7.0)
    np.testing.assert_allclose(back - 1.0, X[first:last].T @ g[first:last], rtol=0, atol=1e-14 * n)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 20), DTYPES)
def test_dense_products_add_up_in_float64(seed, n, d, dtype):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)).astype(dtype)
    x, y = rng.normal(size=d), rng.normal(size=n)
    first, last = sorted(rng.integers(0, n + 1, 2).tolist())
    left, right = sorted(rng.integers(0, d + 1, 2).tolist())
    part = A.astype(float)[first:last, left:right]
    out, back = np.full(n, 7.0), np.ones(d)
    products.row_sums(A, x, first, last, left, right, out)
    products.column_sums(A, y, first, last, left, right, back)
    expected = np.full(n, 7.0), np.ones(d)
    expected[0][first:last] = part @ x[left:right]
    expected[1][left:right] += part.T @ y[first:last]
    np.testing.assert_allclose(out, expected[0], rtol=0, atol=1e-14 * d)
    np.testing.assert_allclose(back, expected[1], rtol=0, atol=1e-14 * (n + 1))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9), DTYPES, INDICES)
def test_sums_and_maxima_over_the_columns_of_sparse_rows(seed, n, d, dtype, indices):
    rng = np.random.default_rng(seed)
    X, arrays, first, last = sparse(rng, n, d, dtype, indices)
    v, mean, unit = rng.integers(0, 5, n).astype(float), rng.normal(size=d), 0.5 + rng.random(d)
    table, look = np.column_stack([mean, 1.0 / unit, np.zeros((d, 2))]), np.full((d, 4), 0.1)
    products.csr_squared_deviations(*arrays, v, first, last, table)
    out, seen = table[:, 2:].T
    products.csr_first_look(*arrays, v, v / 10, first, last, look)
    square = products.csr_largest_square(*arrays, unit, first, last)
    rows, weight = X[first:last], v[first:last]
    np.testing.assert_allclose(out, weight @ np.where(rows != 0, ((rows - mean) / unit) ** 2, 0.0), rtol=1e-12)
    np.testing.assert_array_equal(seen, weight @ (rows != 0))
    np.testing.assert_array_equal(look[:, 0], np.abs(rows).max(axis=0, initial=0.1))
    np.testing.assert_allclose(look[:, 1], 0.1 + weight @ (rows != 0), rtol=1e-14)
    np.testing.assert_allclose(look[:, 2], 0.1 + weight / 10 @ rows, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(look[:, 3], 0.1 + weight / 10 @ rows**2, rtol=1e-12)
    assert square == pytest.approx(((rows / unit) ** 2).sum(axis=1).max(initial=0.0), rel=1e-12)


@given(st.lists(st.sampled_from([0.0, 1.5, -3e29, 2e30, 1e-31, -2e-30]), max_size=4))
def test_entries_are_rounded_unless_more_than_digits_would_be_lost(entries):
    data, out = np.array(entries), np.full(len(entries), np.nan, dtype=np.float32)
    assert products.round_entries(data, out) == (not {2e30, 1e-31} & set(entries))
    np.testing.assert_array_equal(out, data.astype(np.float32))


@given(st.lists(st.lists(st.integers(0, 4), max_size=5), min_size=1, max_size=5), INDICES)
def test_a_column_named_twice_in_a_row_is_found(rows, indices):
    stored = np.array([j for row in rows for j in row], dtype=indices)
    indptr = np.cumsum([0, *map(len, rows)]).astype(indices)
    twice = any(len(set(row)) < len(row) for row in rows)
    assert products.has_duplicates(stored, indptr, np.full(5, -1)) == twice


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9), DTYPES)
def test_weights_of_the_rows_that_are_not_zero(seed, n, d, dtype):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)).astype(dtype)
    v = rng.integers(0, 5, n).astype(float)
    first, last = sorted(rng.integers(0, n + 1, 2))
    expected = v[first:last] @ (X[first:last] != 0)
    stored = sp.csr_array(X)
    if stored.nnz:
        stored.data[0] = 0.0  # a stored zero is none
        X = stored.toarray()
        expected = v[first:last] @ (X[first:last] != 0)
    outs, look = np.zeros((3, d)), np.zeros((d, 4))
    products.column_nonzeros(X, v, first, last, 0, d, outs[0])
    products.row_nonzeros(np.ascontiguousarray(X.T), v, 0, d, first, last, outs[1])
    products.csr_first_look(stored.data, stored.indices, stored.indptr, v, v, first, last, look)
    outs[2] = look[:, 1]
    for out in outs:
        np.testing.assert_array_equal(out, expected)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_a_sound_csr_matrix_stays_within_its_data_and_its_columns(seed, n, d):
    rng = np.random.default_rng(seed)
    X = sp.csr_array((rng.random((n, d)) < 0.5).astype(float))
    assert products.csr_is_sound(X.data, X.indices, X.indptr, d)
    indices, indptr = X.indices.copy(), X.indptr.copy()
    part = indptr if rng.random() < 0.5 or not indices.size else indices
    part[rng.integers(part.size)] += rng.choice([-(d + 1), d + 1, X.nnz + 1])
    sound = indptr[0] == 0 and indptr[-1] <= X.nnz and all(indptr[i] <= indptr[i + 1] for i in range(n))
    sound = sound and all(0 <= j < d for j in indices[: indptr[-1]])
    assert products.csr_is_sound(X.data, indices, indptr, d) == sound


@given(st.integers(0, 2**32 - 1), st.integers(0, 40))
def test_slope_and_size_are_dot_products(seed, n):
    g, s, d = np.random.default_rng(seed).normal(size=(3, n))
    slope, size = products.slope_and_size(g, s, d)
    assert slope == pytest.approx(sum(a * b for a, b in zip(g, d, strict=True)), rel=1e-12, abs=1e-13)
    assert size == pytest.approx(sum(abs(a * b) for a, b in zip(g, s, strict=True)), rel=1e-12)
    assert products.slope_and_size(g, s, None) == (0.0, size)
