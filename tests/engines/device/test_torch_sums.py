"""Sums over active partners on a device: the CPU's counts, and the same bits whatever is around them."""

import numpy as np
import pytest

from linrank import RankingData
from linrank._work import Work
from linrank.data.active import TINY, active_counts
from linrank.losses import LOSSES, HuberHinge
from linrank.testing import make_ranking

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'linrank[torch]'")
pytestmark = pytest.mark.torch

from linrank.engines.torch.layout import Layout  # noqa: E402
from linrank.engines.torch.losses import on_device  # noqa: E402
from linrank.engines.torch.ops import prefix, totals  # noqa: E402
from linrank.engines.torch.sums import ActiveSums  # noqa: E402
from linrank.engines.torch.windows import threshold  # noqa: E402

SMOOTH = [LOSSES["squared_hinge"], LOSSES["logistic"], LOSSES["logistic_erfc"], HuberHinge(0.1)]


def layout_of(data):
    return Layout(data.preferences, data.n_rows, torch.device("cpu"))


def counts_on_device(data, s, margin):
    active = ActiveSums(layout_of(data), torch.from_numpy(s), (margin,))
    weights = active.sorted.weights()
    (found,) = active.partners(weights.numbers)
    return [active.sorted.to_members(weights.value(x)).numpy() for x in found]


def scores(kind, rng, n, qid):
    s = rng.standard_normal(n)
    if kind == "ties":
        return np.round(3 * s) / 3
    if kind == "margin":  # distances of 1, give or take some ulps
        s = rng.integers(0, 4, n).astype(float)
        return s * (1 + rng.integers(-3, 4, n) * 2.0**-52) + rng.integers(-2, 3, n) * 2.0**-52
    if kind == "offset":
        return s + 1e6
    if kind == "apart":  # one query far out, others not
        return np.where(qid == 0, 1e8 * s, s)
    return s


@pytest.mark.parametrize("kind", ["plain", "ties", "margin", "offset", "apart"])
@pytest.mark.parametrize("levels", [1, 2, 3, 16, 17, None])
@pytest.mark.parametrize("preferences", ["full", "chain", "graph"])
def test_counts_are_those_of_the_cpu(kind, levels, preferences):
    if preferences == "graph" and levels is None:
        preferences = "chain"
    graph = [(0, 1), (1, 0, 2.0), (0, 2)] if levels != 1 else [(0, 1)]
    wanted = graph if preferences == "graph" else preferences
    for seed in range(14):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 120))
        qid = rng.integers(0, int(rng.integers(1, 6)), n)
        y = rng.standard_normal(n) if levels is None else rng.integers(0, levels, n).astype(float)
        y[:2], qid[:2] = [0.0, 1.0], 0
        data = RankingData(np.zeros((n, 1)), y, qid, preferences=wanted)
        s = scores(kind, rng, n, qid)[data.preferences.row]
        for margin in (1.0, 0.0, TINY, 0.9):
            c, d = np.empty((2, s.size))
            active_counts(s, data.preferences, margin, c, d, Work(), "pairs")
            found = counts_on_device(data, s, margin)
            np.testing.assert_array_equal(found[0], c)
            np.testing.assert_array_equal(found[1], d)
            assert found[0].sum() == found[1].sum()


@pytest.mark.parametrize("levels", [1000, None])
def test_counts_of_many_levels(levels):
    rng = np.random.default_rng(0)
    n = 100_000
    y = rng.standard_normal(n) if levels is None else rng.integers(0, levels, n).astype(float)
    data = RankingData(np.zeros((n, 1)), y)
    s = rng.standard_normal(n)
    c, d = np.empty((2, n))
    active_counts(s, data.preferences, 1.0, c, d, Work())
    found = counts_on_device(data, s, 1.0)
    np.testing.assert_array_equal(found[0], c)
    np.testing.assert_array_equal(found[1], d)


def test_the_threshold_is_the_largest_score_that_is_not_active():
    rng = np.random.default_rng(1)
    for margin in (1.0, 0.0, TINY, 0.9, 1 - 2.0**-53, 3.7):
        for size in (1e-300, 1e-3, 1.0, 1e6, 1e17):
            s = torch.from_numpy(size * rng.standard_normal(2000))
            t = threshold(s, margin)
            assert bool((s - t >= margin).all())
            above = torch.nextafter(t, torch.full_like(t, torch.inf))
            assert not bool((s - above >= margin).any())


@pytest.mark.parametrize("loss", ["logistic", "logistic_erfc"])
def test_scores_wider_than_they_were_said_to_be_give_no_number(loss):
    X, y, qid = make_ranking(300, 2, 3, 4)
    data = RankingData(X, y, qid)
    how, layout = on_device(LOSSES[loss]), layout_of(data)
    s = torch.from_numpy(10 * (X @ np.ones(2))[data.preferences.row])
    width = float(s.max() - s.min())
    values = []
    for said in (torch.inf, width, 0.1 * width):
        point = how.at(layout, s, said)
        values.append(point.sums(totals(point.columns()).tolist(), 1.0).value)
    assert abs(values[1] - values[0]) <= 1e-13 * values[0]
    assert np.isnan(values[2])


def test_running_sums_wrap_and_their_differences_do_not():
    big = torch.full((5,), 2**62)
    assert (prefix(big)[3] - prefix(big)[2]).item() == 2**62


@pytest.mark.parametrize("loss", [LOSSES["hinge"], *SMOOTH], ids=lambda loss: loss.name)
def test_bits_do_not_depend_on_threads(loss):
    X, y, qid = make_ranking(40_000, 3, 300, 5)
    data = RankingData(X, y, qid)
    s = torch.from_numpy(X @ np.ones(3))[torch.from_numpy(data.preferences.row.astype(np.int64))]
    found = []
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        point = on_device(loss).at(layout_of(data), s)
        product = point.product(s) if loss.smooth else s
        found.append((point.gradient, product, totals(point.columns())))
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    "loss", [LOSSES["hinge"], LOSSES["squared_hinge"], HuberHinge(0.1)], ids=lambda loss: loss.name
)
def test_a_query_has_the_same_gradient_alone_and_among_others(loss):
    X, y, qid = make_ranking(3000, 2, 20, 4)
    s = X @ np.ones(2)
    s[qid == 3] *= 1e8
    data = RankingData(X, y, qid)
    members = torch.from_numpy(s[data.preferences.row])
    g = np.zeros(y.size)
    g[data.preferences.row] = on_device(loss).at(layout_of(data), members).gradient.numpy()
    for q in (0, 3, 11):
        alone = RankingData(X[qid == q], y[qid == q])
        own = torch.from_numpy(s[qid == q][alone.preferences.row])
        found = on_device(loss).at(layout_of(alone), own).gradient.numpy()
        np.testing.assert_array_equal(g[qid == q][alone.preferences.row], found)
