"""Metrics by name, and as scikit-learn's scorers."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linrank import DataError, LinearRanker, ParameterError, UndefinedMetricWarning, labels, metrics
from linrank.metrics import _families, _names, parse, scorer
from linrank.metrics._families import FAMILIES
from linrank.model_selection import QueryKFold
from linrank.testing import make_ranking

pytestmark = pytest.mark.smoke


@pytest.mark.parametrize(
    ("name", "shown", "function", "options"),
    [
        ("ndcg@10", "ndcg@10", metrics.ndcg, {"k": 10}),
        (" NDCG@007 ", "ndcg@7", metrics.ndcg, {"k": 7}),
        ("map", "map", metrics.average_precision, {}),
        ("AP@3", "map@3", metrics.average_precision, {"k": 3}),
        ("mrr", "mrr", metrics.reciprocal_rank, {}),
        ("p@5", "precision@5", metrics.precision, {"k": 5}),
        ("precision@5", "precision@5", metrics.precision, {"k": 5}),
        ("recall@2", "recall@2", metrics.recall, {"k": 2}),
        ("hit@1", "hit@1", metrics.hit, {"k": 1}),
        ("err@10", "err@10", metrics.err, {"k": 10}),
        ("dcg@4", "dcg@4", metrics.dcg, {"k": 4}),
        ("mean_ndcg", "mean_ndcg", metrics.mean_ndcg, {}),
        ("pairwise_accuracy", "pairwise_accuracy", metrics.pairwise_accuracy, {}),
        ("pairwise_error", "pairwise_error", metrics.pairwise_error, {}),
        ("wmw", "wmw", metrics.wmw, {}),
        ("kendall_tau", "kendall_tau", metrics.kendall_tau, {}),
        ("c_index", "c_index", metrics.c_index, {}),
    ],
)
def test_names(name, shown, function, options):
    _, y, qid = make_ranking(60, 2, 6, 4)
    scores = np.random.default_rng(0).standard_normal(60)
    metric = parse(name)
    assert metric.name == shown
    assert metric(y, scores, qid) == function(y, scores, qid, **options)
    assert parse(metric) is metric
    assert metric.greater_is_better == (shown != "pairwise_error")


@pytest.mark.parametrize("name", ["ndgc@10", "ndcg@", "ndcg@0", "auc@5", "", 7, None, "map@-1"])
def test_unknown_names_are_answered_by_the_known_ones(name):
    with pytest.raises(
        ParameterError, match=r"metric=.*(use one of ndcg\[@k\].*pairwise_error|takes no cut|at least 1)"
    ):
        parse(name)


def test_every_public_function_is_in_the_table():
    functions = {family.function.__name__ for family in FAMILIES.values()}
    others = {"Comparison", "Conventions", "Metric", "compare", "parse", "scorer"}
    assert functions == set(metrics.__all__) - others
    assert all(getattr(metrics, name) is parse_function(name) for name in functions)


def parse_function(name):
    return FAMILIES[parse(name).family].function


def test_a_metric_is_known_once_it_is_defined(monkeypatch):
    monkeypatch.setattr(_families, "FAMILIES", dict(FAMILIES))
    monkeypatch.setattr(_families, "NAMES", dict(_families.NAMES))
    monkeypatch.setattr(_names, "FAMILIES", _families.FAMILIES)
    monkeypatch.setattr(_names, "NAMES", _families.NAMES)

    @_families.pairwise(aliases=("luck",), greater_is_better=False)
    def chance(y, scores, qid=None):
        return 0.5

    assert parse("luck")([0, 1], [1.0, 0.0]) == 0.5
    assert not parse("chance").greater_is_better
    assert not parse("chance").takes_preferences
    with pytest.raises(ParameterError, match="take the name 'map' from 'map'"):
        _families.pairwise(aliases=("map",))(lambda y, scores, qid=None: 0.5)


def test_presets_and_conventions_travel_with_the_name():
    y, s = [0, 2, 1, 0], [3, 2, 1, 0]
    assert parse("ndcg", "lightgbm")(y, s) == metrics.ndcg(y, s, preset="lightgbm")
    assert parse("ndcg", gain="linear")(y, s) == metrics.ndcg(y, s, gain="linear")
    assert parse("wmw", "trec")(y, s) == metrics.wmw(y, s)  # presets are about lists


@pytest.fixture(scope="module")
def problem():
    """Queries with offsets of their own: judged as one query, any score is far off."""
    X, y, qid = make_ranking(600, 5, 40, 4, noise=3.0, seed=3)
    rng = np.random.default_rng(0)
    return X + rng.normal(0, 8, (40, 5))[qid], y, qid


ALPHAS = {"alpha": [1.0, 1e-4]}


def by_hand(problem, name, folds):
    X, y, qid = problem
    values = []
    for a, b in folds.split(X, y, qid):
        ranker = LinearRanker(alpha=1.0).fit(X[a], y[a], qid[a])
        values.append(parse(name)(y[b], ranker.predict(X[b]), qid[b]))
    return np.mean(values)


@pytest.mark.parametrize("name", ["ndcg@5", "map", "kendall_tau", "pairwise_accuracy"])
@pytest.mark.parametrize("routing", [True, False])
def test_grid_search_gives_the_right_number(problem, name, routing):
    X, y, qid = problem
    folds = QueryKFold(3)
    right = by_hand(problem, name, folds)
    search = GridSearchCV(LinearRanker(), ALPHAS, cv=folds, scoring=scorer(name))
    with config_context(enable_metadata_routing=routing):
        if routing:
            search.fit(X, y, qid=qid)
        else:
            search.fit(X, labels(y, qid))
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(right, abs=1e-12)
    assert abs(right - parse(name)(y, search.best_estimator_.predict(X))) > 0.005  # one query: another number


def test_a_ranker_without_scoring_takes_labels_too(problem):
    X, y, qid = problem
    both = labels(y, qid)
    search = GridSearchCV(LinearRanker(), ALPHAS, cv=QueryKFold(3)).fit(X, both)
    right = by_hand(problem, "pairwise_accuracy", QueryKFold(3))
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(right, abs=1e-12)
    ranker = LinearRanker().fit(X, both)
    np.testing.assert_array_equal(ranker.coef_, LinearRanker().fit(X, y, qid).coef_)
    assert ranker.fitted_with_qid_
    assert ranker.score(X, both) == ranker.score(X, y, qid) == metrics.pairwise_accuracy(both, ranker.predict(X))
    pipeline = make_pipeline(StandardScaler(), LinearRanker())
    values = cross_val_score(pipeline, X, both, cv=QueryKFold(3), scoring=scorer("ndcg@5"))
    assert np.all((values > 0.3) & (values < 1))


@pytest.mark.parametrize("routing", [True, False])
def test_several_scorers_at_once(problem, routing):
    X, y, qid = problem
    scoring = {"a": scorer("ndcg@5"), "b": scorer("map", preset="trec", ties="input")}
    search = GridSearchCV(LinearRanker(), {"alpha": [1.0]}, cv=QueryKFold(3), scoring=scoring, refit="b")
    with config_context(enable_metadata_routing=routing):
        search.fit(*((X, y) if routing else (X, labels(y, qid))), **({"qid": qid} if routing else {}))
    assert search.cv_results_["mean_test_a"][0] == pytest.approx(by_hand(problem, "ndcg@5", QueryKFold(3)))
    assert 0 < search.cv_results_["mean_test_b"][0] < 1
    again = pickle.loads(pickle.dumps(scoring["a"]))
    assert again(search, X, labels(y, qid)) == scoring["a"](search, X, labels(y, qid))


@pytest.mark.parametrize("scoring", [None, scorer("ndcg@5"), scorer("pairwise_error")])
def test_queries_that_do_not_reach_the_scorer_give_nan_and_never_a_number(problem, scoring):
    """The trap of xgboost#12334: qid reaches fit but not score, and several queries are judged as one."""
    X, y, qid = problem
    search = GridSearchCV(LinearRanker(), ALPHAS, cv=GroupKFold(3), scoring=scoring, refit=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y, groups=qid, qid=qid)
    text = " ".join(str(warning.message) for warning in caught)
    assert "fitted with q" in text
    assert "non-finite" in text
    assert np.all(np.isnan(search.cv_results_["mean_test_score"]))


def test_groups_alone_give_nan_for_metrics_of_lists_and_never_a_number(problem):
    """groups reach the splitter alone: the ranker is fitted to one query, which no list of graded rows is."""
    X, y, qid = problem
    folds = {"groups": qid, "cv": GroupKFold(3)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = cross_val_score(LinearRanker(), X, y, scoring=scorer("ndcg@5"), **folds)
    assert np.all(np.isnan(values))
    text = " ".join(str(warning.message) for warning in caught)
    assert "labels(y, qid)" in text
    assert "one_query=True" in text
    right = by_hand(problem, "ndcg@5", QueryKFold(3))
    values = cross_val_score(LinearRanker(alpha=1.0), X, labels(y, qid), scoring=scorer("ndcg@5"), cv=QueryKFold(3))
    assert values.mean() == pytest.approx(right)


def test_honest_rankers_of_one_query_are_judged_without_a_word(problem):
    X, y, _ = problem
    folds = {"cv": KFold(3)}
    for scoring in (None, scorer("wmw"), scorer("kendall_tau"), scorer("ndcg@5", one_query=True)):
        assert np.all(np.isfinite(cross_val_score(LinearRanker(), X, y, scoring=scoring, **folds)))
    gains = y + 0.5  # no grades: such lists are not made of queries by mistake
    assert np.all(
        np.isfinite(cross_val_score(LinearRanker(), X, gains, scoring=scorer("ndcg", gain="linear"), **folds))
    )


def test_estimators_that_do_not_say_are_judged_only_on_request(problem):
    X, y, qid = problem
    ridge = Ridge().fit(X, y)
    with pytest.raises(DataError, match="Ridge does not say"):
        scorer("ndcg@5")(ridge, X, y)
    assert scorer("ndcg@5")(ridge, X, y, qid) == metrics.ndcg(y, ridge.predict(X), qid, k=5)
    assert scorer("ndcg@5")(ridge, X, labels(y, qid)) == metrics.ndcg(y, ridge.predict(X), qid, k=5)
    assert scorer("ndcg@5", one_query=True)(ridge, X, y) == metrics.ndcg(y, ridge.predict(X), k=5)
    model = LogisticRegression().fit(X, y > 1)
    assert scorer("auc", one_query=True)(model, X, y > 1) == metrics.auc(y > 1, model.decision_function(X))


def test_rankers_of_one_query_need_no_qid(problem):
    X, y, _ = problem
    search = GridSearchCV(LinearRanker(), ALPHAS, cv=KFold(3), scoring=scorer("pairwise_error")).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.all((scores < 0) & (scores > -1))
    ranker = LinearRanker().fit(X, y)
    assert scorer("pairwise_error")(search, X, y) == -metrics.pairwise_error(y, search.predict(X))
    with pytest.warns(UndefinedMetricWarning, match="NaN"):
        assert np.isnan(scorer("wmw")(ranker, X[:3], np.ones(3)))


def test_labels():
    both = labels([1, 2, 3], ["a", "b", "a"])
    np.testing.assert_array_equal(both["y"], [1, 2, 3])
    assert both["qid"].tolist() == ["a", "b", "a"]
    assert metrics.ndcg(both[[0, 2]], [1.0, 2.0]) == 1.0
    with pytest.raises(DataError, match="contradicts"):
        metrics.ndcg(both, [1, 2, 3], ["a", "b", "b"])
    assert metrics.ndcg(both, [1, 2, 3], ["a", "b", "a"]) == metrics.ndcg(both, [1, 2, 3])
    with pytest.raises(DataError, match="one utility and one query id"):
        labels([1, 2], ["a"])
    with pytest.raises(DataError, match="already"):
        labels(both, ["a", "b", "a"])
    with pytest.raises(DataError, match=r"linrank\.labels"):
        metrics.ndcg(np.zeros(2, dtype=[("time", float), ("event", bool)]), [1, 2])
    with pytest.raises(DataError, match="qid"):
        metrics.ndcg(labels([1, 2], ["a", np.nan]), [1, 2])
