"""Pairwise accuracy against its definition and against scikit-learn's AUC."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import roc_auc_score

from linrank import DataError, NoPairsError
from linrank.metrics import pairwise_accuracy
from linrank.testing import enumerate_pairs, naive_accuracy
from strategies import problems


@given(problem=problems())
@settings(max_examples=300)
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


@pytest.mark.parametrize("scores", [[1.0, np.nan], [[1.0], [2.0]]])
def test_bad_scores_are_refused(scores):
    with pytest.raises(DataError, match="score"):
        pairwise_accuracy([0, 1], scores)
