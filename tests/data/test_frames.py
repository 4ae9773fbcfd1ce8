"""The first error of a dataframe names the column and the cure; lists of numbers are features."""

import datetime

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone

from linrank import AUCClassifier, DataError, LinearRanker, LinearRankerCV, QueryScaler, RankingData, SGDRanker
from linrank.io import from_frame

pytestmark = pytest.mark.smoke

LIBRARIES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}
Y = [2, 1, 0, 1]
DAY = datetime.datetime(2024, 5, 1)
BAD = {
    "text": (["womens jacket 0", "b", "c", "d"], r"Column 'bad' holds String, not numbers.*ColumnTransformer"),
    "date": ([DAY] * 4, r"Column 'bad' holds Datetime.*days since some day"),
    "duration": ([DAY - datetime.datetime(2024, 1, 1)] * 4, r"Column 'bad' holds Duration.*seconds"),
    "missing": ([1.0, None, 2.0, 3.0], r"Column 'bad' is missing in row 2.*missing='zero' or 'mean'"),
    "infinite": ([1.0, np.inf, 2.0, 3.0], r"Column 'bad' is infinite.*row 2"),
    "short lists": (
        [[1.0, 2.0], [1.0], [1.0, 2.0], [1.0, 2.0]],
        r"Column 'bad' holds lists of 2 numbers, but one of 1 in row 2",
    ),
    "texts in lists": ([["a"]] * 4, r"Column 'bad' holds lists of something else than numbers"),
    "missing in a list": ([[1.0, 2.0], [1.0, None]] * 2, r"Column 'bad_1' is missing in row 2"),
    "missing list": ([[1.0], None, [1.0], [1.0]], r"Column 'bad_0' is missing in row 2"),
}


def frame(library, **columns):
    return LIBRARIES[library]({"good": [1.0, 2.0, 3.0, 5.0], **columns})


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("ranker", [LinearRanker(), SGDRanker(n_steps=10), LinearRankerCV([1.0], cv=2)], ids=str)
def test_the_first_error_of_a_fit_names_the_column_and_the_cure(library, what, ranker):
    values, message = BAD[what]
    with pytest.raises(DataError, match=message):
        clone(ranker).fit(frame(library, bad=values), Y)


@pytest.mark.parametrize("what", BAD)
def test_all_who_take_a_frame_say_the_same(what):
    values, message = BAD[what]
    bad, fitted = frame("pandas", bad=values), LinearRanker().fit(frame("pandas", bad=[1.0, 2.0, 3.0, 4.0]), Y)
    for use in (
        lambda: fitted.predict(bad),
        lambda: RankingData(bad, Y),
        lambda: AUCClassifier().fit(bad, [0, 1, 0, 1]),
        lambda: QueryScaler(one_query=True).fit(bad),
        lambda: from_frame(bad, query=""),
    ):
        with pytest.raises(DataError, match=message.partition(", not numbers")[0]):
            use()


def test_categories_are_told_of_column_transformer():
    for bad in (
        pandas.DataFrame({"brand": pandas.Categorical(["a", "b", "a", "b"])}),
        pandas.DataFrame({"brand": pandas.Categorical([1, 2, 1, 2])}),
        polars.DataFrame({"brand": polars.Series(["a", "b", "a", "b"], dtype=polars.Categorical)}),
    ):
        with pytest.raises(DataError, match=r"Column 'brand' holds Categorical.*ColumnTransformer.*OneHotEncoder"):
            LinearRanker().fit(bad, Y)


def test_a_lazy_frame_is_told_to_collect():
    lazy = frame("polars").lazy()
    for use in (lambda: LinearRanker().fit(lazy, Y), lambda: LinearRanker().fit([[1.0], [2.0]], [1, 0]).predict(lazy)):
        with pytest.raises(DataError, match=r"LazyFrame holds no rows yet: call its collect\(\)"):
            use()


def test_objects_that_are_numbers_are_taken_and_others_are_named():
    mixed = pandas.DataFrame({"good": np.array([1, 2.5, 3, 4], dtype=object)})
    np.testing.assert_array_equal(RankingData(mixed, Y).X, [[1.0], [2.5], [3.0], [4.0]])
    with pytest.raises(DataError, match="Column 'bad' holds something that is no number"):
        LinearRanker().fit(pandas.DataFrame({"bad": [1, {}, 2, 3]}), Y)


def test_missing_values_of_an_array_are_told_of_the_policy():
    import scipy.sparse as sp

    X = np.arange(8.0).reshape(4, 2)
    X[2, 1] = np.nan
    for given in (X, sp.csr_matrix(X), X.tolist()):
        with pytest.raises(DataError, match=r"contains NaN\. Its first is X\[2, 1\]\. missing='zero' or 'mean'"):
            LinearRanker().fit(given, Y)


def test_a_frame_with_missing_values_is_filled_where_asked():
    X = frame("polars", b=[1.0, None, 3.0, 5.0])
    ranker = LinearRanker(missing="mean").fit(X, Y)
    assert ranker.fill_[1] == 3.0
    assert np.isfinite(ranker.predict(X)).all()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_of_lists_is_as_many_features(library, dtype):
    rng = np.random.default_rng(0)
    E, price, y = rng.normal(size=(40, 3)).astype(dtype), rng.normal(size=40), rng.normal(size=40)
    lists = list(E) if library == "pandas" else pyarrow.array(list(E)) if library == "pyarrow" else E.tolist()
    both = LIBRARIES[library]({"price": price, "e": lists})
    ranker = LinearRanker().fit(both, y)
    np.testing.assert_allclose(ranker.coef_, LinearRanker().fit(np.column_stack([price, E]), y).coef_, rtol=1e-10)
    assert list(ranker.feature_names_in_) == ["price", "e_0", "e_1", "e_2"]
    np.testing.assert_allclose(ranker.predict(both), np.column_stack([price, E]) @ ranker.coef_, rtol=1e-10)
    other = LIBRARIES[library]({"price": price, "other": lists})
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(other)
    data = from_frame(both, query="")
    assert data.feature_names == ["price", "e_0", "e_1", "e_2"]
    np.testing.assert_array_equal(data.X, np.column_stack([price, E]))


def test_arrays_of_one_size_keep_their_single_precision():
    E = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    for column in (polars.DataFrame({"e": E}), polars.DataFrame({"e": list(E)}), pandas.DataFrame({"e": list(E)})):
        X = RankingData(column, Y).X
        assert X.dtype == np.float32
        np.testing.assert_array_equal(X, E)


def test_a_part_of_a_list_may_not_have_the_name_of_a_column():
    with pytest.raises(DataError, match="Two features are named 'e_0'"):
        LinearRanker().fit(polars.DataFrame({"e": [[1.0], [2.0], [3.0], [4.0]], "e_0": [1.0, 2.0, 3.0, 4.0]}), Y)


def test_parts_of_lists_are_features_by_name_in_any_order():
    data = from_frame(frame("polars", e=[[1.0, 2.0]] * 4), query="", features=["e_1", "good", "e_0"])
    assert data.feature_names == ["e_1", "good", "e_0"]
    np.testing.assert_array_equal(data.X[0], [2.0, 1.0, 1.0])


def test_a_parquet_file_of_embeddings_is_read_predicted_and_named(tmp_path):
    import pyarrow.parquet

    from linrank.io import read

    E = np.random.default_rng(1).normal(size=(4, 3))
    pyarrow.parquet.write_table(pyarrow.table({"label": Y, "e": E.tolist()}), tmp_path / "e.parquet")
    data = read(tmp_path / "e.parquet", query="")
    np.testing.assert_array_equal(data.X, E)
    assert data.feature_names == ["e_0", "e_1", "e_2"]
