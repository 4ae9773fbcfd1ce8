"""Every rule against a plain transcription, step by step, and the bookkeeping that makes a step cheap."""

import os
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from linrank import ParameterError
from linrank.kernels import stochastic as kernels
from linrank.stochastic.descent import Descent
from linrank.stochastic.draws import Draws
from linrank.stochastic.rows import as_rows
from linrank.stochastic.rules import RULES, Numbers, as_rule

pytestmark = pytest.mark.kernels

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"


class StepRule(NamedTuple):
    """A rule by name, and all that its steps depend on."""

    rule: str = "pegasos"
    loss: str = "hinge"
    alpha: float = 1e-4
    C: float = 1.0
    decay: float | None = None
    switch: int = 10_000
    margin: float = 1.0

    def made(self):
        return as_rule(self.rule, Numbers(self.loss, self.C, self.decay, self.switch, self.margin))


def run(descent, rule, X, metric, draws, n):
    descent.run(rule.made(), rule.alpha, as_rows(X), metric, draws, n)


class Given(Draws):
    """Hands out pairs in the order given."""

    def __init__(self, pairs):
        self.pairs = np.asarray(pairs)

    def draw(self, seed, counter, winner, loser):
        here = self.pairs[int(counter) : int(counter) + winner.size]
        winner[:], loser[:] = here.T
        return counter + np.uint64(winner.size)


def pull(loss, z):
    """-phi'(z)."""
    if loss == "hinge":
        return float(z < 1)
    return 2 * max(0.0, 1 - z) if loss == "squared_hinge" else expit(-z)


def subgradient(rule, w, x, i):
    z = w @ x
    eta = 1 / (rule.alpha * i) if rule.decay is None else min(rule.decay / (rule.decay + i), 1 / rule.alpha)
    shrunk = (1 - eta * rule.alpha) * w
    c = eta * pull(rule.loss, z)
    if rule.loss == "squared_hinge" and c > 0 and x @ x > 0:
        c = min(c, (1 - shrunk @ x) / (x @ x))
    return shrunk + c * x


def project(rule, w):
    length, radius = np.sqrt(w @ w), 1 / np.sqrt(rule.alpha)
    return w * radius / length if length > radius else w


def pegasos(rule, w, x, i):
    return project(rule, subgradient(rule, w, x, i))


def passive_aggressive(rule, w, x, i):
    loss = max(0.0, 1 - w @ x)
    return w + min(rule.C, loss / (x @ x)) * x if x @ x > 0 else w


def romma(rule, w, x, i):
    z, xx, ww = w @ x, x @ x, w @ w
    if z >= 1 or xx == 0:
        return w
    alone = x / xx  # the shortest with w'.x = 1
    parallel = xx * ww - z**2 <= 1e-12 * xx * ww
    if parallel or alone @ w >= ww:
        return alone
    determinant = xx * ww - z**2
    return (xx * ww - z) / determinant * w + ww * (1 - z) / determinant * x


def both(rule, w, x, i):
    if i > rule.switch:
        return pegasos(rule, w, x, i)
    return passive_aggressive(rule, w, x, i)


def sgd_svm(rule, w, x, i):
    return subgradient(rule, w, x, i) if w @ x < 1 else w


def perceptron(rule, w, x, i):
    margin = 0.0 if rule.rule == "perceptron" else rule.margin
    return w + x if w @ x <= margin else w


TWINS = {
    "sgd": subgradient,
    "pegasos": pegasos,
    "passive_aggressive": passive_aggressive,
    "romma": romma,
    "passive_aggressive_then_pegasos": both,
    "sgd_svm": sgd_svm,
    "perceptron": perceptron,
    "perceptron_margin": perceptron,
}
CASES = [(name, "hinge", None) for name in RULES]
CASES += [(name, loss, decay) for name in ("sgd", "pegasos") for loss in ("squared_hinge", "logistic")
          for decay in (None, 3.0)]  # fmt: skip
CASES += [("sgd", "hinge", 3.0), ("sgd_svm", "hinge", 3.0)]


def make(kind, seed, n=12, d=4):
    """Rows with zeros, two identical ones (0 and 1), and two whose difference is a multiple of another's."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.6, rng.standard_normal((n, d)).round(2), 0.0)
    X[1] = X[0]
    X[5] = X[4] + 0.25 * (X[3] - X[2])
    X = X.astype(np.float32) if kind.endswith("float32") else X
    if kind.startswith("csr"):
        return sp.csr_matrix(X)
    return np.asfortranarray(X) if kind == "F" else X


def check_step_by_step(kind, rule, pairs, scale=None, start=None, average=False, seed=0, d=4, to_the_kink=False):
    X = make(kind, seed, d=d)
    dense = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    scale = np.ones(dense.shape[1]) if scale is None else scale
    metric = None if np.all(scale == 1) else 1 / scale**2
    w = np.zeros(dense.shape[1]) if start is None else start.copy()
    descent = Descent.begin(w / scale, metric, 0, 0 if start is None else 50, average)
    t, total = descent.t, np.zeros(w.size)
    sampler = Given(pairs)
    for n, (i, j) in enumerate(pairs):
        x = (dense[i] - dense[j]) / scale
        if to_the_kink and rule.loss == "hinge" and abs(w @ x - 1) < 1e-9:
            return  # as passive-aggressive steps leave a pair: rounding decides whether the next step is taken
        w = TWINS[rule.rule](rule, w, x, t + n + 1)
        total += w
        run(descent, rule, X, metric, sampler, 1)
        wanted = total / (n + 1) if average else w
        np.testing.assert_allclose(descent.coef * scale, wanted, rtol=1e-7, atol=1e-9 * (1 + np.abs(wanted).max()))
        ww = descent.state[kernels.FACTOR] ** 2 * descent.state[kernels.SQUARE]
        np.testing.assert_allclose(ww, w @ w, rtol=1e-7, atol=1e-12)
    assert descent.t == t + len(pairs)


PAIRS = [(3, 2), (3, 2), (0, 1), (4, 5), (5, 4), (3, 2), (7, 8), (0, 1), (9, 10), (10, 9), (6, 2), (3, 11), (5, 4)] * 2


@pytest.mark.parametrize("kind", ["C", "F", "csr", "csr float32"])
@pytest.mark.parametrize(("name", "loss", "decay"), CASES)
def test_each_rule_step_by_step(kind, name, loss, decay):
    """From w = 0 and step 1; with a difference of 0 (rows 0 and 1); and with x parallel to w (4, 5 after 3, 2)."""
    rule = StepRule(name, loss, alpha=0.03, C=0.4, decay=decay, switch=7)
    check_step_by_step(kind, rule, PAIRS)


@pytest.mark.parametrize("kind", ["C", "csr"])
@pytest.mark.parametrize("name", RULES)
def test_identical_rows_come_first(kind, name):
    check_step_by_step(kind, StepRule(name, alpha=0.03, C=0.4, switch=1), [(0, 1), (1, 0), *PAIRS])


@pytest.mark.parametrize("kind", ["C", "csr", "csr float32"])
@pytest.mark.parametrize(("name", "loss", "decay"), CASES)
def test_scaled_columns_averages_and_a_start(kind, name, loss, decay):
    rule = StepRule(name, loss, alpha=0.03, C=0.4, decay=decay, switch=55)
    scale, start = np.array([0.5, 3.0, 10.0, 1.0]), np.array([0.3, -0.2, 0.0, 2.0])
    check_step_by_step(kind, rule, PAIRS, scale=scale, start=start, average=True)


@pytest.mark.parametrize("kind", ["C", "csr", "csr float32"])
@pytest.mark.parametrize(("name", "loss", "decay"), CASES)
def test_long_rows(kind, name, loss, decay):
    """More entries than a kernel takes at a time, and some left over."""
    rule = StepRule(name, loss, alpha=0.03, C=0.4, decay=decay, switch=7)
    check_step_by_step(kind, rule, PAIRS, scale=np.linspace(0.5, 2.0, 61), average=True, d=61)


@given(st.integers(0, 2**32 - 1), st.sampled_from(CASES), st.sampled_from(["C", "csr"]), st.booleans())
def test_random_steps(seed, case, kind, average):
    rng = np.random.default_rng(seed)
    name, loss, decay = case
    alpha = float(10.0 ** rng.uniform(-4, 0.5))
    rule = StepRule(name, loss, alpha, C=float(10.0 ** rng.uniform(-2, 1)), decay=decay, switch=9)
    check_step_by_step(kind, rule, rng.integers(0, 12, (20, 2)), average=average, seed=seed, to_the_kink=True)


@pytest.mark.parametrize("kind", ["C", "csr"])
@pytest.mark.parametrize("name", RULES)
def test_pieces_do_not_matter(kind, name):
    X, pairs = make(kind, 3), np.random.default_rng(0).integers(0, 12, (120, 2))
    results = []
    for pieces in ([120], [1, 50, 69], [7] * 17 + [1]):
        descent, sampler = Descent.begin(np.zeros(4), None, 0, 0, True), Given(pairs)
        for n in pieces:
            run(descent, StepRule(name, alpha=1e-3, switch=60), X, None, sampler, n)
        results.append((descent.coef.tobytes(), descent.state.tobytes()))
    assert len(set(results)) == 1


@pytest.mark.parametrize("kind", ["C", "csr"])
def test_factor_and_average_do_not_drift(kind):
    """Many folds, many steps: against the twin without any of the tricks."""
    X, n = make(kind, 5), 3_000 if UNCOMPILED else 60_000
    dense = X.toarray() if sp.issparse(X) else X
    pairs = np.random.default_rng(1).integers(0, 12, (n, 2))
    rule = StepRule("sgd", "squared_hinge", alpha=0.5, decay=50.0)  # the factor shrinks by half at first
    descent = Descent.begin(np.zeros(4), None, 0, 0, True)
    run(descent, rule, X, None, Given(pairs), n)
    w, total = np.zeros(4), np.zeros(4)
    for i, (a, b) in enumerate(pairs):
        w = subgradient(rule, w, dense[a] - dense[b], i + 1)
        total += w
    np.testing.assert_allclose(descent.coef, total / n, atol=1e-10)
    np.testing.assert_allclose(descent.state[0] * descent.v, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(descent.state[0] ** 2 * descent.state[1], w @ w, rtol=1e-9)


def test_a_step_leaves_the_work_space_clean():
    """|x|^2 of the next pair would be wrong otherwise: covered by the twins, stated here on the kernel itself."""
    X, work = make("csr", 2), np.zeros(4)
    rule = StepRule("passive_aggressive").made().compiled(1.0)
    v, state = np.zeros(4), np.array([1.0, 0.0, 0.0, 0.0])
    where = np.array([3, 7]), np.array([2, 8])
    kernels.csr_steps(X.data, X.indices, X.indptr, None, *where, rule, 0, v, None, state, work)
    assert not work.any()
    assert v.any()


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("apart", [1.0, 0.02, 1e-3, 1e-8, 0.0])
def test_the_length_of_a_difference_does_not_cancel(apart, scaled):
    """|a - b|^2 of rows that are nearly the same, on top of a common part, from a step that depends on it alone."""
    rng = np.random.default_rng(4)
    common, x = rng.standard_normal(9), rng.standard_normal(9)
    X, scale = np.stack([common + apart * x, common]), np.linspace(0.5, 2.0, 9) if scaled else np.ones(9)
    metric = 1 / scale**2 if scaled else None
    descent = Descent.begin(np.zeros(9), metric, 0, 0, False)
    run(descent, StepRule("passive_aggressive", C=1e30), sp.csr_matrix(X), metric, Given([(0, 1)]), 1)
    difference = (X[0] - X[1]) / scale
    length = difference @ difference
    np.testing.assert_allclose(descent.coef * scale, difference / length if length else 0 * x, rtol=1e-7)


def contradictions(kind, n=3_000):
    """Random rows and pairs in all directions: no w is right on all of them, nor parallel to many."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 4))
    return sp.csr_matrix(X) if kind == "csr" else X, rng.integers(0, 60, (n, 2))


@pytest.mark.parametrize("kind", ["C", "csr"])
def test_romma_does_not_overflow_on_contradictions(kind):
    X, pairs = contradictions(kind)
    descent = Descent.begin(np.zeros(4), None, 0, 0, False)
    run(descent, StepRule("romma"), X, None, Given(pairs), len(pairs))
    assert 1e20 < np.abs(descent.coef).max() < 1e62


@pytest.mark.parametrize("kind", ["C", "csr"])
@pytest.mark.parametrize("name", RULES)
def test_the_length_is_right_after_steps_that_cancel(kind, name):
    X, pairs = contradictions(kind)
    pairs = np.concatenate([pairs[:500], pairs[:500, ::-1], np.tile([[1, 2], [2, 1]], (20, 1))])  # and antiparallel
    descent = Descent.begin(np.zeros(4), None, 0, 0, False)
    for _ in range(0, len(pairs), 8):
        run(descent, StepRule(name, alpha=1e-3, switch=300), X, None, Given(pairs), 8)
        np.testing.assert_allclose(descent.state[kernels.SQUARE], descent.v @ descent.v, rtol=1e-6)


def test_only_gradient_rules_take_other_losses():
    for name in set(RULES) - {"sgd", "pegasos"}:
        with pytest.raises(ParameterError, match="made for the hinge"):
            StepRule(name, "logistic").made()
