"""Do nominal 95 % intervals hold the penalised optimum of the population in 95 % of all samples? 1,000 samples a row.

The population's optimum is that of a sample 500 times as large, whose own error widens nothing that could be seen.
`held` is the share of all intervals (4 weights a sample) that hold it, `least` that of the weight with the fewest;
`error / spread` is the mean standard error over the standard deviation of the weights from sample to sample. `without
penalty` leaves the penalty's part out of psi. `coverage_pairs` counts the pairs of one query as independent, which they
are not. LINRANK_COVERAGE says how many samples there are; a quick check takes 5.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from linrank import LinearRanker, RankingData
from linrank.engines import LocalEngine
from linrank.losses import LOSSES
from linrank.testing import Pairs, naive_hessian, naive_phi
from measure import quick
from results import FIT, fault, report

SOURCES = (*FIT, "inference/**/*.py")
SAMPLES, QUICK_SAMPLES = 1000, 5
LARGE, QUICK_LARGE = 500, 5
SMOOTH = ("squared_hinge", "logistic", "logistic_erfc")
W = np.array([1.0, -0.5, 0.25, 0.0])
Data = dict[str, Any]


def _graded(rng: np.random.Generator, sizes: np.ndarray, w: np.ndarray) -> Data:
    """Queries of these sizes, each with a place of its own, and three grades; w is each row's."""
    qid = np.repeat(np.arange(sizes.size), sizes)
    X = rng.standard_normal((qid.size, 4)) + rng.standard_normal((sizes.size, 4))[qid]
    utility = np.einsum("ij,ij->i", X, np.broadcast_to(w, X.shape)) + rng.logistic(size=qid.size)
    return {"X": X, "y": np.digitize(utility, [0.0, 1.5]).astype(float), "qid": qid}


def many(rng: np.random.Generator, n: int) -> Data:
    return _graded(rng, np.full(n, 8), W)


def unequal(rng: np.random.Generator, n: int) -> Data:
    return _graded(rng, 3 + rng.geometric(0.12, n), W)


def one(rng: np.random.Generator, n: int) -> Data:
    X = rng.standard_normal((n, 4))
    return {"X": X, "y": X @ W + rng.logistic(size=n)}


def weighted_rows(rng: np.random.Generator, n: int) -> Data:
    data = many(rng, n)
    return data | {"sample_weight": np.exp(0.5 * data["X"][:, 0].clip(-2, 2)) * rng.uniform(0.5, 1.5, len(data["y"]))}


def weighted_queries(rng: np.random.Generator, n: int) -> Data:
    data = many(rng, n)
    return data | {"query_weight": rng.integers(1, 4, n)[data["qid"]].astype(float)}


def clusters(rng: np.random.Generator, n: int) -> Data:
    """Users with a taste of their own and one to four queries each."""
    count = rng.integers(1, 5, n)
    user = np.repeat(np.arange(n), count)
    data = _graded(rng, np.full(user.size, 6), np.repeat((W + 0.4 * rng.standard_normal((n, 4)))[user], 6, axis=0))
    return data | {"cluster": user[data["qid"]]}


DESIGNS: dict[str, Callable[[np.random.Generator, int], Data]] = {
    "many queries": many,
    "unequal queries": unequal,
    "one query": one,
    "row weights": weighted_rows,
    "query weights": weighted_queries,
    "clusters": clusters,
}


class Cell(NamedTuple):
    """One row of the table."""

    design: str
    loss: str
    alpha: float
    units: int

    def draw(self, seed: int, times: int = 1) -> Data:
        return DESIGNS[self.design](np.random.default_rng([30, seed]), self.units * times)


def cells() -> list[Cell]:
    if quick():
        return [Cell(design, "squared_hinge", 1e-2, 40) for design in DESIGNS]
    found = [Cell(design, loss, 1e-2, 200) for design in DESIGNS for loss in SMOOTH]
    found += [
        Cell(d, loss, alpha, 200) for d in ("many queries", "one query") for loss in SMOOTH for alpha in (1e-4, 1.0)
    ]
    few = ("many queries", "one query", "clusters")
    return found + [Cell(design, "squared_hinge", 1e-2, n) for design in few for n in (20, 40)]


def fitted(cell: Cell, data: Data, tol: float) -> LinearRanker:
    given = {name: value for name, value in data.items() if name != "cluster"}
    ranker = LinearRanker(cell.loss, alpha=cell.alpha, scale=False, tol=tol, solver="newton")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a tol at the edge of rounding
        return ranker.fit(**given)


def without_penalty(cell: Cell, data: Data, found: Any) -> np.ndarray:
    """Standard errors with psi = g alone."""
    given = {name: value for name, value in data.items() if name != "cluster"}
    rows = RankingData(**given)
    if "cluster" in data:
        rows = rows.clustered(data["cluster"])
    with LocalEngine(rows) as engine:
        at = engine.evaluate(LOSSES[cell.loss], engine.scores(found.coef))
        H = np.linalg.inv(at.hessian() / at.sums.weight + cell.alpha * np.eye(4))
        outer = at.outer(found.units)
    B = outer.units / (outer.units - 1) * outer.total / at.sums.weight**2
    return np.sqrt(np.diag(H @ B @ H))


def samples_of(cell: Cell, truth: np.ndarray, seeds: range) -> list[np.ndarray]:
    """Of each sample: whether intervals hold the truth, the same without the penalty, errors and weights."""
    answers = []
    for seed in seeds:
        data = cell.draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few units
            found = fitted(cell, data, 1e-3).inference(**data)
        low, high = found.interval().T
        plain = found.quantile(0.95) * without_penalty(cell, data, found)
        held = (low <= truth) & (truth <= high)
        answers.append(np.array([held, np.abs(found.coef - truth) <= plain, found.standard_errors, found.coef]))
    return answers


def row_of(cell: Cell) -> dict[str, Any]:
    """All samples of one row."""
    n = int(os.environ.get("LINRANK_COVERAGE", QUICK_SAMPLES if quick() else SAMPLES))
    truth = fitted(cell, cell.draw(1_000_000, QUICK_LARGE if quick() else LARGE), 1e-12).coef_
    held, plain, errors, weights = np.swapaxes(samples_of(cell, truth, range(n)), 0, 1)
    return {
        "design": cell.design,
        "loss": cell.loss,
        "alpha": cell.alpha,
        "units": cell.units,
        "samples": n,
        "held": float(held.mean()),
        "least": float(held.mean(axis=0).min()),
        "without penalty": float(plain.mean()),
        "error / spread": float((errors.mean(axis=0) / weights.std(axis=0)).mean()),
    }


def pairs_row(loss: str, rows: int) -> dict[str, Any]:
    """One query, its pairs taken for independent."""
    n, cell = 3 if quick() else 200, Cell("one query", loss, 1e-2, rows)
    truth = fitted(cell, cell.draw(1_000_000, QUICK_LARGE if quick() else 100_000 // rows), 1e-12).coef_
    ratios, held, right = [], [], []
    for seed in range(n):
        data = cell.draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few units
            found = fitted(cell, data, 1e-6).inference(**data)
        variance = naive_variance(cell, data, found.coef)
        ratios.append(np.diag(found.covariance) / variance)
        off = np.abs(found.coef - truth)
        held.append(off <= 1.96 * np.sqrt(variance))
        right.append(off <= found.quantile(0.95) * found.standard_errors)
    names = {"loss": loss, "rows": rows, "samples": n, "variance by rows / by pairs": float(np.mean(ratios))}
    return names | {"held by pairs": float(np.mean(held)), "held by rows": float(np.mean(right))}


def naive_variance(cell: Cell, data: Data, w: np.ndarray) -> np.ndarray:
    """The sandwich with every pair a unit."""
    X, pairs, phi = data["X"], _all_pairs(data["y"]), naive_phi(LOSSES[cell.loss])
    assert phi is not None
    assert phi.curvature is not None
    s = X @ w
    D = X[pairs.winner] - X[pairs.loser]
    psi = phi.slope(s[pairs.winner] - s[pairs.loser])[:, None] * D + cell.alpha * w
    H = np.linalg.inv(naive_hessian(phi.curvature, X, s, pairs) + cell.alpha * np.eye(4))
    return np.diag(H @ (psi.T @ psi / len(D) ** 2) @ H)


def _all_pairs(y: np.ndarray) -> Pairs:
    winner, loser = np.nonzero(y[:, None] > y)
    return Pairs(winner, loser, np.ones(winner.size))


def answers(function: Callable[..., Any], tasks: list[Any]) -> Iterator[Any]:
    """By all cores, or at once in a quick check."""
    if quick():
        yield from (function(*task) for task in tasks)
        return
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        for job in [pool.submit(function, *task) for task in tasks]:
            yield job.result()


def main() -> None:
    rows = []
    for row in answers(row_of, [(cell,) for cell in cells()]):
        rows.append(row)
        print(row, flush=True)
        if not quick() and row["units"] >= 200 and not 0.93 <= row["held"] <= 0.97:
            fault(f"{row['design']}, {row['loss']}, alpha {row['alpha']}: {row['held']:.1%} of the intervals hold")
    report("coverage", rows)
    sizes = (20,) if quick() else (15, 25, 100, 200)
    report("coverage_pairs", list(answers(pairs_row, [(loss, n) for loss in SMOOTH for n in sizes])))
