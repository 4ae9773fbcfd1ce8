"""Queries as users of other libraries have them: group sizes, a column of the frame."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from linrank import DataError, LinearRanker, LinearRankerCV, SGDRanker, metrics
from linrank.published import SPD, TreeRSVM
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke

KINDS = {
    "exact": LinearRanker,
    "cv": lambda: LinearRankerCV([0.1], cv=3),
    "sgd": lambda: SGDRanker(n_steps=300, random_state=0),
    "paper": lambda: TreeRSVM(0.1),
    "spd": lambda: SPD(lambda_=0.1, iterations=300, random_state=0),
}


@pytest.fixture(scope="module")
def problem():
    X, y, qid = make_ranking(90, 4, 9, 3, seed=2)
    order = np.argsort(qid, kind="stable")
    return X[order], y[order], qid[order]


@pytest.mark.parametrize("kind", KINDS)
def test_group_sizes_are_taken_as_by_lightgbm(problem, kind):
    X, y, qid = problem
    sizes = np.bincount(qid)
    by_size = KINDS[kind]().fit(X, y, group=sizes.tolist())
    np.testing.assert_array_equal(by_size.coef_, KINDS[kind]().fit(X, y, qid).coef_)
    assert by_size.fitted_with_qid_


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ([50, 30], "adds up to 80 rows, but X has 90: check the sizes"),
        ([1] * 89 + [2], "look like one id per row: pass them as qid"),
        ([45.5, 44.5], "whole numbers"),
        ([-1, 91], "whole numbers"),
        (["a", "b"], "must hold the sizes"),
    ],
)
def test_group_sizes_that_cannot_be_meant_are_refused(problem, group, message):
    X, y, _ = problem
    with pytest.raises(DataError, match=message):
        LinearRanker().fit(X, y, group=group)


def test_qid_and_group_are_not_both_taken(problem):
    X, y, qid = problem
    with pytest.raises(DataError, match="give one of them"):
        LinearRanker().fit(X, y, qid, group=np.bincount(qid))


def test_sizes_given_as_qid_look_like_group_sizes(problem):
    X, y, qid = problem
    sizes = np.bincount(qid)
    with pytest.raises(DataError, match=r"these look like group sizes.*group="):
        LinearRanker().fit(X, y, sizes)
    with pytest.raises(DataError, match="these look like group sizes"):
        metrics.ndcg(y, X[:, 0], sizes)
    with pytest.raises(DataError, match="give one query id per row") as error:
        LinearRanker().fit(X, y, qid[:20])
    assert "group sizes" not in str(error.value)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", KINDS)
def test_qid_names_a_column_of_the_frame(problem, library, kind):
    X, y, qid = problem
    columns = {"a": X[:, 0], "search": [f"q{k}" for k in qid], **{n: X[:, k] for k, n in enumerate("bcd", 1)}}
    frame = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}[library](columns)
    ranker = KINDS[kind]().fit(frame, y, qid="search")
    np.testing.assert_allclose(ranker.coef_, KINDS[kind]().fit(X, y, qid).coef_, rtol=1e-9)
    assert ranker.score(frame, y, qid="search") == ranker.score(frame, y, columns["search"])
    np.testing.assert_array_equal(ranker.rank(frame, qid="search"), ranker.rank(frame, qid))
    assert list(ranker.feature_names_in_) == list("abcd")


def test_a_column_that_is_not_there_is_named(problem):
    X, y, _ = problem
    frame = pandas.DataFrame(X, columns=list("abcd"))
    with pytest.raises(DataError, match=r"qid='query': X has no such column; it has 'a', 'b', 'c', 'd'"):
        LinearRanker().fit(frame, y, qid="query")
    with pytest.raises(DataError, match="X is no dataframe"):
        LinearRanker().fit(X, y, qid="query")


def test_one_weight_a_query_is_told_of_the_mapping(problem):
    X, y, qid = problem
    with pytest.raises(DataError, match=r"one a query.*give a mapping, \{0: weight, \.\.\.\}"):
        LinearRanker().fit(X, y, qid, query_weight=np.ones(9))
    LinearRanker().fit(X, y, qid, query_weight=dict.fromkeys(range(9), 1.0))


def test_a_survival_outcome_is_told_of_pairs():
    outcome = np.array([(True, 3.0), (False, 5.0)], dtype=[("event", bool), ("time", float)])
    with pytest.raises(DataError, match=r"survival times.*fields event, time.*pairs="):
        LinearRanker().fit(np.eye(2), outcome)
