"""Counts of non-zeros by column, the check of CSR arrays and dot products against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linrank.kernels import products

pytestmark = pytest.mark.kernels


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9), st.sampled_from(["f4", "f8"]))
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
    outs = np.zeros((3, d))
    products.column_nonzeros(X, v, first, last, 0, d, outs[0])
    products.row_nonzeros(np.ascontiguousarray(X.T), v, 0, d, first, last, outs[1])
    products.csr_nonzeros(stored.data, stored.indices, stored.indptr, v, first, last, outs[2])
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
