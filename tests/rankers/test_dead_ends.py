"""What newcomers try first: it works, or a sentence says what to do instead."""

import pickle
import warnings

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linrank
from linrank import LinearRanker, LinearRankerCV, ParameterError, SGDRanker, compare, labels, metrics
from linrank.model_selection import QueryKFold, cross_validate
from linrank.published import SPD, TreeRSVM
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def problem():
    return make_ranking(200, 4, 20, 4, noise=2.0, seed=7)


class Sizes(RegressorMixin, BaseEstimator):
    """As LGBMRanker: sizes of groups that stand together."""

    def fit(self, X, y, sample_weight=None, init_score=None, group=None, eval_set=None):
        assert group is not None
        assert np.sum(group) == len(y)
        qid = np.repeat(np.arange(len(group)), group)
        self.ranker_ = LinearRanker(alpha=0.1).fit(X, y, qid)
        return self

    def predict(self, X):
        return self.ranker_.predict(X)


class SortedIds(Sizes):
    """As XGBRanker: whole numbers per row, sorted."""

    def fit(self, X, y, *, group=None, qid=None, sample_weight=None):
        assert np.asarray(qid).dtype.kind in "iu"
        assert np.all(np.diff(qid) >= 0)
        self.ranker_ = LinearRanker(alpha=0.1).fit(X, y, qid)
        return self


@pytest.mark.parametrize(
    "baseline",
    [Ridge(), make_pipeline(StandardScaler(), Ridge()), RandomForestRegressor(3, random_state=0)],
    ids=["ridge", "pipeline", "forest"],
)
def test_a_regression_is_a_baseline_judged_by_query(problem, baseline):
    X, y, qid = problem
    found = cross_validate(baseline, X, y, qid, metric=["ndcg@5", "pairwise_accuracy"], cv=3)
    for k, (train, test) in enumerate(QueryKFold(3).split(X, y, qid)):
        scores = baseline.fit(X[train], y[train]).predict(X[test])
        assert found["test_ndcg@5"][k] == pytest.approx(metrics.ndcg(y[test], scores, qid[test], k=5))


def test_a_classifier_is_a_baseline_by_its_decision(problem):
    X, y, qid = problem
    found = cross_validate(LogisticRegression(), X, y > 1, qid, cv=3)
    assert np.all(found["test_score"] > 0.5)


@pytest.mark.parametrize("kind", [Sizes, SortedIds])
def test_rankers_of_other_libraries_get_queries_as_they_take_them(problem, kind):
    X, y, qid = problem
    names = np.array([f"query {k}" for k in qid])
    ours, theirs = (cross_validate(one, X, y, names, cv=3)["test_score"] for one in (LinearRanker(alpha=0.1), kind()))
    np.testing.assert_allclose(theirs, ours, atol=0.02)  # rows in another order: the same within the gap


def test_cross_validation_takes_sizes_a_column_and_pairs(problem):
    X, y, qid = problem
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    expected = cross_validate(LinearRanker(), X, y, qid, cv=3)["test_score"]
    np.testing.assert_array_equal(
        cross_validate(LinearRanker(), X, y, group=np.bincount(qid), cv=3)["test_score"], expected
    )
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(search=qid)
    found = cross_validate(LinearRanker(), frame, y, "search", cv=3)["test_score"]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    pairs = np.random.default_rng(0).permutation(200).reshape(-1, 2)
    found = cross_validate(LinearRanker("logistic"), X, pairs=pairs, metric=["pairwise_accuracy", "log_loss"], cv=4)
    assert found["test_log_loss"].shape == (4,)
    with pytest.raises(linrank.DataError, match="judge pairs by one of"):
        cross_validate(LinearRanker(), X, pairs=pairs, metric="ndcg")
    with pytest.raises(linrank.DataError, match="y or pairs"):
        cross_validate(LinearRanker(), X, y, pairs=pairs)


def top_grade(y, scores, qid):
    """The mean grade of each query's first row: a metric of one's own."""
    return float(np.mean([np.asarray(y)[qid == q][np.argmax(scores[qid == q])] for q in np.unique(qid)]))


def test_scorer_takes_a_function(problem):
    X, y, qid = problem
    search = GridSearchCV(LinearRanker(), {"alpha": [1.0, 0.01]}, scoring=metrics.scorer(top_grade), cv=QueryKFold(3))
    found = search.fit(X, labels(y, qid)).cv_results_["mean_test_score"]
    by_hand = cross_validate(LinearRanker(alpha=1.0), X, y, qid, metric=top_grade, cv=QueryKFold(3))["test_score"]
    assert found[0] == pytest.approx(by_hand.mean())
    smaller = metrics.scorer(top_grade, greater_is_better=False)
    ranker = LinearRanker().fit(X, y, qid)
    assert smaller(ranker, X, y, qid) == -metrics.scorer(top_grade)(ranker, X, y, qid)
    with pytest.raises(ParameterError, match="takes no preset="):
        metrics.scorer(top_grade, preset="trec")


def test_compare_takes_a_function(problem):
    _, y, qid = problem
    rng = np.random.default_rng(0)
    a, b = y + rng.normal(size=200), y + 3 * rng.normal(size=200)
    found = compare(y, a, b, qid, metric=top_grade)
    assert (found.metric, found.n_queries) == ("top_grade", 20)
    assert found.mean_a == pytest.approx(top_grade(y, a, qid))
    turned = compare(y, a, b, qid, metric=top_grade, greater_is_better=False)
    assert (turned.wins, turned.losses) == (found.losses, found.wins)
    assert compare(labels(y, qid), a, b, metric=top_grade).mean_b == found.mean_b


def test_results_of_cross_validation_are_a_dataframe(problem):
    ranker = LinearRankerCV([1.0, 0.1, 0.01], cv=4).fit(*problem)
    table = pandas.DataFrame(ranker.cv_results_)
    assert list(table["alpha"]) == [1.0, 0.1, 0.01]
    splits = table[[f"split{k}_score" for k in range(4)]].to_numpy()
    np.testing.assert_allclose(table["mean_score"], splits.mean(axis=1))
    np.testing.assert_array_equal(ranker.cv_results_["scores"], splits)
    assert ranker.cv_results_["n_iter"].shape == (3, 4)
    with pytest.raises(KeyError, match="other"):
        ranker.cv_results_["other"]


def test_the_path_of_weights_is_that_of_fits_to_all_data(problem):
    X, y, qid = problem
    ranker = LinearRankerCV([1.0, 0.1, 0.01], cv=3, tol=1e-8).fit(X, y, qid)
    assert ranker.coef_path_.shape == (3, 4)
    for alpha, weights in zip(ranker.cv_results_["alpha"], ranker.coef_path_, strict=True):
        np.testing.assert_allclose(weights, LinearRanker(alpha=alpha, tol=1e-8).fit(X, y, qid).coef_, rtol=1e-3)
    again = pickle.loads(pickle.dumps(LinearRankerCV([1.0, 0.1], cv=3).fit(X, y, qid)))
    assert again.coef_path_.shape == (2, 4)
    assert again.fit(X[:, :2], y, qid).coef_path_.shape == (2, 2)


def test_one_split_without_refit_is_letors_protocol(problem):
    X, y, qid = problem
    train, valid = np.flatnonzero(qid < 14), np.flatnonzero(qid >= 14)
    ranker = LinearRankerCV([1.0, 0.1, 0.01], cv=[(train, valid)], refit=False, metric="ndcg@10").fit(X, y, qid)
    fits = [LinearRanker(alpha=alpha).fit(X[train], y[train], qid[train]) for alpha in (1.0, 0.1, 0.01)]
    scores = [metrics.ndcg(y[valid], fit.predict(X[valid]), qid[valid], k=10) for fit in fits]
    np.testing.assert_allclose(ranker.cv_results_["mean_score"], scores, atol=5e-3)
    best = fits[int(np.argmax(ranker.cv_results_["mean_score"]))]
    np.testing.assert_array_equal(ranker.coef_, best.coef_)
    assert (ranker.n_rows_, ranker.alpha_) == (train.size, best.alpha_)
    assert ranker.coef_path_.shape == (3, 4)
    assert np.all(np.isnan(ranker.cv_results_["standard_error"]))  # one split tells nothing of it
    with pytest.raises(ParameterError, match="one_standard_error is that of several folds, and cv has one"):
        LinearRankerCV(cv=[(train, valid)], one_standard_error=True).fit(X, y, qid)
    folds = [(train, valid), (np.flatnonzero(qid >= 3), np.flatnonzero(qid < 3))]
    one = LinearRankerCV(
        cv=folds, one_standard_error=True, metric=lambda y, s, q: np.nan if y.size < valid.size else 1.0
    )
    with pytest.raises(ParameterError, match="several folds, and only one has a score"):
        one.fit(X, y, qid)
    with pytest.raises(ParameterError, match=r"there are 5 splits: give cv=\[\(train rows, validation rows\)\]"):
        LinearRankerCV(refit=False).fit(X, y, qid)
    with pytest.raises(ParameterError, match="refit='no' must be True or False"):
        LinearRankerCV(refit="no").fit(X, y, qid)


def test_an_explanation_is_a_dataframe(problem):
    X, y, qid = problem
    frame = pandas.DataFrame(X, columns=list("abcd"))
    told = LinearRanker().fit(frame, y, qid).explain(frame.iloc[0], frame.iloc[1])
    table = told.to_frame()
    assert list(table.columns) == ["feature", "weight", "a", "b", "contribution"]
    assert sorted(table["feature"]) == list("abcd")
    assert table["contribution"].sum() == pytest.approx(told.difference)


def test_values_per_query_know_their_queries(problem):
    X, y, qid = problem
    names = np.array([f"q{k}" for k in qid])
    values = metrics.ndcg(y, X[:, 0], names, k=3, per_query=True)
    here = names == "q7"
    assert values.to_dict()["q7"] == metrics.ndcg(y[here], X[here, 0], k=3)
    assert values.to_frame("ndcg@3").set_index("qid")["ndcg@3"]["q7"] == values.to_dict()["q7"]
    assert list(values.qid) == sorted(set(names))
    error, right = (f(y, X[:, 0], names, per_query=True) for f in (metrics.pairwise_error, metrics.pairwise_accuracy))
    assert error.to_dict()["q3"] == pytest.approx(1 - right.to_dict()["q3"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(values)).qid, values.qid)
    assert type(values[:3]) is np.ndarray
    assert isinstance(values.mean(), float)


def test_one_row_is_compared_with_many(problem):
    X, y, qid = problem
    ranker = LinearRanker("logistic").fit(X, y, qid)
    one_to_many = ranker.predict_pair(X[0], X[1:6])
    np.testing.assert_array_equal(one_to_many, [ranker.predict_pair(X[0], row)[0] for row in X[1:6]])
    np.testing.assert_allclose(ranker.predict_pair(X[1:6], X[:1]), 1 - one_to_many)
    with pytest.raises(linrank.DataError, match="or one"):
        ranker.predict_pair(X[:2], X[:3])


@pytest.mark.parametrize("kind", [LinearRanker, lambda: SGDRanker(n_steps=500), lambda: LinearRankerCV([0.1], cv=3)])
def test_importances_are_weights_times_deviations(problem, kind):
    X, y, qid = problem
    ranker = kind().fit(X * [1, 10, 100, 1000], y, qid)
    expected = np.abs(ranker.coef_) * (X * [1, 10, 100, 1000]).std(axis=0)
    np.testing.assert_allclose(ranker.feature_importances_, expected)
    with pytest.raises(AttributeError, match="scale='auto'"):
        _ = LinearRanker(alpha=0.1, scale=False).fit(X, y, qid).feature_importances_
    assert not hasattr(LinearRanker(), "feature_importances_")


@pytest.mark.parametrize(
    "kind", [LinearRanker, LinearRankerCV, SGDRanker, lambda: TreeRSVM(0.1), lambda: SPD(lambda_=0.1)]
)
def test_an_eval_set_is_told_of_score_and_valid(problem, kind):
    X, y, qid = problem
    with pytest.raises(ParameterError, match=r"fit takes no eval_set.*score\(X, y, qid\).*--valid"):
        kind().fit(X, y, qid, eval_set=[(X, y)])
    with pytest.raises(ParameterError, match=r"fit takes no group_id.*qid="):
        kind().fit(X, y, group_id=qid)
    with pytest.raises(TypeError, match="unexpected keyword"):
        kind().fit(X, y, qid, nonsense=1)
    if not isinstance(kind(), LinearRanker):
        with pytest.raises(ParameterError, match="it is LinearRanker that trains on a cluster"):
            kind().fit(X, y, qid, client=object())


def test_what_explains_and_stores_linear_models_finds_what_it_asks_for(problem):
    """shap takes coef_ and intercept_; stores of models take plain types."""
    X, y, qid = problem
    for ranker in (LinearRanker().fit(X, y, qid), SGDRanker(n_steps=300, random_state=0).fit(X, y, qid)):
        assert ranker.intercept_ == 0.0
        np.testing.assert_allclose(X @ ranker.coef_ + ranker.intercept_, ranker.predict(X))
        assert type(ranker.history_) is list
        assert {type(entry) for entry in ranker.history_} == {tuple}
        assert {type(value) for entry in ranker.history_ for value in entry} <= {int, float}
        plain = (int, float, str, bool, tuple, list, np.ndarray, type(None))
        public = {name: value for name, value in vars(ranker).items() if name.endswith("_")}
        assert all(type(value) in plain for value in public.values()), {n: type(v) for n, v in public.items()}
    assert not hasattr(LinearRanker(), "intercept_")


def test_a_warning_points_at_the_users_own_line(problem):
    X, y, qid = problem
    ranker = LinearRanker(missing="mean").fit(np.where(X > 2, np.nan, X) + 1, y, qid)
    for export in (lambda: ranker.to_svmrank(), lambda: ranker.to_solr(offset=1.0), lambda: ranker.to_ranklib()):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            export()
        assert told
        assert {one.filename for one in told} == {__file__}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        LinearRanker(max_iter=1, tol=1e-12).fit(X, y, qid)
    assert {one.filename for one in told} == {__file__}


def test_the_threshold_of_an_svmrank_model_is_not_minus_zero(problem):
    text = LinearRanker().fit(*problem).to_svmrank()
    assert "\n0.0 # threshold" in text
    assert "-0.0 #" not in text


def test_dir_lists_public_names_once():
    listed = dir(linrank)
    assert len(listed) == len(set(listed))
    assert {name for name in listed if not name.startswith("__")} == set(linrank.__all__)
