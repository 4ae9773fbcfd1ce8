"""A model that was trained on some preferences is judged by them, whoever judges; unless told otherwise."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linrank import LinearRanker, LinearRankerCV, SGDRanker, compare, labels, metrics
from linrank.metrics import parse, scorer
from linrank.model_selection import QueryKFold, cross_validate
from linrank.testing import make_ranking

GRAPH = [(1, 0), (2, 1), (3, 2, 0.5)]  # against the order of the grades


@pytest.fixture(scope="module")
def problem():
    return make_ranking(600, 5, 30, 4, noise=1.0, seed=1)


@pytest.mark.parametrize("name", ["wmw", "pairwise_accuracy"])
@pytest.mark.parametrize("kind", [LinearRanker, LinearRankerCV, SGDRanker])
def test_scorers_judge_by_the_preferences_of_the_model(problem, name, kind):
    X, y, qid = problem
    more = {"alphas": [1e-3], "cv": 2} if kind is LinearRankerCV else {}
    ranker = kind(preferences=GRAPH, **more, **({"random_state": 0} if kind is SGDRanker else {})).fit(X, y, qid)
    own = ranker.score(X, y, qid)
    assert own > 0.7
    assert scorer(name)(ranker, X, y, qid) == pytest.approx(own)
    assert scorer("pairwise_error")(ranker, X, y, qid) == pytest.approx(own - 1)
    full = scorer(name, preferences="full")(ranker, X, y, qid)
    assert full == metrics.wmw(y, ranker.predict(X), qid)
    assert full < 0.4
    assert scorer("ndcg")(ranker, X, y, qid) == metrics.ndcg(y, ranker.predict(X), qid)


def test_cross_validation_judges_by_the_preferences_of_the_model(problem):
    X, y, qid = problem
    folds = QueryKFold(4)
    tuned = LinearRankerCV([1e-3], cv=folds, preferences=GRAPH).fit(X, y, qid).cv_results_["mean_score"][0]
    pipeline = make_pipeline(StandardScaler(), LinearRanker(preferences=GRAPH))
    for ranker in (LinearRanker(preferences=GRAPH), pipeline):
        found = cross_validate(ranker, X, y, qid, cv=folds, metric=["wmw", "pairwise_error", "ndcg"])
        assert found["test_wmw"].mean() == pytest.approx(tuned, abs=5e-3)
        np.testing.assert_allclose(found["test_pairwise_error"], 1 - found["test_wmw"])
        told = cross_validate(ranker, X, y, qid, cv=folds, metric=parse("wmw", preferences="full"))["test_score"]
        assert told.mean() < 0.4
    search = GridSearchCV(LinearRanker(), {"preferences": ["full", GRAPH]}, cv=folds, scoring=scorer("wmw"))
    low, high = search.fit(X, labels(y, qid)).cv_results_["mean_test_score"]
    assert min(low, high) > 0.7  # each judged by its own


def test_a_tuned_model_takes_the_metric_as_it_was_told(problem):
    X, y, qid = problem
    X = np.sign(X)  # equal scores

    def best(metric, **more):
        ranker = LinearRankerCV([1e-3], cv=QueryKFold(3), metric=metric, **more).fit(X, y, qid)
        return ranker.cv_results_["mean_score"][0]

    strict, half = best(parse("pairwise_error", ties="correct")), best("pairwise_error")
    assert strict < half
    right = cross_validate(LinearRanker(), X, y, qid, cv=QueryKFold(3), metric=parse("pairwise_error", ties="correct"))
    assert strict == pytest.approx(right["test_score"].mean(), abs=5e-3)
    for told in ({"preferences": "full"}, {"query_weighting": "queries", "preferences": GRAPH}):
        other = cross_validate(
            LinearRanker(preferences=GRAPH), X, y, qid, cv=QueryKFold(3), metric=parse("wmw", **told)
        )
        assert best(parse("wmw", **told), preferences=GRAPH) == pytest.approx(other["test_score"].mean(), abs=5e-3)


def test_the_strict_count_of_the_papers_by_name():
    y, s = [2, 1, 0, 0], [1.0, 1.0, 2.0, 0.0]
    assert metrics.pairwise_error(y, s, ties="correct") == pytest.approx(2 / 5)  # of 5 pairs 2 are reversed, 1 is tied
    assert metrics.pairwise_error(y, s) == pytest.approx(2.5 / 5)
    assert metrics.pairwise_accuracy(y, s, ties="wrong") == pytest.approx(2 / 5)
    assert parse("error", ties="correct")(y, s) == pytest.approx(2 / 5)
    assert "ties" in metrics.pairwise_error.__doc__
    found = compare(y + y, s + s, [4, 3, 2, 1] * 2, [0] * 4 + [1] * 4, metric="pairwise_error", ties="correct")
    assert found.mean_a == pytest.approx(2 / 5)


def test_options_reach_a_metric_that_was_parsed_before():
    y, s, t, q = [2, 1, 0, 0] * 2, [1.0, 1.0, 2.0, 0.0] * 2, [4, 3, 2, 1] * 2, [0] * 4 + [1] * 4
    assert compare(y, s, t, q, parse("pairwise_error"), ties="correct").mean_a == pytest.approx(2 / 5)
    assert parse(parse("ndcg"), "letor").options["preset"] == "letor"
    assert parse(parse("ndcg", "trec"), "letor", gain="linear").options == {"preset": "letor", "gain": "linear"}
