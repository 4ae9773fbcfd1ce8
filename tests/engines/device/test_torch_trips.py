"""Launches do not depend on how many queries there are, and an evaluation is one transfer."""

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import LinearRanker, RankingData
from linrank.engines import Torch
from linrank.losses import LOSSES, HuberHinge
from linrank.testing import make_ranking

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
pytestmark = pytest.mark.torch

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from linrank.engines.torch.engine import TorchEngine  # noqa: E402

TRIED = [*LOSSES.values(), HuberHinge(0.5)]
#: No work on a device: another look at the same memory.
VIEWS = (
    "view",
    "slice",
    "select",
    "unsqueeze",
    "expand",
    "transpose",
    "t.",
    "_unsafe_view",
    "unbind",
    "detach",
    "alias",
)
#: Operations that wait for the device.
WAITS = ("_local_scalar_dense", "nonzero", "_to_copy")


class Launches(TorchDispatchMode):
    """Counts operations that are launched, and notes those that wait."""

    def __init__(self):
        super().__init__()
        self.count, self.waits = 0, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.__name__
        if name.startswith(WAITS[:2]):
            self.waits.append(name)
        self.count += not name.startswith(VIEWS)
        return function(*args, **(kwargs or {}))


@pytest.fixture
def transfers(monkeypatch):
    """Names of the methods by which numbers came to the host."""
    seen = []
    for name in ("cpu", "item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__array__"):
        method = getattr(torch.Tensor, name)

        def noted(self, *args, _name=name, _method=method, **kwargs):
            seen.append(_name)
            return _method(self, *args, **kwargs)

        monkeypatch.setattr(torch.Tensor, name, noted)
    return seen


def launches(loss, n_queries, levels, scores="float64"):
    X, y, qid = make_ranking(5 * n_queries, 3, n_queries, levels)
    y = np.random.default_rng(0).integers(0, levels, y.size).astype(float)
    y[: levels + 1], qid[: levels + 1] = np.arange(levels + 1) % levels, 0  # the same number of levels
    with TorchEngine(RankingData(X, y, qid), Torch("torch:cpu", scores)) as engine:
        s = engine.scores(np.ones(3))
        engine.evaluate(loss, s)  # tables of kernels are made once
        with Launches() as evaluated:
            point = engine.evaluate(loss, s, s, 0.5, gradient=True)
        counts = [evaluated.count]
        if loss.smooth:
            point.hessian_product(np.ones(3))
            with Launches() as multiplied:
                point.hessian_product(np.ones(3))
            counts.append(multiplied.count)
    return counts, evaluated.waits


@pytest.mark.parametrize("loss", TRIED, ids=lambda loss: loss.name)
@pytest.mark.parametrize("levels", [5, 40])
def test_launches_do_not_grow_with_queries(loss, levels):
    few, waits = launches(loss, 10, levels)
    many, _ = launches(loss, 10_000, levels)
    assert few == many
    assert max(few) < 1000
    assert not waits


@pytest.mark.parametrize("loss", TRIED, ids=lambda loss: loss.name)
def test_scores_in_float32_take_one_sort_less(loss, monkeypatch):
    X, y, qid = make_ranking(300, 3, 10, 4)
    sort, counts = torch.sort, []
    for scores in ("float64", "float32"):
        sorts = []
        monkeypatch.setattr(torch, "sort", lambda x, sorts=sorts: sorts.append(x.dtype) or sort(x))
        with TorchEngine(RankingData(X, y, qid), Torch("torch:cpu", scores)) as engine:
            engine.evaluate(loss, engine.scores(np.ones(3)))
        counts.append(len(sorts))
    assert counts[1] == counts[0] - 1 == 1 + loss.name.startswith("logistic")
    assert set(sorts) == {torch.int64}


@pytest.mark.parametrize("loss", [LOSSES["squared_hinge"], LOSSES["logistic"]], ids=lambda loss: loss.name)
def test_launches_in_float32_do_not_grow_with_queries(loss):
    few, waits = launches(loss, 10, 5, "float32")
    assert few == launches(loss, 10_000, 5, "float32")[0]
    assert not waits


def test_launches_grow_with_the_logarithm_of_the_levels():
    counts = [launches(LOSSES["squared_hinge"], 100, levels)[0][0] for levels in (30, 60, 120)]
    assert 0 < counts[1] - counts[0] == counts[2] - counts[1] < 120


@pytest.mark.parametrize("loss", TRIED, ids=lambda loss: loss.name)
@pytest.mark.parametrize("scores", ["float64", "float32"])
def test_an_evaluation_is_one_transfer(loss, scores, transfers):
    X, y, qid = make_ranking(300, 4, 20, 4)
    with TorchEngine(RankingData(X, y, qid), Torch("torch:cpu", scores)) as engine:
        s, d = engine.scores(np.ones(4)), engine.scores(np.arange(4.0))
        assert not transfers
        engine.evaluate(loss, s)
        assert len(transfers) == 1 + loss.name.startswith("logistic")  # once the columns' ranges
        transfers.clear()
        point = engine.evaluate(loss, s, d, 0.5, gradient=True)
        assert transfers == ["cpu"]
        point.gradient()
        assert transfers == ["cpu"]
        later = engine.evaluate(loss, s)
        transfers.clear()
        later.gradient()
        later.gradient()
        assert transfers == ["cpu"]
        if loss.smooth:
            transfers.clear()
            point.hessian_product(np.ones(4))
            assert transfers == ["cpu"]
            point.hessian(None)
            assert transfers == ["cpu", "cpu"]


@pytest.mark.parametrize("n_queries", [10, 10_000])
@pytest.mark.parametrize("loss", [LOSSES["squared_hinge"], LOSSES["logistic"]], ids=lambda loss: loss.name)
def test_transfers_do_not_grow_with_queries(loss, n_queries, transfers):
    X, y, qid = make_ranking(5 * n_queries, 3, n_queries, 3)
    with TorchEngine(RankingData(X, y, qid), "torch:cpu") as engine:
        s = engine.scores(np.ones(3))
        engine.evaluate(loss, s)
        transfers.clear()
        point = engine.evaluate(loss, s, s, 0.5, gradient=True)
        point.gradient()
        point.hessian_product(np.ones(3))
        point.hessian()
        assert transfers == ["cpu"] * 3


@pytest.mark.parametrize("sparse", [False, True])
def test_scores_are_no_wider_than_is_said(sparse):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 5)) * 10.0 ** rng.integers(-3, 4, 5) + rng.choice([0.0, 1e6], 5)
        X[rng.random(X.shape) < 0.5] = 0.0
        X = X.astype(np.float32) if seed % 2 else X
        data = RankingData(sp.csr_array(X) if sparse else X, rng.integers(0, 4, 200), rng.integers(0, 4, 200))
        for scores in ("float64", "float32"):
            with TorchEngine(data, Torch("torch:cpu", scores)) as engine:
                s = engine.scores(rng.standard_normal(5)).along(engine.scores(rng.standard_normal(5)), -0.3)
                here = engine.rounded(s).to(torch.float64)
                assert float(here.max() - here.min()) <= engine.width(s) or scores == "float32"
                assert np.isfinite(engine.evaluate(LOSSES["logistic"], s).sums.value)


def test_columns_are_measured_once(transfers):
    X, y, qid = make_ranking(300, 3, 10, 3)
    with TorchEngine(RankingData(X, y, qid), "torch:cpu") as engine:
        assert engine.columns() is engine.columns()
    assert transfers == ["cpu"]


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_a_fit_transfers_little(loss, transfers):
    X, y, qid = make_ranking(2000, 6, 100, 4)
    ranker = LinearRanker(loss, device="torch:cpu").fit(X, y, qid)
    # Columns, then an evaluation with its gradient and a Hessian an iteration, and a few trials more.
    assert len(transfers) <= 4 + 3 * (ranker.n_iter_ + 2)
