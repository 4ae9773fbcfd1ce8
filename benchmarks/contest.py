"""Contests: one problem for all, in turns; no time counts before our own objective has seen the weights."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from evaluate import evaluate_all
from linrank import RankingData
from linrank.losses import LOSSES
from measure import quick
from opponents import Fit, UnfinishedError
from problems import Problem
from results import fault

#: How far above the best of all a contestant's objective may be, relative to that of w = 0.
OFF = 1e-3
#: How often each contestant has its turn, and the seconds of one: as many fits as begin in that time.
TURNS, TURN = 4, 0.2


class Judged(NamedTuple):
    """What came of a contestant: seconds are None where they do not count."""

    seconds: float | None = None
    objective: float | None = None
    iterations: int | None = None
    status: str = "absent"


def objective(problem: Problem, loss: str, alpha: float, w: np.ndarray) -> float:
    """alpha/2 |w|^2 + the mean loss over all pairs, as we define it, of anyone's weights."""
    return evaluate_all(LOSSES[loss], problem.X @ w, RankingData(*problem)).value + alpha / 2 * float(w @ w)


#: phi(z), for the slow way.
PHI = {
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "squared_hinge": lambda z: np.maximum(0.0, 1.0 - z) ** 2,
    "logistic": lambda z: np.logaddexp(0.0, -z),
}
#: Rows of a query up to which a quick check evaluates the objective the slow way too.
SLOW_ROWS = 1000


def slow_objective(problem: Problem, loss: str, alpha: float, w: np.ndarray) -> float:
    """The same, pair by pair, by nothing of the library."""
    scores, total, n_pairs = problem.X @ w, 0.0, 0
    query = np.zeros(problem.y.size) if problem.qid is None else problem.qid
    for one in np.unique(query):
        here = np.flatnonzero(query == one)
        z = scores[here][:, None] - scores[here]
        above = problem.y[here][:, None] > problem.y[here]
        total, n_pairs = total + float(PHI[loss](z[above]).sum()), n_pairs + int(above.sum())
    return total / n_pairs + alpha / 2 * float(w @ w)


def _checked_objective(problem: Problem, loss: str, alpha: float, w: np.ndarray) -> float:
    """The objective; in a quick check held against the slow way."""
    value = objective(problem, loss, alpha, w)
    longest = problem.y.size if problem.qid is None else int(np.unique(problem.qid, return_counts=True)[1].max())
    if quick() and longest <= SLOW_ROWS:
        slow = slow_objective(problem, loss, alpha, w)
        if not abs(value - slow) <= OFF * slow:
            fault(f"{loss}, alpha {alpha:g}: the objective is {slow:.6f} pair by pair, not {value:.6f}")
    return value


def contest(
    problem: Problem,
    loss: str,
    alpha: float,
    contestants: dict[str, Callable[[Problem, str, float], Fit] | None],
    *,
    may_fail: tuple[str, ...] = (),
    turns: int = TURNS,
) -> dict[str, Judged]:
    """Best CPU seconds of each contestant (None: absent), whose weights must be as good as they should be.

    A contestant that ends unfinished or more than OFF above the best objective has no seconds; unless it is one of
    those that `may_fail` that is a fault.
    """
    fits: dict[str, list[Fit]] = {name: [] for name in contestants}
    failed: dict[str, str] = {name: "absent" for name, run in contestants.items() if run is None}
    for turn in range(1 if quick() else turns):
        for name, run in contestants.items():
            if run is None or name in failed or (turn and fits[name][-1].seconds > 1.0):
                continue  # a second is long enough for one run to tell
            try:
                _turn(fits[name], lambda run=run: run(problem, loss, alpha))
            except UnfinishedError as reason:
                failed[name] = str(reason)
    values = {name: _checked_objective(problem, loss, alpha, f[-1].weights) for name, f in fits.items() if f}
    lowest = min(values.values(), default=np.nan)
    limit = lowest + OFF * objective(problem, loss, alpha, np.zeros(problem.X.shape[1]))
    for name, value in values.items():
        if name not in failed and not value <= limit:
            failed[name] = f"objective {value:.6f}, {lowest:.6f} is possible"
    for name, reason in failed.items():
        if reason != "absent" and name not in may_fail:
            fault(f"{name}, {loss}, alpha {alpha:g}: {reason}")
    return {name: _judged(found, values.get(name), failed.get(name)) for name, found in fits.items()}


def _turn(fits: list[Fit], run: Callable[[], Fit]) -> None:
    end = time.monotonic() + (0.0 if quick() else TURN)
    fits.append(run())
    while time.monotonic() < end:
        fits.append(run())


def _judged(fits: list[Fit], value: float | None, failure: str | None) -> Judged:
    if failure is not None or not fits:
        return Judged(None, value, None, failure or "absent")
    return Judged(min(fit.seconds for fit in fits), value, fits[-1].iterations, "converged")


def columns(judged: dict[str, Judged], iterations: bool = True) -> dict[str, Any]:
    """Seconds and iterations of each contestant for a table; nothing where they do not count."""
    row: dict[str, Any] = {}
    for name, found in judged.items():
        row[f"{name} s"] = found.seconds
        if iterations and found.status != "absent":
            row[f"{name} iterations"] = found.iterations
    return row


def ratio(judged: dict[str, Judged], slow: str, fast: str) -> float | None:
    """How many times as long one took as the other; None where either does not count."""
    a, b = judged[slow].seconds, judged[fast].seconds
    return None if a is None or b is None or b == 0 else a / b
