"""One ranking of all rows: the same bits for any number of threads, few bytes a row."""

import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from linrank import LinearRanker, RankingData
from linrank._threads import Crew
from linrank._work import Work
from linrank.data import ordering
from linrank.engines import local
from linrank.losses import Hinge, HuberHinge, SquaredHinge

LOSSES = {"hinge": Hinge(), "squared": SquaredHinge(), "huber": HuberHinge(0.1)}


def labels(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of a few levels, of some, or that all differ."""
    return {"five": lambda: rng.integers(0, 5, n), "fifty": lambda: rng.integers(0, 50, n)}.get(
        kind, lambda: rng.standard_normal(n)
    )()


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("kind", ["five", "fifty", "all"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_threads_and_parts_change_no_bits(monkeypatch, name, kind, weighted, spread):
    rng, n = np.random.default_rng(1), 6000
    s, y = 1e3 + spread * rng.standard_normal(n), labels(kind, n, rng)
    data = RankingData(s[:, None], y, sample_weight=rng.uniform(0.5, 2.0, n) if weighted else None)
    p, V = data.preferences.block(0), rng.standard_normal(n)
    scores, wanted = s[p.row], threading.Event()
    wanted.set()

    def answers(work: Work) -> list[np.ndarray]:
        point = LOSSES[name].at(scores, p, work)
        found = [np.array([point.sums.value, *(point.sums.hinge or ())]), point.gradient]
        return found if point.curvature is None else [*found, point.curvature.product(V, work)]

    whole = answers(Work())
    monkeypatch.setattr(ordering, "LARGE", n)
    one = answers(Work())
    with ThreadPoolExecutor(3) as pool:
        for n_threads in (2, 3):
            for found, expected in zip(answers(Work(Crew(pool, n_threads, wanted))), one, strict=True):
                np.testing.assert_array_equal(found, expected)
    for found, expected in zip(one, whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


@pytest.mark.kernels
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("kind", ["five", "fifty", "all"])
@pytest.mark.parametrize("signs", [[np.inf], [-np.inf, np.inf]], ids=["one end", "both"])
@pytest.mark.parametrize("share", [0.01, 0.6])
def test_infinite_scores_are_taken_as_in_one_part(monkeypatch, name, kind, signs, share):
    """Infinity less infinity is below no margin: windows of parts would begin anywhere, and end nowhere."""
    rng, n = np.random.default_rng(3), 400
    p = RankingData(np.ones((n, 1)), labels(kind, n, rng)).preferences.block(0)
    s, work = rng.standard_normal(n), Work()
    s[rng.random(n) < share] = rng.choice(signs)
    s[::7] = rng.choice(signs, s[::7].size)
    with np.errstate(all="ignore"):
        expected = LOSSES[name].at(s, p, work)
        monkeypatch.setattr(ordering, "LARGE", 16)
        LOSSES[name].at(rng.standard_normal(n), p, work)  # what rooms hold now is not 0
        found = LOSSES[name].at(s, p, work)
    np.testing.assert_equal(found.sums.value, expected.sums.value)
    np.testing.assert_array_equal(found.gradient, expected.gradient)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("solver", ["newton", "bundle"])
@pytest.mark.parametrize("kind", ["five", "all"])
def test_fits_have_the_same_bits_for_any_number_of_threads(monkeypatch, name, solver, kind):
    monkeypatch.setattr(ordering, "LARGE", 1000)
    monkeypatch.setattr(local, "QUICK_MEMBERS", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    y = X @ rng.standard_normal(5) + rng.standard_normal(4000)
    y = np.clip(np.round(y), -2, 2) if kind == "five" else y
    fits = [LinearRanker(name, solver=solver, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)
        assert other.gap_ == fits[0].gap_


#: Most bytes a row of a fit to one query of all rows, X, y and the queries' numbers apart.
MOST = {
    ("squared_hinge", "five"): 95,
    ("squared_hinge", "all"): 100,
    ("hinge", "five"): 110,
    ("hinge", "all"): 112,
    ("logistic", "five"): 110,
    ("logistic", "all"): 110,
}


@pytest.mark.parametrize(("name", "kind"), MOST)
def test_bytes_a_row(monkeypatch, name, kind):
    m, rng = 300_000, np.random.default_rng(0)
    monkeypatch.setattr(local, "MANY_MEMBERS", m)
    X = rng.standard_normal((m, 3), dtype=np.float32)
    y = X @ np.ones(3) + rng.standard_normal(m)
    y = np.clip(np.round(y), -2, 2) if kind == "five" else y
    y.flags.writeable = False  # taken as it is
    LinearRanker(name).fit(X, y)  # compiled
    tracemalloc.start()
    try:
        LinearRanker(name).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / m - 8 <= MOST[name, kind]  # 8: the number of each row's query, zeros that nobody writes
