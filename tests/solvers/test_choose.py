"""The method that solver="auto" takes."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine
from linrank.losses import LOSSES, Hinge, Logistic, SquaredHinge
from linrank.objective import Objective
from linrank.penalties import Ridge
from linrank.solvers import Bundle, Newton, choose
from linrank.solvers.choose import TUNING
from linrank.solvers.newton import method
from linrank.solvers.relay import Relay
from linrank.testing import make_ranking


class Priced(LocalEngine):
    """Says what an exact Hessian costs, here and on samples."""

    cost, sampled = 6.0, 6.0

    def hessian_cost(self, loss):
        return self.cost if loss.smooth else None

    def sample(self, n_rows):
        part = Priced(self.data)
        part.cost = self.sampled
        return part


def chosen(loss, cost, sampled=None, X=None):
    rows, y, qid = make_ranking(600, 8, 20, 4)
    engine = Priced(RankingData(rows if X is None else X(rows), y, qid))
    engine.cost, engine.sampled = cost, sampled
    return choose.choose(Objective(engine, loss, Ridge(1e-3)), 1e-2, 77)


@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge(), Logistic()], ids=lambda loss: loss.name)
def test_newton_where_a_hessian_is_cheap(loss):
    assert chosen(loss, TUNING.cheap) == Newton(1e-2, 77)


@pytest.mark.parametrize("cost", [TUNING.cheap + 1, None])
def test_where_it_is_dear(cost):
    """Conjugate gradients may take sqrt(d) products for a direction; the hinge is not smoothed at all."""
    for loss in (SquaredHinge(), Logistic()):
        assert chosen(loss, cost) == Relay(Newton(1e-2, 77, max_products=2), Bundle(1e-2, 77))
    assert chosen(Hinge(), cost) == Bundle(1e-2, 77)


def test_the_hinge_where_only_a_sample_has_a_hessian(monkeypatch):
    assert chosen(Hinge(), None, sampled=6.0) == Bundle(1e-2, 77)  # of few rows there is none
    monkeypatch.setattr(method, "TUNING", replace(method.TUNING, sample=100, rows_a_feature=1))
    assert chosen(Hinge(), None, sampled=6.0) == Newton(1e-2, 77)
    assert chosen(Hinge(), None, sampled=None) == Bundle(1e-2, 77)
    assert chosen(Hinge(), 6.0 * method.TUNING.pays, sampled=6.0) == Newton(1e-2, 77)
    assert chosen(Hinge(), 6.1 * method.TUNING.pays, sampled=6.0) == Bundle(1e-2, 77)


def test_newton_ends_what_the_bundle_method_cannot_on_sparse_data():
    def few(rows):
        return sp.csr_array(np.where(np.abs(rows) > 1.5, rows, 0.0))

    expected = Relay(Bundle(1e-2, 77, max_cuts=TUNING.cuts), Newton(1e-2, 77))
    assert chosen(Hinge(), None, X=few) == expected
    assert chosen(Hinge(), None, X=sp.csr_array) == Bundle(1e-2, 77)  # all entries are stored


def test_a_loss_that_cannot_be_smoothed():
    class Plain(Hinge):
        def smoothed(self, width):
            return None

    assert chosen(Plain(), 1.0) == Bundle(1e-2, 77)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
def test_wide_data_for_any_number_of_threads(loss, kind):
    """The same bits, and a certificate that the methods by themselves bear out."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((120, 6))
    X = np.exp(-0.5 * np.square(Z[:, :, None] - np.linspace(-2, 2, 180)).reshape(120, -1))  # nearly the same columns
    given = kind(X), Z[:, 0] + rng.standard_normal(120), np.arange(120) // 20
    fits = [LinearRanker(loss, 1e-4, tol=1e-4, n_jobs=n).fit(*given) for n in (1, 2, 3)]
    assert len({fit.coef_.tobytes() for fit in fits}) == 1
    best = LinearRanker(loss, 1e-4, tol=1e-6, solver="bundle", max_iter=5000).fit(*given)
    assert best.objective_ - best.gap_ <= fits[0].objective_ <= best.objective_ + fits[0].gap_
    assert fits[0].status_ == "converged"
