"""Metrics of ranked lists against their definitions, ties averaged over all orders."""

import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st

from linrank import DataError, ParameterError, UndefinedMetricWarning, metrics

pytestmark = pytest.mark.kernels

GRADES = {
    "binary": lambda rng, n: rng.integers(0, 2, n),
    "graded": lambda rng, n: rng.integers(0, 5, n),
    "negative": lambda rng, n: rng.integers(-2, 3, n),
    "real": lambda rng, n: 3 * rng.random(n),
    "nothing": lambda rng, n: np.zeros(n),
    "wide": lambda rng, n: rng.choice([0, 1, 40], n),
}
SCORES = {
    "tied": lambda rng, n: rng.integers(0, 3, n) - 1.0,
    "equal": lambda rng, n: np.full(n, 0.7),
    "distinct": lambda rng, n: rng.standard_normal(n),
    "zeros": lambda rng, n: rng.choice([0.0, -0.0, 1.0], n),
    "crowded": lambda rng, n: 1e9 + rng.integers(0, 3, n) * 2.0**-22,
}


@st.composite
def lists(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 14))
    y = GRADES[draw(st.sampled_from(sorted(GRADES)))](rng, n).astype(float)
    scores = SCORES[draw(st.sampled_from(sorted(SCORES)))](rng, n)
    qid = rng.permutation(np.arange(n) % (n // 6 + 1 + draw(st.integers(0, 3))))  # at most 6 rows: 720 orders
    return y, scores, 3 * qid - 4, draw(st.sampled_from([1, 2, 3, 5, 100])), draw(st.sampled_from(["average", "input"]))


@given(problem=lists())
@settings(max_examples=100)
def test_equal_their_definitions(problem):
    y, scores, qid, k, ties = problem
    for name, twin in twins.TWINS.items():
        ours = metrics.parse(f"{name}@{k}", ties=ties)(y, scores, qid, per_query=True)
        theirs = twins.per_query(twin, y, scores, qid, k, ties)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, err_msg=name)
    top = max(y.max(), 0)
    ours = metrics.err(y, scores, qid, k=k, ties=ties, per_query=True)
    theirs = twins.per_query(lambda grades, k: twins.err(grades, k, top), y, scores, qid, k, ties)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_the_average_over_a_long_run_of_equal_scores_is_that_of_random_orders():
    y = np.arange(400) % 7 // 5  # a chance of 1/2 at two rows of seven: the run is followed for about 300 rows
    draws = [metrics.err(y, np.random.default_rng(i).random(400), max_grade=1) for i in range(300)]
    exact = metrics.err(y, np.zeros(400), max_grade=1)
    assert exact == pytest.approx(np.mean(draws), abs=4 * np.std(draws) / np.sqrt(300))
    assert exact == pytest.approx(metrics.err(y, np.zeros(400), k=399, max_grade=1), abs=1e-12)


@pytest.fixture
def example():
    return np.array([1, 0, 2, 0, 0, 1.0]), np.array([3, 2, 1, 5, 4, 3.0]), np.array(list("aaabbc"))


def test_empty_queries_by_each_convention(example):
    y, s, q = example
    values = metrics.ndcg(y, s, q, per_query=True)
    assert np.isnan(values[1])
    assert not np.isnan(values[[0, 2]]).any()
    mean = {empty: metrics.ndcg(y, s, q, empty=empty) for empty in ("skip", "zero", "one")}
    total = np.nansum(values)
    assert mean == pytest.approx({"skip": total / 2, "zero": total / 3, "one": (total + 1) / 3})
    assert [metrics.ndcg(y, s, q, empty=number) for number in (0, 1)] == [mean["zero"], mean["one"]]
    with pytest.raises(ParameterError, match=r"empty=0\.5"):
        metrics.ndcg(y, s, q, empty=0.5)
    with pytest.warns(UndefinedMetricWarning, match="not defined for any query"):
        assert np.isnan(metrics.average_precision([0, 0], [1, 2]))


def test_query_weights(example):
    y, s, q = example
    values = metrics.ndcg(y, s, q, per_query=True)
    weighted = metrics.ndcg(y, s, q, query_weight={"a": 3.0, "b": 5.0, "c": 1.0})
    assert weighted == pytest.approx((3 * values[0] + values[2]) / 4)
    assert metrics.ndcg(y, s, q, query_weight={"a": 1.0, "b": 1.0, "c": 0.0}) == pytest.approx(values[0])


def test_gains_and_discounts(example):
    y, s, q = example
    table = {0: 0.0, 1: 1.0, 2: 3.0}
    assert metrics.ndcg(y, s, q, gain=table) == metrics.ndcg(y, s, q, gain=[0, 1, 3]) == metrics.ndcg(y, s, q)
    assert metrics.ndcg(y, s, q, gain={0: 0, 1: 1, 2: 2}) == metrics.ndcg(y, s, q, gain="linear")
    order = np.array([1, 0, 2.0])
    assert metrics.dcg(order, -np.arange(3)) == pytest.approx(1 + 3 / 2)
    assert metrics.dcg(order, -np.arange(3), discount="letor") == pytest.approx(1 + 3 / np.log2(3))
    assert metrics.dcg([2, 2.0], [2, 1], discount="letor") == pytest.approx(6.0)  # position 2 is not discounted
    reversed_gains = metrics.ndcg(y, s, q, gain={0: 5, 1: 1, 2: 0})
    assert 0 < reversed_gains < 1


@pytest.mark.parametrize(
    ("kwargs", "error", "text"),
    [
        (dict(gain={0: 1.0}), DataError, "no entry for grade"),
        (dict(gain="square"), ParameterError, "gain='square' is not known"),
        (dict(gains="linear"), ParameterError, "does not know 'gains'"),
        (dict(ties="docid", docid=["x"]), DataError, "docid has shape"),
        (dict(ties="threshold"), ParameterError, "ties='threshold' is not known"),
        (dict(preset="lucene"), ParameterError, "'lightgbm', 'letor'"),
        (dict(k=0), ParameterError, "k=0 must be"),
        (dict(k=True), ParameterError, "k=True must be"),
        (dict(query_weight=[1, 2]), DataError, "query_weight"),
    ],
    ids=str,
)
def test_what_is_not_understood_is_named(example, kwargs, error, text):
    with pytest.raises(error, match=text):
        metrics.ndcg(*example, **kwargs)


def test_other_errors_are_named(example):
    y, s, q = example
    with pytest.raises(DataError, match="overflows at y = 5000"):
        metrics.ndcg([5000.0, 0], [1, 2])
    with pytest.raises(DataError, match="negative gains"):
        metrics.ndcg(-y, s, q, gain="signed")
    with pytest.raises(DataError, match="above max_grade=1"):
        metrics.err(y, s, q, max_grade=1)
    with pytest.raises(ParameterError, match="leave k out"):
        metrics.average_precision(y, s, q, k=2, ties="threshold")
    with pytest.raises(DataError, match="y has 2 values, but scores has 6 rows"):
        metrics.ndcg(y[:2], s, q)
    with pytest.raises(DataError, match="pass docid"):
        metrics.ndcg(y, np.zeros(6), q, ties="docid")
    with pytest.raises(DataError, match="32-bit"):
        metrics.ndcg(y, s * 1e39, q, preset="xgboost")


def test_document_ids_break_ties_from_the_end_of_the_alphabet():
    y, s = np.array([0, 1, 0]), np.zeros(3)
    assert metrics.reciprocal_rank(y, s, ties="docid", docid=["a", "c", "b"]) == 1
    assert metrics.reciprocal_rank(y, s, ties="docid", docid=["c", "a", "b"]) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(y, [3, 2, 1], ties="docid") == pytest.approx(1 / 2)  # no ties: no ids needed


def test_weights_of_rows_follow_their_queries_when_ties_go_by_docid():
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(5), 4))
    y, scores, docid = rng.integers(0, 3, 20), rng.integers(0, 3, 20), [f"d{k}" for k in rng.permutation(20)]
    by_query = {q: 1.0 + q for q in range(5)}
    for name in ("ndcg", "map", "mrr", "precision@2"):
        judge = metrics.parse(name, ties="docid", docid=docid)
        found = judge(y, scores, qid, query_weight=1.0 + qid)
        assert found == judge(y, scores, qid, query_weight=by_query)
        each = judge(y, scores, qid, per_query=True)
        known = ~np.isnan(each)
        assert found == pytest.approx(np.average(each[known], weights=1.0 + np.flatnonzero(known)))
