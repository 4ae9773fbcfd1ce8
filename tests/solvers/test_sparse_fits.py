"""Whole fits to sparse data by the rules that are theirs: the same bits on any number of threads, and the minimum."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine, matrix, reading
from linrank.losses import LOSSES
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, Newton
from linrank.solvers.newton import directions


def text(m=150, d=120, length=30, seed=0):
    """Rows of words by Zipf's law, in ten queries of three grades."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, d + 1)
    words = rng.choice(d, size=m * length, p=chance / chance.sum())
    X = sp.csr_array((np.ones(words.size), (np.repeat(np.arange(m), length), words)), shape=(m, d))
    X.sum_duplicates()
    y = np.digitize(X @ rng.normal(size=d) + rng.normal(size=m), [-1.0, 2.0])
    return X, y, rng.integers(0, 10, m)


@pytest.fixture(params=["secants alone", "conjugate gradients", "by columns"])
def way(request, monkeypatch):
    """Many blocks, and one way to directions."""
    monkeypatch.setattr(matrix, "BLOCK_ENTRIES", 64)
    monkeypatch.setattr(matrix, "FLOAT32_ENTRIES", 1)
    monkeypatch.setattr(reading, "FLOAT32_ENTRIES", 1)
    entries = 1.0 if request.param == "secants alone" else np.inf
    monkeypatch.setattr(directions, "TUNING", replace(directions.TUNING, entries=entries))
    if request.param == "by columns":
        monkeypatch.setattr(reading, "SHORT", 1000)
        monkeypatch.setattr(reading, "LONG", 0)
    return request.param


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
def test_the_same_bits_on_any_number_of_threads(way, loss):
    X, y, qid = text()
    fits = [LinearRanker(loss, 1e-3, solver=Newton(), scale=False, n_jobs=n).fit(X, y, qid) for n in (1, 2, 3)]
    assert all(fit.status_ == "converged" for fit in fits)
    assert len({fit.coef_.tobytes() for fit in fits}) == 1
    assert len({fit.gap_ for fit in fits}) == 1


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge"])
@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
def test_the_minimum_is_found(way, loss, alpha):
    X, y, qid = text(seed=1)
    with LocalEngine(RankingData(X, y, qid)) as engine:
        objective = Objective(engine, LOSSES[loss], Ridge(alpha))
        found, best = Newton(1e-4).minimise(objective), Bundle(1e-5).minimise(objective)
        assert found.status == "converged"
        assert -best.gap - 1e-12 <= found.value - best.value <= found.gap
        if way == "by columns":
            assert isinstance(engine.fast.matrix, reading.ByColumns)
