"""Query ids of every kind, those that are refused, and weights that are looked up by them."""

import numpy as np
import pytest

from linrank import DataError, RankingData

X5 = np.arange(10.0).reshape(5, 2)
Y5 = np.array([3.0, 1.0, 2.0, 1.0, 0.0])
Q5 = np.array([0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    "qid",
    [[7, 7, 7, -2, -2], ["b", "b", "b", "a", "a"], np.array(["b", "b", "b", "a", "a"], dtype=object),
     [1.0, 1.0, 1.0, 0.0, 0.0], np.array([2, 2, 2, 1, 1], dtype=np.uint8), [True, True, True, False, False]],
)  # fmt: skip
def test_query_ids_of_any_type(qid):
    data = RankingData(X5, Y5, qid)
    assert data.n_queries == 2
    assert data.preferences.n_pairs == 4


@pytest.mark.parametrize(
    "qid", [[0.5, 0, 0, 1, 1], [np.nan, 0, 0, 1, 1], [None, 1, 1, 2, 2], ["a", 1, 1, 2, 2], [0, 1]]
)
def test_bad_query_ids_are_refused(qid):
    with pytest.raises(DataError, match="qid"):
        RankingData(X5, Y5, np.array(qid, dtype=object) if None in qid or "a" in qid else qid)


ODD_IDS = {
    "huge floats": np.array([1e300, 1e300, 1e300, 2e300, 2e300]),
    "NaN among strings": [np.nan, "a", "a", "b", "b"],
    "NaT": np.array(["2020-01-01", "NaT", "2020-01-01", "2020-01-02", "2020-01-02"], dtype="datetime64[D]"),
    "masked": np.ma.masked_array([0, 0, 0, 1, 1], mask=[1, 0, 0, 0, 0]),
}


@pytest.mark.parametrize("case", ODD_IDS)
def test_ids_that_cannot_be_told_apart_are_refused(case):
    with pytest.raises(DataError, match="qid"):
        RankingData(X5, Y5, ODD_IDS[case])


def test_ids_are_compared_as_they_are():
    zero_bytes = np.array(["a", "a", "a", "a\0", "a\0"], dtype=object)
    beyond_int64 = np.array([2**70, 2**70, 2**70, 2**70 + 1, 2**70 + 1], dtype=object)
    for qid in (zero_bytes, beyond_int64, ["a", "a", "a", "a\0", "a\0"], [b"x", b"x", b"x", b"y", b"y"]):
        assert RankingData(X5, Y5, qid).n_queries == 2


def test_query_weight_as_a_series_by_qid():
    import pandas as pd

    by_qid = RankingData(X5, Y5, Q5, query_weight=pd.Series([2.0, 5.0], index=[1, 0]))
    by_row = RankingData(X5, Y5, Q5, query_weight=[5.0, 5.0, 5.0, 2.0, 2.0])
    np.testing.assert_array_equal(by_qid.preferences.u, by_row.preferences.u)
