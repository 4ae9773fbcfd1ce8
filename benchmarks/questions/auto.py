"""Whether solver="auto" is as fast as the best choice one could force, over a grid of shapes.

CPU seconds of one thread; a choice that takes much longer than the best so far is stopped, and has none. Columns that
compare across machines: auto / best, and which choice was best.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from linrank import LinearRanker
from linrank.solvers import Bundle, Newton
from measure import quick, report
from results import FIT, as_text

SOURCES = FIT

CHOICES: dict[str, Any] = {  # what is likely to be fast comes first: it limits the others
    "auto": None,
    "bundle": Bundle(),
    "products": Newton(hessian="products"),
    "no samples": Newton(samples=False),
    "exact": Newton(hessian="exact"),
}
LOSSES, ALPHAS, EASY = ("squared_hinge", "hinge", "logistic"), (1e-2, 1e-4), 100.0
WITHIN = 1.3  # times the best choice that `auto` may take
SLOW = 0.5  # seconds: what takes longer is fitted once, all else twice
PATIENCE = 1.5  # times the best so far that a choice may take, or SLOW

Data = dict[str, Any]  # what `fit` is given


def graded(rows: int, features: int, length: int, levels: int | None = 5, dtype: str = "f8") -> Data:
    """Queries of one length; features share 16 directions, utilities are linear with noise."""
    rng = np.random.default_rng(0)
    m, k = (min(rows, 400), min(features, 60)) if quick() else (rows, features)
    Z = rng.standard_normal((m, 16))
    X = Z @ rng.standard_normal((16, k)) / 4 + 0.5 * rng.standard_normal((m, k))
    u = Z @ rng.standard_normal(16) / 4 + 0.5 * rng.standard_normal(m)
    y = u if levels is None else np.floor(levels * np.argsort(np.argsort(u)) / m)
    return {"X": X.astype(dtype), "y": y, "qid": np.arange(m) // length}


def pairs(n: int, features: int, dtype: str = "f4") -> Data:
    """Explicit pairs, each of two rows of its own, some of them the wrong way round."""
    given = graded(2 * n, features, 2, None, dtype)
    order = given["y"].reshape(-1, 2).argsort(axis=1)[:, ::-1] + 2 * np.arange(given["y"].size // 2)[:, None]
    return {"X": given["X"], "pairs": order}


def bumps(rows: int = 2387, columns: int = 15, knots: int = 200, width: float = 0.3) -> Data:
    """Bumps along each of a few columns, in place of splines: many features that are nearly the same."""
    rng = np.random.default_rng(0)
    m, knots = (200, 5) if quick() else (rows, knots)
    Z = rng.standard_normal((m, columns))
    u = np.sin(2 * Z[:, 0]) + 0.5 * Z[:, 1] + 0.5 * np.abs(Z[:, 2]) + rng.standard_normal(m)
    at = np.quantile(Z, np.linspace(0, 1, knots), axis=0)
    X = np.concatenate([np.exp(-0.5 * ((Z[:, [j]] - at[:, j]) / width) ** 2) for j in range(columns)], axis=1)
    return {"X": X, "y": np.digitize(u, [0.5, 1.5]), "qid": np.arange(m) // 20}


def kernel(rows: int = 13_210, features: int = 1000) -> Data:
    """A Gaussian kernel's columns, real-valued utilities, one query."""
    rng = np.random.default_rng(0)
    m, k = (200, 40) if quick() else (rows, features)
    Z = rng.standard_normal((m, 15))
    distance = np.square(Z).sum(axis=1)[:, None] + np.square(Z[:k]).sum(axis=1) - 2 * Z @ Z[:k].T
    return {"X": np.exp(-distance / 30), "y": np.sin(Z[:, 0]) + 0.5 * Z[:, 1] + 0.5 * rng.standard_normal(m)}


def words(rows: int, features: int, length: int, nonzeros: int = 60) -> Data:
    """Sparse counts, frequent words and rare ones."""
    rng = np.random.default_rng(0)
    m, k = (300, 500) if quick() else (rows, features)
    column = np.minimum((k * rng.random(m * nonzeros) ** 3).astype(np.int64), k - 1)
    place = np.repeat(np.arange(m), nonzeros), column
    X = sp.csr_array((np.ones(column.size), place), shape=(m, k))
    X.sum_duplicates()
    u = X @ rng.standard_normal(k) / np.sqrt(nonzeros) + rng.standard_normal(m)
    return {"X": X, "y": np.floor(5 * np.argsort(np.argsort(u)) / m), "qid": np.arange(m) // length}


#: The choice was tuned on these,
TUNING: dict[str, Callable[[], Data]] = {
    "16,000 pairs x 768, float32": lambda: pairs(16_000, 768),
    "100,000 pairs x 20": lambda: pairs(100_000, 20),
    "1,000 pairs x 4,000": lambda: pairs(1000, 4000),
    "queries of 10: 20,000 x 46": lambda: graded(20_000, 46, 10),
    "queries of 10: 20,000 x 300, float32": lambda: graded(20_000, 300, 10, dtype="f4"),
    "queries of 20: 40,000 x 700, float32": lambda: graded(40_000, 700, 20, dtype="f4"),
    "queries of 100: 60,000 x 136": lambda: graded(60_000, 136, 100),
    "queries of 100: 10,000 x 1,000": lambda: graded(10_000, 1000, 100),
    "queries of 1,000: 50,000 x 20": lambda: graded(50_000, 20, 1000),
    "one query: 100,000 x 100": lambda: graded(100_000, 100, 100_000),
    "one query: 200,000 x 100": lambda: graded(200_000, 100, 200_000, None),
    "one query: 1,000,000 x 1": lambda: graded(1_000_000, 1, 1_000_000, None),
    "one query: 1,000,000 x 8": lambda: graded(1_000_000, 8, 1_000_000, None),
    "kernel, one query: 13,210 x 1,000": kernel,
    "bumps: 2,387 x 3,000": bumps,
    "one query: 500 x 20,000": lambda: graded(500, 20_000, 500, None),
    "words: 20,000 x 50,000": lambda: words(20_000, 50_000, 50),
    "words, one query: 100,000 x 10,000": lambda: words(100_000, 10_000, 100_000, 30),
}
#: and on none of these.
REPORTING: dict[str, Callable[[], Data]] = {
    "50,000 pairs x 136, float32": lambda: pairs(50_000, 136),
    "3,000 pairs x 1,500": lambda: pairs(3000, 1500, "f8"),
    "queries of 30: 15,000 x 500": lambda: graded(15_000, 500, 30, 3),
    "queries of 200: 30,000 x 250, float32": lambda: graded(30_000, 250, 200, dtype="f4"),
    "one query: 5,000 x 600": lambda: graded(5000, 600, 5000, None),
    "one query: 400,000 x 30": lambda: graded(400_000, 30, 400_000, None),
    "kernel, one query: 6,000 x 2,000": lambda: kernel(6000, 2000),
    "bumps: 8,000 x 900": lambda: bumps(8000, knots=60),
    "words: 40,000 x 20,000": lambda: words(40_000, 20_000, 10),
    "words, one query: 5,000 x 100,000": lambda: words(5000, 100_000, 5000, 200),
}


class TooSlowError(Exception):
    """A choice takes much longer than another."""


@dataclass(frozen=True)
class Limited:
    """A solver that gives up after so many CPU seconds."""

    solver: Any
    seconds: float

    def minimise(self, objective: Any, start: Any = None, callback: Any = None) -> Any:
        begin = time.process_time()

        def look(iteration: Any) -> None:
            if time.process_time() - begin > self.seconds:
                raise TooSlowError

        return self.solver.minimise(objective, start, look)


def seconds(given: Data, loss: str, alpha: float, solver: Any, limit: float) -> float:
    """CPU seconds of a fit, the best of two where that is short; none where it takes too long or does not converge."""
    best = np.inf
    for _ in range(1 if quick() else 2):
        ranker = LinearRanker(loss, alpha, solver="auto" if solver is None else Limited(solver, limit))
        begin = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", ConvergenceWarning)
                ranker.fit(**given)
        except (TooSlowError, ConvergenceWarning):
            return float("nan")
        best = min(best, time.process_time() - begin)
        if best > SLOW:
            break
    return best


def row_of(half: str, shape: str, given: Data, loss: str, alpha: float) -> dict[str, object]:
    """What each choice takes."""
    times: dict[str, float] = {}
    for choice, solver in CHOICES.items():
        limit = max(SLOW, PATIENCE * min((t for t in times.values() if t == t), default=np.inf))
        times[choice] = seconds(given, loss, alpha, solver, limit)
    best = min(times, key=lambda choice: times[choice] if times[choice] == times[choice] else np.inf)
    row: dict[str, object] = {"list": half, "shape": shape, "loss": loss, "alpha": alpha}
    row |= {f"{choice} s": taken for choice, taken in times.items()}
    return row | {"best": best, "auto / best": times["auto"] / times[best]}


def rows_of(half: str, shapes: dict[str, Callable[[], Data]]) -> list[dict[str, object]]:
    """All fits to some shapes."""
    rows = []
    for shape, make in shapes.items():
        given = make()
        for loss in LOSSES:
            for solver in (None, Bundle()):
                seconds(given, loss, EASY, solver, SLOW)  # kernels are compiled, or read, before they are timed
            for alpha in ALPHAS:
                rows.append(row_of(half, shape, given, loss, alpha))
                print(*(as_text(value) for value in rows[-1].values()), sep=", ", flush=True)
    return rows


def summary(half: str, rows: list[dict[str, object]]) -> dict[str, object]:
    """How far `auto` is from the best choice."""
    ratio = np.array([row["auto / best"] for row in rows if row["list"] == half], dtype=float)
    told = {"list": half, "fits": ratio.size, "geometric mean": float(np.exp(np.mean(np.log(ratio))))}
    return told | {"share within 1.3": float(np.mean(ratio <= WITHIN)), "worst": float(ratio.max())}


def main() -> None:
    halves = {"tuning": TUNING, "reporting": REPORTING}
    rows = [row for half, shapes in halves.items() for row in rows_of(half, shapes)]
    report("auto", rows)
    report("auto_summary", [summary(half, rows) for half in halves])
