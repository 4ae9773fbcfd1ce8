"""Metrics of pairs against their definitions, scikit-learn's AUC and SciPy's tau."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import kendalltau, somersd
from sklearn.metrics import roc_auc_score

from linrank import DataError, NoPairsError, ParameterError, UndefinedMetricWarning
from linrank.metrics import auc, c_index, kendall_tau, pairwise_accuracy, pairwise_error, wmw
from linrank.testing import enumerate_pairs, naive_accuracy
from strategies import problems


@given(problem=problems())
@settings(max_examples=220)
def test_equals_its_definition(problem):
    problem.options.pop("pairs", None)
    try:
        ours = pairwise_accuracy(problem.y, problem.scores, problem.qid, **problem.options)
    except NoPairsError:
        return
    pairs = enumerate_pairs(problem.y, problem.qid, **problem.options)
    assert ours == pytest.approx(naive_accuracy(problem.scores, pairs), abs=1e-12)


def test_two_levels_are_the_area_under_the_roc_curve():
    rng = np.random.default_rng(0)
    y, s, v = rng.integers(0, 2, 5000), np.round(rng.standard_normal(5000), 1), rng.random(5000)
    assert pairwise_accuracy(y, s) == pytest.approx(roc_auc_score(y, s), abs=1e-13)
    assert pairwise_accuracy(y, s, sample_weight=v) == pytest.approx(roc_auc_score(y, s, sample_weight=v), abs=1e-12)


def share_right(scores, pairs, tie):
    z = scores[pairs.winner] - scores[pairs.loser]
    return float(pairs.c @ np.where(z == 0, tie, z > 0) / pairs.c.sum()) if pairs.c.size else np.nan


@pytest.mark.kernels
@given(problem=problems())
def test_wmw_by_query_and_by_what_ties_count(problem):
    y, s, qid, options = problem.y, problem.scores, problem.qid, problem.options
    options = {name: options[name] for name in ("sample_weight", "preferences") if name in options}
    weight = options.get("sample_weight", np.ones(y.size))
    for ties, tie in {"half": 0.5, "correct": 1.0, "wrong": 0.0}.items():
        ours = wmw(y, s, qid, ties=ties, per_query=True, **options)
        for value, q in zip(ours, np.unique(qid), strict=True):
            here = qid == q
            pairs = enumerate_pairs(y[here], sample_weight=weight[here], preferences=options["preferences"])
            assert value == pytest.approx(share_right(s[here], pairs, tie), abs=1e-12, nan_ok=True)
        pairs = enumerate_pairs(y, qid, **options)
        if pairs.c.size:
            assert wmw(y, s, qid, ties=ties, **options) == pytest.approx(share_right(s, pairs, tie), abs=1e-12)
    error = pairwise_error(y, s, qid, per_query=True, **options)
    np.testing.assert_array_equal(error, 1 - pairwise_accuracy(y, s, qid, per_query=True, **options))


@pytest.mark.kernels
@given(problem=problems(options=False))
def test_kendall_and_auc_by_query(problem):
    y, s, qid = problem.y, problem.scores, problem.qid
    tau, d, c = (
        f(y, s, qid, per_query=True)
        for f in (kendall_tau, lambda *a, **k: kendall_tau(*a, variant="somers", **k), c_index)
    )
    area = auc(y, s, qid, threshold=0.5, per_query=True)
    for k, q in enumerate(np.unique(qid)):
        here = np.flatnonzero(qid == q)
        alike = here.size < 2 or np.ptp(y[here]) == 0 or np.ptp(s[here]) == 0
        assert tau[k] == pytest.approx(
            np.nan if alike else kendalltau(y[here], s[here]).statistic, abs=1e-12, nan_ok=True
        )
        if not alike:
            with np.errstate(invalid="ignore"):  # scipy's p-value, which may be 0/0
                theirs = somersd(y[here], s[here]).statistic
            assert d[k] == pytest.approx(theirs, abs=1e-12)
        assert c[k] == pytest.approx((d[k] + 1) / 2, nan_ok=True)
        positive = y[here] >= 0.5
        both = positive.any() and not positive.all()
        assert area[k] == pytest.approx(roc_auc_score(positive, s[here]) if both else np.nan, abs=1e-12, nan_ok=True)


def test_area_needs_two_levels():
    y, s, v = [0, 1, 0, 1, 1, 1], [1, 2, 3, 2, 5, 6], [1, 2, 3, 0.5, 1, 1]
    q = [0, 0, 0, 0, 1, 1]
    assert auc(y, s, q) == roc_auc_score(y[:4], s[:4])  # the second query has positives only
    assert auc(y, s, sample_weight=v) == pytest.approx(roc_auc_score(y, s, sample_weight=v))
    with pytest.raises(DataError, match="threshold"):
        auc([0, 1, 2], [1, 2, 3])
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(auc([1, 1], [1, 2]))
    with pytest.raises(ParameterError, match="ties='both' is not known"):
        wmw(y, s, ties="both")
    with pytest.raises(ParameterError, match="variant"):
        kendall_tau(y, s, variant="c")
    assert kendall_tau([1, 2, 2], [1, 2, 3], variant="a") == pytest.approx(2 / 3)


def test_large_whole_numbers_are_compared_as_they_are():
    y = np.array([2**60, 2**60 + 1, 2**60 + 2])
    assert pairwise_accuracy(y, [1, 3, 2]) == pytest.approx(2 / 3)
    np.testing.assert_array_equal(wmw(y, [1, 3, 2], [0, 0, 1], per_query=True), [1.0, np.nan])


@pytest.mark.parametrize("scores", [[1.0, np.nan], [[1.0], [2.0]], []])
def test_bad_scores_are_refused(scores):
    with pytest.raises(DataError, match="score"):
        pairwise_accuracy([0, 1], scores)
