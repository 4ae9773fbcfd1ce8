"""Stochastic steps per second, against SGDClassifier on ready-made pair differences; cost against rows, 1e4 to 1e7."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from linrank import SGDRanker
from linrank.data.labelled import LabelledRows
from linrank.stochastic.draws import BalancedDraws, Draws, IndexedDraws, Trials
from linrank.stochastic.rules import RULES
from linrank.stochastic.samplers import as_sampler
from measure import best_times, few, quick
from opponents import sofia_ml
from problems import Problem, load, standardised
from questions._stochastic import begin, run_on
from results import STOCHASTIC, report

SOURCES = STOCHASTIC
ALPHA = 1e-4


def differences(X: Any, winner: np.ndarray, loser: np.ndarray) -> tuple[Any, np.ndarray]:
    """Half of the differences turned round, or there would be one class."""
    sign = np.where(np.arange(winner.size) % 2, 1.0, -1.0).astype(X.dtype)
    if sp.issparse(X):
        return sp.csr_matrix(sp.diags_array(sign) @ (X[winner] - X[loser])), sign
    return sign[:, None] * (X[winner] - X[loser]), sign


def compare(name: str, problem: Problem, n_steps: int) -> dict[str, object]:
    data = LabelledRows.of(*problem)
    winner, loser = np.empty((2, n_steps), dtype=np.int64)
    as_sampler("uniform").over(data).draw(np.uint64(1), np.uint64(0), winner, loser)
    ready = differences(data.X, winner, loser)
    ready = ready[0].copy(), ready[1]  # fresh memory, as X
    classifier = SGDClassifier(alpha=ALPHA, fit_intercept=False, max_iter=1, tol=None, shuffle=False)
    runs = {rule: run_on(data, rule, ALPHA) for rule in RULES}

    def steps(rule: str) -> None:
        runs[rule].steps(begin(runs[rule]), n_steps)

    ranker = SGDRanker(alpha=ALPHA, n_steps=n_steps, scale=False, average=False, random_state=0)
    contestants = {rule: lambda rule=rule: steps(rule) for rule in RULES}
    contestants["SGDClassifier"] = lambda: classifier.fit(*ready)
    contestants["differences and SGDClassifier"] = lambda: classifier.fit(*differences(data.X, winner, loser))
    contestants["fit"] = lambda: ranker.fit(*problem)
    for run in contestants.values():
        run()
    micro = {name: 1e6 * t / n_steps for name, t in best_times(contestants, 15).items()}
    sofia = sofia_step(problem, n_steps)
    return {
        "data": name,
        **{f"{rule} us": micro[rule] for rule in RULES},
        "SGDClassifier us": micro["SGDClassifier"],
        "with making differences us": micro["differences and SGDClassifier"],
        "whole fit us": micro["fit"],
        "times as fast": micro["SGDClassifier"] / micro["pegasos"],
        "with differences and index, times": micro["differences and SGDClassifier"] / micro["fit"],
        "sofia-ml us": sofia,
        "sofia-ml / pegasos": None if sofia is None else sofia / micro["pegasos"],
    }


def sofia_step(problem: Problem, n_steps: int) -> float | None:
    """Microseconds a step of sofia-ml, the best of three; it prints hundredths of a second, so it makes many."""
    if not sofia_ml.available():
        return None
    many = 20 * n_steps
    return 1e6 * min(sofia_ml.fit(problem, "hinge", ALPHA, steps=many).seconds for _ in few(range(3), 1)) / many


WAYS: dict[str, Callable[[LabelledRows], Draws]] = {
    "trials": Trials,
    "index": lambda rows: IndexedDraws(rows.ranked.preferences),
    "balanced": lambda rows: BalancedDraws(rows.ranked.preferences, rows.grades.query),
}


def against_rows(n_rows: int, d: int = 16, n_steps: int = 200_000) -> dict[str, object]:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, d), dtype=np.float32), rng.standard_normal(n_rows)
    row: dict[str, object] = {"rows": n_rows}
    runs, contestants = {}, {}
    for way, make in WAYS.items():
        data = LabelledRows.of(X, y, None)
        start = time.process_time()
        draws = make(data)
        row[f"{way}, ready s"] = time.process_time() - start
        row[f"{way}, bytes a row"] = draws.nbytes / n_rows
        runs[way] = run_on(data, "pegasos", ALPHA, draws=draws)
        contestants[way] = lambda run=runs[way]: run.steps(begin(run), n_steps)
        contestants[way]()
    for way, seconds in best_times(contestants, 5).items():
        row[f"{way}, us a step"] = 1e6 * seconds / n_steps
    return row


def main() -> None:
    mq = load("mq2008", 1, 2, 3)
    query = np.unique(mq.qid, return_inverse=True)[1]  # numbers: the opponent has no text to read, either
    n_steps = 2_000 if quick() else 100_000
    rows = [compare("MQ2008", Problem(standardised(mq.X), mq.y, query), n_steps)]
    words = load("imdb")
    rows.append(compare("imdb", words._replace(X=words.X.copy()), n_steps // 2))  # fresh memory comes in large pages
    rows.append(compare("imdb, float32", words._replace(X=words.X.astype(np.float32)), n_steps // 2))
    report("sgd_speed", rows)
    against_rows(1000)  # compiled and loaded
    report("sgd_rows", [against_rows(10**k) for k in few((4, 5, 6, 7), 1)])
