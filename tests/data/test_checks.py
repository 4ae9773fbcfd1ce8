"""What is checked of features, utilities and numbers: kept where it lies, converted, or refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from linrank import DataError, LinearRanker, ParameterError, RankingData
from linrank.data import checks, frames
from linrank.rankers import names

X5 = np.arange(10.0).reshape(5, 2)
Y5 = np.array([3.0, 1.0, 2.0, 1.0, 0.0])
Q5 = np.array([0, 0, 0, 1, 1])


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_x_is_used_where_it_lies(make, dtype):
    X = make(X5.astype(dtype))
    kept = RankingData(X, Y5, Q5).X
    if sp.issparse(X):
        assert np.shares_memory(kept.data, X.data)
    else:
        assert np.shares_memory(kept, X)
    assert kept.dtype == dtype


def test_unsorted_sparse_rows_are_not_copied_but_duplicates_are_summed():
    unsorted = sp.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert np.shares_memory(RankingData(unsorted, [0, 1]).X.data, unsorted.data)
    double = sp.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(RankingData(double, [0, 1]).X.toarray(), [[0.0, 3.0], [3.0, 0.0]])
    assert double.nnz == 3


@pytest.mark.parametrize(
    "make", [sp.csc_matrix, sp.coo_matrix, sp.lil_matrix, np.ndarray.tolist, lambda X: X.astype(object)]
)
def test_other_containers_are_converted(make):
    X = RankingData(make(X5), Y5, Q5).X
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, X5)


@pytest.mark.parametrize(
    "y", [np.array(["2020-01-01"] * 5, dtype="datetime64[D]"), np.ma.masked_array(Y5, mask=[1, 0, 0, 0, 0])]
)
def test_dates_and_masks_are_no_utilities(y):
    with pytest.raises(DataError, match="y h"):
        RankingData(X5, y, Q5)


def test_strided_features_are_made_contiguous_once():
    X = np.random.default_rng(0).random((10, 8))
    assert RankingData(X[::2, ::2], Y5, Q5).X.flags.c_contiguous


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([0, 1, 2, 3], [0, 2, 2, 4]),  # a column that is not there
        ([0, 1, -1, 2], [0, 2, 2, 4]),
        ([0, 1, 0, 1], [0, 4, 2, 4]),  # rows that run backwards
        ([0, 1, 0, 1], [0, 2, 3, 9]),  # rows beyond the data
        ([0, 1, 0, 1], [1, 2, 3, 4]),
    ],
)
def test_a_damaged_sparse_matrix_is_refused(indices, indptr):
    X = sp.csr_matrix((3, 3))
    X.data, X.indices, X.indptr = np.ones(4), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)
    with pytest.raises(DataError, match="damaged CSR"):
        RankingData(X, [1, 2, 3])


@pytest.mark.parametrize("alpha", [pytest.param(10**400, id="huge"), np.inf, np.nan, -1, True, "1"])
def test_alphas_that_are_no_number_above_0(alpha):
    with pytest.raises(ParameterError, match="alpha"):
        LinearRanker(alpha=alpha).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("allow_nan", [False, True])
@pytest.mark.parametrize(
    "X",
    [
        np.ones((3, 2)),
        np.ones((3, 2), dtype=np.float32),
        np.ones((4, 6))[::2, ::3],
        np.asfortranarray(np.ones((3, 2))),
        np.ones((3, 2), dtype=">f8"),
        np.ones((3, 2), dtype=np.float16),
        np.ones((3, 2), dtype=np.int64),
        np.ones((3, 2), dtype=object),
        np.full((3, 2), 1e308),
        np.full((3, 2), np.float32(3e38)),
        np.array([[1.0, np.nan], [2.0, 3.0]]),
        np.array([[1.0, np.inf], [-np.inf, 3.0]]),
        np.ones((0, 2)),
        np.ones((3, 0)),
        np.ones(3),
        np.ones((3, 2, 1)),
        np.ma.masked_array(np.ones((3, 2)), mask=False),
        pd.DataFrame(np.ones((3, 2)), columns=["a", "b"]),
        pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]),
        pd.DataFrame(np.ones((3, 2))),
        pd.DataFrame(np.ones((3, 2)), columns=[1, "1"]),
        pd.DataFrame({"a": [1.0, np.nan], "b": [1.0, 2.0]}),
        pd.DataFrame({"a": [1.0, np.inf], "b": [1.0, 2.0]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [True, False]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": np.array([1, 2], dtype=np.float32)}),
        pd.DataFrame({"a": [1.0, 2.0], "b": np.array([1, 2], dtype=np.float16)}),
        pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [1j, 2j]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [[1.0, 2.0], [3.0, 4.0]]}),
        pd.DataFrame({"a": pd.array([1.0, None], dtype="Float64")}),
        pd.DataFrame({"a": pd.Series([1.0, 2.0], dtype="Sparse[float64]")}),
        pd.DataFrame({"a": [1.0, 2.0]}).iloc[:0],
        pd.DataFrame(index=[0, 1]),
    ],
    ids=lambda X: type(X).__name__ if hasattr(X, "shape") else str(X),
)
def test_plain_arrays_and_frames_are_taken_as_scikit_learn_takes_them(X, allow_nan, monkeypatch):
    def answer():
        try:
            return checks.check_features(X, allow_nan=allow_nan)
        except Exception as error:
            return type(error), str(error)

    quick = answer()
    monkeypatch.setattr(checks, "_is_plain", lambda X: False)
    monkeypatch.setattr(frames, "is_plain", lambda X: False)
    slow = answer()
    if isinstance(slow, tuple):
        assert quick == slow
    else:
        assert (quick is X) == (slow is X)
        assert quick.dtype == slow.dtype
        assert quick.flags.c_contiguous == slow.flags.c_contiguous
        np.testing.assert_array_equal(quick, slow)


@pytest.mark.parametrize("X", [np.ones((3, 2)), np.ones((3, 3)), [[1.0, 2.0]], pd.DataFrame({"a": [1.0], "b": [2.0]})])
@pytest.mark.parametrize("named", [False, True])
def test_names_of_a_plain_array_are_checked_as_scikit_learn_checks_them(X, named, monkeypatch):
    given = np.array([[1.0, 2.0], [3.0, 5.0]])
    ranker = LinearRanker().fit(pd.DataFrame(given, columns=["a", "b"]) if named else given, [0, 1])

    def answer():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                scores = ranker.predict(X).tolist()
            except Exception as error:
                scores = type(error), str(error)
            return scores, [str(warning.message) for warning in said], names.feature_names(X)["n_features_in_"]

    quick = answer()
    monkeypatch.setattr(names, "_has_no_names", lambda X: False)
    assert quick == answer()
