"""Scores of rows in any layout against their definition, bit by bit."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linrank.kernels import scores
from linrank.testing import naive_scores

pytestmark = pytest.mark.kernels


def all_layouts(X, w):
    """The scores of all rows but the first and the last, which must stay as they were, by each kernel."""
    n = X.shape[0]
    lanes = np.full((scores.LANES, scores.TILE), np.nan)
    sparse = sp.csr_array(X)
    outs = [np.full(n, -7.0) for _ in range(3)]
    scores.scores_by_rows(np.ascontiguousarray(X), w, 1, n - 1, outs[0])
    scores.scores_by_columns(np.ascontiguousarray(X.T), w, 1, n - 1, lanes, outs[1])
    scores.scores_of_sparse(sparse.data, sparse.indices, sparse.indptr, w, 1, n - 1, lanes, outs[2])
    return outs


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 40), st.sampled_from(["f4", "f8"]))
def test_scores_are_those_of_the_definition(seed, n, d, dtype):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 6, d) * (rng.random((n, d)) < 0.7)).astype(dtype)
    w = rng.normal(size=d)
    expected = naive_scores(X, w)
    for out in all_layouts(X, w):
        assert out[1:-1].tolist() == expected[1:-1]
        assert out[0] == out[-1] == -7.0


def test_more_rows_than_a_tile_holds():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(scores.TILE + 5, 3)), rng.normal(size=3)
    for out in all_layouts(X, w):
        assert out[1:-1].tolist() == naive_scores(X, w)[1:-1]


def test_the_definition_is_the_product():
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(20, 100)), rng.normal(size=100)
    for row, score in zip(X, naive_scores(X, w), strict=True):
        assert score == pytest.approx(math.fsum(row * w), abs=1e-13)
