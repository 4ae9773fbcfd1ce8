"""Standard errors on devices, of which there may be several: those of the local engine."""

import numpy as np
import pytest

from linrank import LinearRanker
from linrank.testing import make_ranking

X, Y, QID = make_ranking(1200, 4, 200, 4, seed=3)


def asked(units, **options):
    given = {"queries": {}, "clusters": {"cluster": QID % 40}, "rows": {}}[units]
    data = (X[:200], np.arange(200.0) % 17) if units == "rows" else (X, Y, QID)
    return LinearRanker("logistic", alpha=0.01, **options).fit(*data).inference(*data, **given)


@pytest.mark.parametrize("units", ["queries", "clusters", "rows"])
@pytest.mark.parametrize("device", ["torch:cpu", ["torch:cpu", "torch:cpu"]])
def test_they_are_those_of_the_local_engine(units, device):
    there, here = asked(units, device=device), asked(units)
    assert there.units == here.units == units
    assert there.n_units == here.n_units
    np.testing.assert_allclose(there.covariance, here.covariance, rtol=1e-3, atol=1e-6 * here.covariance.max())


def test_a_cluster_that_cuts_a_query_stays_here():
    ranker = LinearRanker("logistic", alpha=0.01, device="torch:cpu").fit(X, Y, QID)
    with pytest.raises(ValueError, match="A cluster that cuts a query needs the local engine"):
        ranker.inference(X, Y, QID, cluster=np.arange(len(Y)) // 4)
