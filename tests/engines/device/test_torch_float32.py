"""Scores in float32: the counts and sums of rounded scores, an error that is stated, certificates that hold."""

import numpy as np
import pytest
from sklearn.base import clone

import linrank
from linrank import LinearRanker, ParameterError, RankingData
from linrank._work import Work
from linrank.data.active import TINY, active_counts
from linrank.engines import LocalEngine, Torch
from linrank.engines.open import open_engine
from linrank.losses import LOSSES
from linrank.solvers import Bundle, Newton, Tron
from linrank.testing import check_engine, engine_cases, make_ranking

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
pytestmark = pytest.mark.torch

from linrank.engines.torch.layout import Layout  # noqa: E402
from linrank.engines.torch.sums import ActiveSums  # noqa: E402

SINGLE = Torch("torch:cpu", scores="float32")


def on_cpu(data):
    return open_engine(data, device=SINGLE)


def test_the_engine_keeps_its_contract_at_rounded_scores():
    large = [name for name in engine_cases() if "giant" in name or "more than" in name]
    check_engine(on_cpu, cases=[name for name in engine_cases() if name not in large][::3], scores="float32")


def test_an_engine_in_float64_is_not_one_in_float32():
    with pytest.raises(AssertionError, match="not the local engine's"):
        check_engine(
            lambda data: open_engine(data, device="torch:cpu"), cases=["stored as float64 C"], scores="float32"
        )
    with pytest.raises(AssertionError, match=r"not the (local engine's|sum over all pairs)"):
        check_engine(on_cpu, cases=["stored as float64 C"])


@pytest.mark.parametrize("kind", ["plain", "ties", "margin", "zeros", "apart"])
@pytest.mark.parametrize("levels", [1, 3, 16, 17, None])
def test_counts_are_those_of_the_cpu_at_rounded_scores(kind, levels):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 120))
        qid = rng.integers(0, int(rng.integers(1, 6)), n)
        y = rng.standard_normal(n) if levels is None else rng.integers(0, levels, n).astype(float)
        y[:2], qid[:2] = [0.0, 1.0], 0
        data = RankingData(np.zeros((n, 1)), y, qid)
        s = rng.standard_normal(n)
        if kind == "ties":
            s = np.round(3 * s) / 3
        elif kind == "margin":  # distances of 1, give or take some units of float32
            s = rng.integers(0, 4, n) + rng.integers(-3, 4, n) * 2.0**-23
        elif kind == "zeros":
            s = np.where(rng.random(n) < 0.5, -0.0, np.sign(s))
        elif kind == "apart":
            s = np.where(qid == 0, 1e30 * s, 1e-30 * s)
        s = s[data.preferences.row].astype(np.float32)
        for margin in (1.0, 0.0, TINY, 0.9):
            c, d = np.empty((2, s.size))
            active_counts(s.astype(np.float64), data.preferences, margin, c, d, Work(), "pairs")
            layout = Layout(data.preferences, data.n_rows, torch.device("cpu"))
            active = ActiveSums(layout, torch.from_numpy(s), (margin,))
            weights = active.sorted.weights()
            (found,) = active.partners(weights.numbers)
            np.testing.assert_array_equal(active.sorted.to_members(weights.value(found.winners)).numpy(), c)
            np.testing.assert_array_equal(active.sorted.to_members(weights.value(found.losers)).numpy(), d)


def hard_problem(seed):
    """Features on a grid, of several sizes, some far from 0: many pairs lie at the margin, and scores are large."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 300)), int(rng.integers(1, 6))
    X = np.round(rng.standard_normal((n, d)) * 4) / 4 if seed % 2 else rng.standard_normal((n, d))
    X = X * 10.0 ** rng.integers(-2, 3, d) + rng.choice([0.0, 1e3], d)
    y = np.round(X @ rng.standard_normal(d) / np.abs(X).max() * 3 + rng.standard_normal(n))
    return X, y, rng.integers(0, 5, n), 10.0 ** rng.uniform(-6, -1)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.filterwarnings("ignore:The solver ended")
def test_the_certificate_is_never_below_the_true_gap(loss):
    for seed in range(10):
        X, y, qid, alpha = hard_problem(seed)
        scale = bool(seed % 3)
        best = LinearRanker(loss, alpha, scale=scale, tol=1e-9, max_iter=3000).fit(X, y, qid)
        least = best.objective_ - best.gap_
        for solver in ("auto", "bundle"):
            found = LinearRanker(loss, alpha, scale=scale, tol=1e-5, solver=solver, device=SINGLE).fit(X, y, qid)
            with LocalEngine(RankingData(X, y, qid)) as engine:  # the objective at its weights, in float64
                sums = engine.evaluate(LOSSES[loss], engine.scores(found.coef_)).sums
            w = found.coef_ * found.scale_
            value = sums.value / sums.weight + 0.5 * alpha * float(w @ w)
            assert value - least <= found.gap_ + 2 * best.gap_ + 1e-12, (seed, solver)
            assert abs(value - found.objective_) <= found.gap_
            assert found.n_iter_ < 300  # noise does not count as progress
            assert found.status_ in ("converged", "limited", "stalled")


def test_the_gap_includes_what_rounding_did():
    X, y, qid = make_ranking(400, 4, 8, 4)
    one, other = (
        LinearRanker("logistic", 1e-2, tol=1e-5, device=place).fit(X, y, qid) for place in ("torch:cpu", SINGLE)
    )
    assert one.n_iter_ == other.n_iter_
    assert 1e-8 < other.gap_ - one.gap_ < 1e-5


def test_errors_that_leave_room_do_not_end_a_fit():
    """A bundle goes on until gap and errors together are within tol."""
    X, y, qid = make_ranking(2000, 40, 10, 4)
    found = LinearRanker("hinge", 1e-4, solver="bundle", tol=2e-5, device=SINGLE).fit(X, y, qid)
    assert found.status_ == "converged"
    assert found.gap_ <= 2e-5


def test_a_tolerance_that_cannot_be_certified_is_refused_before_work_begins():
    for device in (SINGLE, [SINGLE, "torch:cpu"]):
        with pytest.raises(ParameterError, match="tol=1e-06 is less than scores in float32 can certify") as error:
            LinearRanker(tol=1e-6, device=device).fit(None)  # X is not looked at
        text = str(error.value)
        assert text.endswith("use 1e-05 or more, or scores='float64'.")
        assert ". " not in text
    for solver in (Newton(tol=1e-7), Bundle(1e-7), Tron(gradient_tol=1e-6)):
        with pytest.raises(ParameterError, match="can certify"):
            LinearRanker(solver=solver, device=SINGLE).fit(None)
    X, y, qid = make_ranking(60, 3, 3, 3)
    assert LinearRanker(solver=Tron(gradient_tol=1e-5), device=SINGLE).fit(X, y, qid).status_ == "converged"


def test_it_is_a_value():
    assert Torch("cuda") == Torch("cuda", scores="float64") != Torch("cuda", scores="float32")
    assert linrank.engines.Torch is Torch
    with pytest.raises(AttributeError):
        SINGLE.scores = "float64"
    assert clone(LinearRanker(device=SINGLE)).device == SINGLE
    for given, text in (((3,), "device=3"), (("cuda", "float16"), "scores='float16'"), (("cuda", None), "scores=None")):
        with pytest.raises(ParameterError, match=f"{text} is not known"):
            Torch(*given)
    with pytest.raises(ParameterError, match="no float64"):
        LinearRanker(device=Torch("mps", scores="float32")).fit(None)


def test_several_devices_may_differ_in_precision():
    X, y, qid = make_ranking(600, 4, 12, 4)
    here = LinearRanker(tol=1e-5).fit(X, y, qid)
    there = LinearRanker(tol=1e-5, device=["torch:cpu", SINGLE]).fit(X, y, qid)
    assert abs(here.objective_ - there.objective_) <= here.gap_ + there.gap_


def test_bits_are_the_same_again(one_thread):
    X, y, qid = make_ranking(3000, 4, 30, 4)
    found = []
    for n_threads in (1, 2, 2):
        torch.set_num_threads(n_threads)
        found.append(LinearRanker(device=SINGLE).fit(X, y, qid).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
