"""Queries that folds cut: NaN and a sentence where labels tell, a warning where row counts alone hint at it."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.model_selection import cross_validate as sklearn_cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linrank
from linrank import (
    DataError,
    LinearRanker,
    LinearRankerCV,
    SGDRanker,
    UndefinedMetricWarning,
    compare,
    labels,
    metrics,
)
from linrank.metrics import scorer
from linrank.model_selection import QueryKFold, cross_validate
from linrank.testing import make_ranking

GRID = {"alpha": [1e-1, 1e-3]}


@pytest.fixture(scope="module")
def problem():
    X, y, _ = make_ranking(800, 6, 1, 4, noise=2.0)
    return X, y, np.repeat(np.arange(40), 20)


def gathered(call):
    """What a call returns, and everything that it warns of, as one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("scoring", [None, scorer("ndcg@10"), scorer("wmw"), make_scorer(metrics.ndcg)])
@pytest.mark.parametrize("cv", [KFold(4, shuffle=True, random_state=0), 7])
def test_folds_that_cut_queries_give_nan_and_a_sentence(problem, cv, scoring):
    X, y, qid = problem
    search = GridSearchCV(LinearRanker(), GRID, cv=cv, scoring=scoring, refit=False)
    _, text = gathered(lambda: search.fit(X, labels(y, qid)))
    assert np.all(np.isnan(search.cv_results_["mean_test_score"]))
    assert "of its 20 rows" in text
    assert "QueryKFold" in text


@pytest.mark.parametrize("cv", [QueryKFold(4), GroupKFold(4)])
def test_folds_that_keep_queries_whole_give_numbers_for_both_sides(problem, cv):
    X, y, qid = problem
    for scoring in (None, scorer("ndcg@10")):
        found = sklearn_cross_validate(
            LinearRanker(), X, labels(y, qid), groups=qid, cv=cv, scoring=scoring, return_train_score=True
        )
        assert np.all(found["test_score"] > 0.5)
        assert np.all(found["train_score"] > 0.5)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            LinearRanker(), GRID, cv=QueryKFold(4), scoring=scorer("ndcg@10"), return_train_score=True
        )
        search.fit(X, y, qid=qid)
    assert np.all(search.cv_results_["mean_train_score"] > 0.5)


def test_labels_carry_the_number_of_rows_of_their_query():
    both = labels([1, 2, 3, 4], ["a", "b", "a", "a"])
    assert both["rows"].tolist() == [3, 1, 3, 3]
    with pytest.raises(DataError, match=r"linrank\.labels"):
        metrics.ndcg(np.zeros(2, dtype=[("y", float), ("qid", int)]), [1, 2])


def test_a_cut_query_is_nan_in_every_metric():
    both = labels([1, 0, 2, 0, 1, 1], list("aaabbc"))[:4]  # all of a, half of b
    for name in ("ndcg", "map", "wmw", "pairwise_error", "auc", "kendall_tau", "c_index"):
        judge, more = metrics.parse(name), {"threshold": 1} if name == "auc" else {}
        with pytest.warns(UndefinedMetricWarning, match=r"1 of 2 queries is cut .'b' has 1 of its 2 rows"):
            assert np.isnan(judge(both, [4, 3, 2, 1], **more))
        with pytest.warns(UndefinedMetricWarning):
            each = judge(both, [4, 3, 2, 1], per_query=True, **more)
        assert np.isnan(each).tolist() == [False, True]
        assert np.isfinite(judge(both[:3], [4, 3, 2], **more))  # a alone is whole
    with pytest.raises(DataError, match=r"1 of 2 queries is cut .'b' has 1 of its 2 rows"):
        compare(both, [4, 3, 2, 1], [1, 2, 3, 4], metric="map")


def test_rows_drawn_twice_are_not_cut():
    both = labels([1, 0, 2, 1], [7, 7, 7, 8])
    assert np.isfinite(metrics.ndcg(both[[0, 0, 1, 2, 2]], [1, 2, 3, 4, 5]))


def test_a_ranker_fitted_to_labels_remembers_no_query(problem):
    X, y, qid = problem
    for ranker in (LinearRanker(), LinearRankerCV(2, cv=2), SGDRanker(n_steps=100, random_state=0)):
        ranker.fit(X, labels(y, qid))
        half = np.arange(y.size) % 2 == 0
        assert 0 < ranker.score(X[half], y[half], qid[half]) < 1  # no warning
        with pytest.warns(UndefinedMetricWarning):
            assert np.isnan(ranker.score(X[half], labels(y, qid)[half]))


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("scoring", [None, scorer("ndcg@10")])
def test_routed_queries_that_folds_cut_are_warned_of(problem, scoring, text):
    X, y, qid = problem
    ids = np.array([f"q{q}" for q in qid]) if text else qid
    pipeline = make_pipeline(StandardScaler(), LinearRanker())
    with config_context(enable_metadata_routing=True):
        found, said = gathered(
            lambda: cross_val_score(
                pipeline.set_params(standardscaler=StandardScaler()), X, y, params={"qid": ids}, scoring=scoring,
                cv=KFold(4, shuffle=True, random_state=0),
            )
        )  # fmt: skip
    assert np.all(np.isfinite(found))
    assert "another number of rows than in training" in said
    assert "QueryKFold" in said


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_another_file_with_the_same_ids_gives_a_number(problem, kind):
    X, y, qid = problem
    ids = (qid - 2).astype(kind) if kind is not str else np.array([f"q{q}" for q in qid])
    ranker = LinearRanker().fit(X, y, ids)
    other, z, _ = make_ranking(200, 6, 40, 4, seed=5)
    right = metrics.pairwise_accuracy(z, ranker.predict(other), ids[::4])
    with pytest.warns(UndefinedMetricWarning, match=r"40 queries .*20 rows in training, 5 here"):
        assert ranker.score(other, z, ids[::4]) == right
    with pytest.warns(UndefinedMetricWarning, match="another number of rows"):
        assert scorer("pairwise_accuracy")(ranker, other, z, ids[::4]) == right
    assert ranker.score(other, labels(z, ids[::4])) == right  # labels say themselves what is whole
    assert ranker.score(X, y, list(ids)) > 0.5  # as trained, however the ids are given
    assert ranker.score(X[:20], y[:20], ids[:20]) > 0.4  # a part of whole queries


def test_what_is_remembered_of_queries_is_not_saved(problem, tmp_path):
    X, y, qid = problem
    ranker = LinearRankerCV(2, cv=2).fit(X, y, qid)
    linrank.save(ranker, tmp_path / "model.json")
    half = np.arange(y.size) % 2 == 0
    with pytest.warns(UndefinedMetricWarning):
        right = ranker.score(X[half], y[half], qid[half])
    for again in (linrank.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(ranker))):
        assert again.score(X[half], y[half], qid[half]) == right  # no warning


def test_streams_and_single_queries_are_not_warned_of(problem):
    X, y, qid = problem
    ranker = SGDRanker(random_state=0, steps_per_row=1.0)
    for rows in (slice(0, 410), slice(410, 800)):  # a query goes on from one chunk to the next
        ranker.partial_fit(X[rows], y[rows], qid[rows])
    assert 0 < ranker.score(X, y, qid) < 1
    assert 0 < LinearRanker().fit(X, y).score(X[:99], y[:99]) < 1


def test_rows_of_one_named_query_may_be_judged_apart(problem):
    X, y, _ = problem
    qid = np.full(y.size, 7)
    assert LinearRanker().fit(X[::2], y[::2], qid[::2]).score(X[1:400:2], y[1:400:2], qid[1:400:2]) > 0.5


def test_our_own_tools_refuse_splitters_that_cut_queries(problem, caplog):
    X, y, qid = problem
    warnings.filterwarnings("ignore", "The groups parameter is ignored by KFold")
    with pytest.raises(DataError, match=r"Fold 1 tests 15 of the 20 rows of query 5: use QueryKFold"):
        cross_validate(LinearRanker(), X, y, qid, cv=KFold(7))
    with pytest.raises(DataError, match=r"of the 20 rows of query 5: use QueryKFold"):
        LinearRankerCV(2, cv=KFold(7)).fit(X, labels(y, qid))
    assert cross_validate(LinearRanker(), X, y, cv=KFold(4))["test_score"].shape == (4,)  # one query is split by rows
    assert not caplog.text
    by_rows = [(np.arange(30, 800), np.arange(30))]  # as the caller wants it
    assert np.all(np.isfinite(cross_validate(LinearRanker(), X, y, qid, cv=by_rows)["test_score"]))
    assert "Fold 1 tests 10 of the 20 rows of query 1" in caplog.text


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from([int, str, object]))
def test_a_part_of_the_rows_is_cut_where_a_query_lacks_some(seed, kind):
    rng = np.random.default_rng(seed)
    qid = rng.integers(-2, 4, rng.integers(1, 12)).astype(kind)
    part = np.flatnonzero(rng.random(qid.size) < 0.8)
    if not part.size:
        return
    cut = [np.sum(qid[part] == q) < np.sum(qid == q) for q in np.unique(qid[part])]
    both = labels(rng.integers(0, 2, qid.size) + 1, qid)[part]  # each row relevant: no other NaN
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        each = metrics.ndcg(both, rng.random(part.size), per_query=True)
    assert np.isnan(each).tolist() == cut
    assert len(caught) == any(cut)
