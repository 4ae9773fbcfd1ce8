"""The modelled cost of an exact Hessian: how it grows. Whether it is right is measured by benchmarks/run.py hessian."""

import numpy as np

from linrank import RankingData
from linrank.engines import LocalEngine
from linrank.engines._cost import share_active
from linrank.losses import HuberHinge, Logistic, SquaredHinge


def cost(loss, rows=2000, d=100, size=20, levels=5, dtype="f8", pairs=False):
    rng = np.random.default_rng(0)
    X = np.zeros((rows, d), dtype)
    if pairs:
        return LocalEngine(RankingData(X, pairs=np.arange(rows).reshape(-1, 2))).hessian_cost(loss)
    y = rng.integers(0, levels, rows) if levels else rng.random(rows)
    return LocalEngine(RankingData(X, y, np.arange(rows) // size)).hessian_cost(loss)


def test_more_features_make_it_dearer():
    for loss in (SquaredHinge(), Logistic()):
        costs = [cost(loss, d=d) for d in (5, 50, 200, 1000)]
        assert costs == sorted(costs)


def test_rows_of_half_the_size_are_multiplied_faster():
    assert cost(SquaredHinge(), d=1000, dtype="f4") > cost(SquaredHinge(), d=1000)


def test_pairs_cost_a_part_of_queries():
    for loss in (SquaredHinge(), Logistic()):
        assert cost(loss, pairs=True) < 0.5 * cost(loss)


def test_a_narrow_band_holds_few_pairs():
    assert share_active(SquaredHinge().steps) == share_active(HuberHinge(10.0).steps)
    assert share_active(HuberHinge(1e-3).steps) < 1e-3
    assert cost(HuberHinge(1e-3)) < 0.1 * cost(HuberHinge(10.0))


def test_more_levels_than_a_cache_holds_cost_more():
    few, many = (cost(SquaredHinge(), 20_000, 20, 20_000, levels) for levels in (5, None))
    assert many > 1.1 * few


def test_a_part_without_a_pair_has_a_cost():
    data = RankingData(np.zeros((4, 2)), [0, 1, 0, 1]).part(np.array([0, 2]))
    for loss in (SquaredHinge(), Logistic()):
        assert LocalEngine(data).hessian_cost(loss) >= 0
