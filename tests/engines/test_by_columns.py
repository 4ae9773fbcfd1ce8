"""Short rows are read by columns: products are those of X in float32, and the same bits on any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linrank import RankingData
from linrank.engines import LocalEngine, matrix, reading
from linrank.engines.matrix import as_matrix
from linrank.losses import SquaredHinge


def short_rows(m, d, seed=0, dtype=float, entries=3):
    """About so many entries a row, other in each row: none is there twice."""
    rng = np.random.default_rng(seed)
    return sp.csr_array(sp.random_array((m, d), density=entries / d, rng=rng, dtype=dtype, format="csr"))


@pytest.mark.kernels
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 9), st.sampled_from(["f4", "f8"]), st.integers(1, 3))
def test_products_by_columns_are_those_by_rows(seed, m, d, dtype, n_blocks):
    X = short_rows(m, d, seed, dtype, min(3, d))
    rng = np.random.default_rng(seed)
    w, g, out = rng.normal(size=d), rng.normal(size=m), np.full(m, 7.0)
    found = reading.ByColumns(as_matrix(X), min(n_blocks, m))
    total = np.zeros(d)
    for block in range(found.n_blocks):
        found.dot(w, block, out)
        total += found.transpose_dot(g, block)
    rounded = X.toarray().astype(np.float32).astype(float)
    np.testing.assert_allclose(out, rounded @ w, rtol=0, atol=1e-13)
    np.testing.assert_allclose(total, rounded.T @ g, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("m", "d", "entries", "found"),
    [(70_000, 30, 3, True), (70_000, 30, 25, False), (70_000, 9000, 3, False), (900, 30, 3, False)],
    ids=["short rows, long columns", "long rows", "short columns", "few entries"],
)
def test_rows_are_read_by_columns_where_that_pays(m, d, entries, found):
    X = short_rows(m, d, entries=entries)
    assert (reading.ByColumns.of(as_matrix(X)) is not None) == found


def test_numbers_that_float32_does_not_hold_are_left_as_they_are():
    X = short_rows(70_000, 30)
    X.data[5] = 1e-40
    assert reading.ByColumns.of(as_matrix(X)) is None


def test_a_mapped_matrix_is_not_copied_into_memory(tmp_path):
    X = short_rows(70_000, 30)
    np.save(tmp_path / "data.npy", X.data)
    X.data = np.load(tmp_path / "data.npy", mmap_mode="r")
    assert reading.ByColumns.of(matrix.SparseMatrix(X.data, X.indices, X.indptr, X.shape)) is None


def test_hessian_products_for_directions_are_those_of_x_to_float32_on_any_number_of_threads():
    X, rng = short_rows(140_000, 20, entries=5), np.random.default_rng(0)
    y, v = rng.integers(0, 3, 140_000), rng.normal(size=20)
    answers = []
    for n_jobs in (1, 2, 3):
        with LocalEngine(RankingData(X, y, np.arange(140_000) // 50), n_jobs) as engine:
            at = engine.evaluate(SquaredHinge(), engine.scores(0.1 * v))
            answers.append(at.hessian_product(v, exact=False))
            assert isinstance(engine.fast.matrix, reading.ByColumns)
            np.testing.assert_allclose(answers[-1], at.hessian_product(v), rtol=1e-5)
    np.testing.assert_array_equal(answers[1:], answers[:1] * 2)
