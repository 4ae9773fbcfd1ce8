"""Equal rows are read once: which they are, and products that are those of all rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linrank import RankingData
from linrank.engines import LocalEngine, reading
from linrank.engines.matrix import as_matrix
from linrank.losses import SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Newton
from linrank.testing import make_ranking


def repeated(kinds, m, d=9, seed=0, dtype=float, index=np.int32):
    """A CSR matrix of m rows of so many kinds, some of them empty, and the kind of each."""
    rng = np.random.default_rng(seed)
    F = (rng.integers(-2, 3, (kinds, d)) * (rng.random((kinds, d)) < 0.4)).astype(dtype)
    kind = rng.integers(0, kinds, m)
    X = sp.csr_array(F[kind])
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X, F[kind]


@pytest.mark.kernels
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 40), st.sampled_from(["f4", "f8"]))
def test_rows_are_numbered_by_their_entries(seed, kinds, m, dtype):
    """Against a set of tuples; rows that differ in a value, a column or their length are told apart."""
    X, dense = repeated(kinds, m, 4, seed, dtype)
    first, number = reading._number(as_matrix(X), 1, m, m)
    seen = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in dense.tolist()]
    np.testing.assert_array_equal(number, expected)
    np.testing.assert_array_equal(dense[first][number], dense)
    few = reading._number(as_matrix(X), 1, m, len(seen) - 1)
    assert few is None


@pytest.mark.kernels
def test_rows_with_the_same_hash_are_compared(monkeypatch):
    """A table of two places for three kinds that fill it: every probe meets others."""
    X, dense = repeated(3, 50, 3, 1)
    m = as_matrix(X)
    bits = m.data.view(np.uint64)
    n = len({tuple(row) for row in dense.tolist()})
    table, first, out = np.full(4, -1, np.int32), np.empty(n, np.int64), np.empty(50, np.int32)
    assert reading.number_rows(bits, m.indices, m.indptr, 1, 50, table, first, out) == n
    np.testing.assert_array_equal(dense[first][out], dense)


@pytest.mark.parametrize(("kinds", "m", "found"), [(50, 3000, True), (700, 3000, True), (20_000, 20_000, False)])
def test_equal_rows_are_looked_for_where_a_trial_meets_some(kinds, m, found):
    X, _ = repeated(kinds, m, 60)
    assert (reading.distinct_rows(as_matrix(X)) is not None) == found


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_of_distinct_rows_are_those_of_all(n_jobs, index):
    X, dense = repeated(40, 3000, 12, index=index)
    rng = np.random.default_rng(1)
    y, qid = rng.integers(0, 4, 3000).astype(float), rng.integers(0, 300, 3000)
    with LocalEngine(RankingData(X, y, qid), n_jobs) as engine:
        assert engine.fast.matrix.shape[0] <= 40
        assert engine.fast.shared
        point = Objective(engine, SquaredHinge(), Ridge(1e-3)).at(np.full(12, 0.1))
        v = rng.normal(size=12)
        rough, exact = point.hessian_product(v, exact=False), point.hessian_product(v)
        np.testing.assert_allclose(rough, exact, rtol=1e-12, atol=1e-12)
        with LocalEngine(RankingData(dense, y, qid)) as other:
            same = Objective(other, SquaredHinge(), Ridge(1e-3)).at(np.full(12, 0.1)).hessian_product(v)
        np.testing.assert_allclose(exact, same, rtol=1e-12, atol=1e-12)
        if n_jobs > 1:
            with LocalEngine(RankingData(X, y, qid), 1) as alone:
                again = Objective(alone, SquaredHinge(), Ridge(1e-3)).at(np.full(12, 0.1))
                np.testing.assert_array_equal(rough, again.hessian_product(v, exact=False))


def test_fits_with_and_without_equal_rows_end_within_their_gaps(monkeypatch):
    X, y, qid = make_ranking(400, 6, 20, 4)
    X, y, qid = np.tile(np.round(X), (8, 1)), np.tile(y, 8), np.tile(qid, 8)
    data = RankingData(sp.csr_array(X), y, qid)
    found = []
    for alike in (reading.ALIKE, 10**9):
        monkeypatch.setattr(reading, "ALIKE", alike)
        with LocalEngine(data) as engine:
            solution = Newton(tol=1e-6).minimise(Objective(engine, SquaredHinge(), Ridge(1e-3)))
            found.append(solution)
            assert engine.fast.shared == (alike < 10**9)
    assert abs(found[0].value - found[1].value) <= found[0].gap + found[1].gap
