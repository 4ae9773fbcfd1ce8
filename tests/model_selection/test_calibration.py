"""The sigmoid from scores to probabilities, against a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from linrank.model_selection.calibration import LEAST_SLOPE, fit_sigmoid

pytestmark = pytest.mark.smoke


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_the_sigmoid_is_the_most_likely_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 200))
    s, weight = 10.0 ** rng.integers(-3, 4) * rng.standard_normal(n) + rng.normal(), rng.random(n) + 0.1
    positive = rng.random(n) < 1 / (1 + np.exp(-rng.normal(0, 2) - 2 * (s - s.mean()) / s.std()))
    positive[:2] = [True, False]
    ours = fit_sigmoid(s, positive, weight)
    up, down = weight[positive].sum(), weight[~positive].sum()
    t = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(slope, offset):
        z = slope * s + offset
        return weight @ (np.logaddexp(0, z) - t * z)

    best = minimize(lambda x: loss(x[0] / s.std(), x[1] - x[0] * s.mean() / s.std()), [1.0, 0.0], method="BFGS").fun
    if loss(*ours) > best + 1e-7 * (1 + best):  # only where the likeliest slope is too small, or negative
        spread = np.sqrt(np.average((s - np.average(s, weights=weight)) ** 2, weights=weight))
        assert ours.slope == pytest.approx(LEAST_SLOPE / spread)
        assert loss(*ours) <= minimize_scalar(lambda offset: loss(ours.slope, offset)).fun * (1 + 1e-9)
