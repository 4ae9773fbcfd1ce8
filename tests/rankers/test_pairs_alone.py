"""Pairs alone, without y: cross-validated, scored, named by id."""

import numpy as np
import pandas
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from linrank import DataError, LinearRanker, LinearRankerCV, ParameterError, SGDRanker, metrics
from linrank.model_selection import PairKFold, QueryKFold
from linrank.model_selection.pair_folds import split_pairs
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


def judgements(n_items=60, n_pairs=400, d=5, seed=0):
    """Embeddings, and pairs of them that somebody judged by a noisy linear rule."""
    rng = np.random.default_rng(seed)
    E, w = rng.normal(size=(n_items, d)), rng.normal(size=d)
    pairs = np.array([rng.choice(n_items, 2, replace=False) for _ in range(n_pairs)])
    turned = (E[pairs[:, 0]] - E[pairs[:, 1]]) @ w + rng.normal(size=n_pairs) < 0
    pairs[turned] = pairs[turned, ::-1]
    return E, pairs


def accuracy(scores, pairs):
    """The obvious way."""
    weight = pairs[:, 2] if pairs.shape[1] == 3 else np.ones(len(pairs))
    gap = scores[pairs[:, 0].astype(int)] - scores[pairs[:, 1].astype(int)]
    return float(np.average((np.sign(gap) + 1) / 2, weights=weight))


def test_cross_validation_of_pairs_trains_on_four_fifths_and_judges_every_pair():
    E, pairs = judgements()
    ranker = LinearRankerCV([1.0, 0.1, 0.01], loss="logistic").fit(E, pairs=pairs)
    folds = list(PairKFold(5).split(pairs))
    for k, (train, test) in enumerate(folds):
        assert abs(len(test) - len(pairs) / 5) < 10
        for a, alpha in enumerate(ranker.cv_results_["alpha"]):
            one = LinearRanker("logistic", alpha).fit(E, pairs=pairs[train])
            judged = accuracy(one.predict(E), pairs[test])
            assert ranker.cv_results_[f"split{k}_score"][a] == pytest.approx(judged, abs=0.03)
    tested = np.sort(np.concatenate([test for _, test in folds]))
    np.testing.assert_array_equal(tested, np.arange(len(pairs)))
    assert ranker.n_pairs_ == len(np.unique(pairs, axis=0))
    assert ranker.score(E, pairs=pairs) > 0.7


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_pairs_are_chosen_by_log_loss(loss):
    E, pairs = judgements()
    ranker = LinearRankerCV([10.0, 0.1, 1e-4], loss=loss, metric="log_loss", cv=4).fit(E, pairs=pairs)
    best = np.argmin(ranker.cv_results_["mean_score"])
    assert ranker.alpha_ == ranker.cv_results_["alpha"][best]
    assert 0 < ranker.cv_results_["mean_score"][best] < np.log(2)


def test_a_splitter_gets_pairs_and_an_iterable_names_them():
    E, pairs = judgements()
    for cv in (KFold(3), ShuffleSplit(3, random_state=0), QueryKFold(3), list(KFold(3).split(pairs))):
        if isinstance(cv, QueryKFold):
            with pytest.raises(DataError, match="no queries to split by"):
                LinearRankerCV([0.1], cv=cv).fit(E, pairs=pairs)
            continue
        ranker = LinearRankerCV([0.1], cv=cv).fit(E, pairs=pairs)
        folds = cv if isinstance(cv, list) else list(cv.split(pairs))
        for k, (train, test) in enumerate(folds):
            judged = accuracy(LinearRanker(alpha=0.1).fit(E, pairs=pairs[train]).predict(E), pairs[test])
            assert ranker.cv_results_[f"split{k}_score"][0] == pytest.approx(judged, abs=1e-12)


def test_pairs_of_several_queries_are_held_out_by_query():
    E, pairs = judgements()
    qid = np.arange(len(E)) % 6
    pairs = pairs[qid[pairs[:, 0]] == qid[pairs[:, 1]]]
    rows = LinearRankerCV()._labelled(E, None, qid, pairs=pairs)[0]
    for train, test in split_pairs(3, pairs, rows.grades.query, rows.grades.ids):
        assert not set(qid[pairs[train, 0]]) & set(qid[pairs[test, 0]])
    ranker = LinearRankerCV([0.1, 0.01], cv=QueryKFold(3)).fit(E, None, qid, pairs=pairs)
    assert ranker.cv_results_["scores"].shape == (2, 3)


def test_judgements_of_the_same_two_items_share_a_fold():
    pairs = np.array([[0, 1], [1, 0], [0, 1], [2, 3], [4, 5], [5, 4]])
    for train, test in PairKFold(3).split(pairs):
        assert not {frozenset(p) for p in pairs[train].tolist()} & {frozenset(p) for p in pairs[test].tolist()}


def test_items_are_held_out_with_all_of_their_pairs():
    rng = np.random.default_rng(3)
    pairs = np.concatenate([5 * k + np.array([rng.choice(5, 2, replace=False) for _ in range(8)]) for k in range(12)])
    E = rng.normal(size=(60, 3))
    folds = list(PairKFold(4, by="items").split(pairs))
    assert len(folds) == 4
    for train, test in folds:
        assert not set(pairs[train].ravel()) & set(pairs[test].ravel())
        assert train.size + test.size == len(pairs)
        assert test.size == 24
    ranker = LinearRankerCV([0.1], cv=PairKFold(4, by="items")).fit(E, pairs=pairs)
    assert ranker.cv_results_["scores"].shape == (1, 4)


def test_items_that_are_all_connected_cannot_be_held_out():
    E, pairs = judgements()
    with pytest.raises(DataError, match=r"connect all 60 items.*by='pairs'"):
        LinearRankerCV(cv=PairKFold(by="items")).fit(E, pairs=pairs)
    with pytest.raises(DataError, match=r"in 2 sets.*use 2 to 2 folds"):
        list(PairKFold(3, by="items").split([[0, 1], [2, 3], [3, 4]]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: PairKFold(1).split(p), "n_splits=1"),
        (lambda p: PairKFold(by="rows").split(p), "by='rows' is not known"),
        (lambda p: PairKFold(4).split(p), "4 folds of 2 different pairs"),
        (lambda p: PairKFold(2).split(p[:0]), "no pairs"),
    ],
)
def test_folds_of_pairs_that_cannot_be_made_are_refused(make, message):
    with pytest.raises((DataError, ParameterError), match=message):
        list(make(np.array([[0, 1], [2, 3]])))


def test_folds_of_pairs_are_the_same_every_time():
    assert PairKFold(3, by="items").get_n_splits() == 3
    pairs = judgements()[1]
    for first, second in zip(PairKFold(3).split(pairs), PairKFold(3).split(pairs), strict=True):
        np.testing.assert_array_equal(first[1], second[1])
    ordered = [test for _, test in PairKFold(3, shuffle=False).split(pairs)]
    assert sorted(np.concatenate(ordered)) == list(range(len(pairs)))


@pytest.mark.parametrize("ranker", [LinearRanker(), SGDRanker(n_steps=500, random_state=0)])
def test_score_of_pairs_is_their_accuracy(ranker):
    E, pairs = judgements()
    weighted = np.column_stack([pairs, np.arange(1.0, len(pairs) + 1)])
    ranker.fit(E, pairs=weighted)
    assert ranker.score(E, pairs=weighted) == pytest.approx(accuracy(ranker.predict(E), weighted), abs=1e-12)
    assert ranker.score(E, pairs=pairs) == metrics.pairwise_accuracy(None, ranker.predict(E), pairs=pairs)
    assert metrics.pairwise_error(None, ranker.predict(E), pairs=pairs) == pytest.approx(
        1 - ranker.score(E, pairs=pairs)
    )


def test_score_adds_pairs_to_grades_as_fit_does():
    X, y, qid = make_ranking(60, 3, 6, 3, seed=1)
    pairs = [(np.flatnonzero(qid == 0)[0], np.flatnonzero(qid == 0)[1])]
    ranker = LinearRanker().fit(X, y, qid, pairs=pairs)
    scores = ranker.predict(X)
    n = metrics._pairs.make_preferences(60, y, qid)[2].n_pairs
    right = n * metrics.pairwise_accuracy(y, scores, qid) + metrics.pairwise_accuracy(None, scores, pairs=pairs)
    assert ranker.score(X, y, qid, pairs=pairs) == pytest.approx(right / (n + 1), abs=1e-12)
    assert ranker.score(X, pairs=pairs) == metrics.pairwise_accuracy(None, scores, pairs=pairs)


def test_nothing_to_score_by_is_said():
    E, pairs = judgements()
    with pytest.raises(DataError, match="give y, or pairs"):
        LinearRanker().fit(E, pairs=pairs).score(E)


def test_log_loss_is_the_mean_over_pairs():
    rng = np.random.default_rng(4)
    y, s, qid = rng.integers(0, 4, 80), rng.normal(size=80), rng.integers(0, 5, 80)
    terms = [(qid[i], np.log1p(np.exp(s[j] - s[i]))) for i in range(80) for j in range(80)
             if qid[i] == qid[j] and y[i] > y[j]]  # fmt: skip
    query, loss = np.array(terms).T
    by_query = np.array([loss[query == q].mean() for q in range(5)])
    assert metrics.log_loss(y, s, qid) == pytest.approx(loss.mean(), rel=1e-11)
    np.testing.assert_allclose(metrics.log_loss(y, s, qid, per_query=True), by_query, rtol=1e-11)
    assert metrics.log_loss(y, s, qid, query_weighting="queries") == pytest.approx(by_query.mean(), rel=1e-11)
    assert metrics.log_loss(None, s, pairs=[(0, 1, 2.0)]) == pytest.approx(np.log1p(np.exp(s[1] - s[0])), rel=1e-12)
    assert metrics.log_loss(y, np.zeros(80), qid) == pytest.approx(np.log(2))
    assert np.isnan(metrics.log_loss([1, 1], [0.0, 1.0], per_query=True)).all()
    assert not metrics.parse("log_loss").greater_is_better
    with pytest.raises(DataError, match="no pair"):
        metrics.log_loss([1, 1], [0.0, 1.0])


@pytest.mark.parametrize("kind", [LinearRanker, lambda: LinearRankerCV([0.1], cv=3)])
def test_pairs_name_rows_by_id(kind):
    E, pairs = judgements()
    names = np.array([f"item {k}" for k in range(len(E))])
    expected = kind().fit(E, pairs=pairs).coef_
    by_name = [(names[i], names[j]) for i, j in pairs]
    for given, ids in (
        (by_name, names),
        (np.array(by_name), list(names)),
        (pairs + 1000, np.arange(len(E)) + 1000),
        (np.column_stack([pairs + 1000, np.ones(len(pairs))]), np.arange(len(E)) + 1000),
    ):
        ranker = kind().fit(E, pairs=given, ids=ids)
        np.testing.assert_array_equal(ranker.coef_, expected)
        assert ranker.score(E, pairs=given, ids=ids) == ranker.score(E, pairs=pairs)


def test_pairs_name_rows_by_a_column_of_the_frame():
    E, pairs = judgements()
    frame = pandas.DataFrame(E, columns=list("abcde")).assign(sku=[f"s{k}" for k in range(len(E))])
    named = [(f"s{i}", f"s{j}") for i, j in pairs]
    ranker = LinearRanker().fit(frame, pairs=named, ids="sku")
    assert list(ranker.feature_names_in_) == list("abcde")
    assert ranker.score(frame, pairs=named, ids="sku") == LinearRanker().fit(E, pairs=pairs).score(E, pairs=pairs)
    assert ranker.predict(frame).size == len(E)


@pytest.mark.parametrize(
    ("pairs", "ids", "message"),
    [
        ([("a", "z")], ["a", "b", "c"], "'z' .*none of the ids"),
        ([("a", "b")], ["a", "b", "b"], "'b'.*several rows"),
        ([("a", "b")], ["a", "b"], "one id per row"),
        ([("a", "b")], None, "Pairs of ids need ids="),
        (None, ["a", "b", "c"], "no pairs"),
        ([("a", "b", "much")], ["a", "b", "c"], "must hold weights"),
    ],
)
def test_ids_that_do_not_fit_are_refused_with_the_id(pairs, ids, message):
    with pytest.raises(DataError, match=message):
        LinearRanker().fit(np.eye(3), [1, 2, 3] if pairs is None else None, pairs=pairs, ids=ids)


def test_pairs_with_and_without_weights_may_be_mixed():
    E, pairs = judgements(n_pairs=50)
    mixed = [(int(i), int(j)) if k % 2 else (int(i), int(j), 2.5) for k, (i, j) in enumerate(pairs)]
    weights = np.where(np.arange(50) % 2, 1.0, 2.5)
    expected = LinearRanker().fit(E, pairs=np.column_stack([pairs, weights])).coef_
    np.testing.assert_array_equal(LinearRanker().fit(E, pairs=mixed).coef_, expected)
    with pytest.raises(DataError, match=r"pairs holds \(1,\)"):
        LinearRanker().fit(E, pairs=[(0, 1), (1,)])


def test_a_metric_that_needs_y_is_refused_for_pairs_alone():
    E, pairs = judgements(n_pairs=50)
    for metric in ("ndcg", lambda y, scores, qid: 0.0):
        with pytest.raises(DataError, match=r"needs y.*'pairwise_accuracy' or 'log_loss'"):
            LinearRankerCV(metric=metric).fit(E, pairs=pairs)


def test_pairs_ids_and_group_take_no_part_in_metadata_routing():
    for kind in (LinearRanker, LinearRankerCV, SGDRanker):
        request = kind().get_metadata_routing()
        for name in ("pairs", "ids", "group", "start"):
            assert name not in request.fit.requests
            assert name not in request.score.requests
        assert request.fit.requests["qid"] is True
        assert request.score.requests["qid"] is True
