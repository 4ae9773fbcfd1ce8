"""Slopes of single pairs as a matrix over rows, times a vector: against the sum over all pairs."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings

from linrank import NoPairsError, RankingData
from linrank.data import active
from linrank.engines import LocalEngine
from linrank.engines.outer import row_weights
from linrank.losses import HuberHinge, Logistic, LogisticErfc, SquaredHinge
from linrank.testing import enumerate_pairs, naive_phi
from strategies import problems

LOSSES = {"squared_hinge": SquaredHinge(), "logistic": Logistic(), "erfc": LogisticErfc(), "huber": HuberHinge(0.5)}
#: Kernels of long rankings for all of them, those of few levels and of many; and those of short ones.
WAYS = {
    "few levels": active.Tuning(short_to_sum=0, short_logistic=0, few_levels_to_sum=10**9),
    "tree": active.Tuning(short_to_sum=0, short_logistic=0, few_levels_to_sum=0),
    "short": active.Tuning(short_to_sum=10**9, short_logistic=10**9),
}


@pytest.mark.kernels
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LOSSES)
@settings(deadline=None, max_examples=25)
@given(problem=problems())
def test_it_is_the_sum_over_partners(name, way, problem):
    loss, rng = LOSSES[name], np.random.default_rng(0)
    X = np.column_stack([problem.scores, np.ones(problem.y.size)])
    try:
        data = RankingData(X, problem.y, problem.qid, **problem.options)
    except NoPairsError:
        return
    x = rng.random(problem.y.size)
    with mock.patch.object(active, "TUNING", replace(WAYS[way])), LocalEngine(data) as engine:
        found = engine.evaluate(loss, engine.scores(np.array([1.0, 0.0]))).turn(x)
    s, wanted = problem.scores, np.zeros(x.size)
    for i, j, c in zip(*enumerate_pairs(problem.y, problem.qid, **problem.options), strict=True):
        slope = c * naive_phi(loss).slope(s[[i]] - s[[j]])[0]
        wanted[i] += slope * x[j]
        wanted[j] -= slope * x[i]
    size = 1.0 + np.ptp(s) if loss.steps is not None else 1.0
    room = (1e-8 if name == "erfc" else 1e-11) * size * max(1.0, row_weights(data).max())
    assert np.abs(found - wanted).max() <= room
