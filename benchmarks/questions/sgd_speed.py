"""Stochastic steps per second, against SGDClassifier on ready-made pair differences; cost against rows, 1e4 to 1e7."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from linrank.stochastic.run import Run
from sklearn.linear_model import SGDClassifier

from linrank import RankingData, SGDRanker
from linrank.stochastic.descent import RULES, StepRule
from linrank.stochastic.samplers import SAMPLINGS, make_sampler
from measure import best_times, few, quick
from opponents import sofia_ml
from problems import Problem, load, standardised
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
    data = RankingData(*problem)
    winner, loser = np.empty((2, n_steps), dtype=np.int64)
    make_sampler("uniform", data.preferences, data.query).draw(np.uint64(1), np.uint64(0), winner, loser)
    ready = differences(data.X, winner, loser)
    ready = ready[0].copy(), ready[1]  # fresh memory, as X
    classifier = SGDClassifier(alpha=ALPHA, fit_intercept=False, max_iter=1, tol=None, shuffle=False)
    runs = {rule: Run(StepRule(rule, alpha=ALPHA), data, None, "uniform") for rule in RULES}
    d = data.n_features

    def steps(rule: str) -> None:
        runs[rule].steps(runs[rule].begin(np.zeros(d), 0, 0, False), n_steps)

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


def against_rows(n_rows: int, d: int = 16, n_steps: int = 200_000) -> dict[str, object]:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, d), dtype=np.float32), rng.standard_normal(n_rows)
    data = RankingData(X, y)
    row: dict[str, object] = {"rows": n_rows, "pairs": data.preferences.n_pairs}
    runs, contestants = {}, {}
    for sampling in SAMPLINGS:
        begin = time.process_time()
        runs[sampling] = Run(StepRule(alpha=ALPHA), data, None, sampling)
        row[f"{sampling} index s"] = time.process_time() - begin
        row[f"{sampling} bytes a row"] = runs[sampling].sampler.nbytes / n_rows
        contestants[sampling] = lambda run=runs[sampling]: run.steps(run.begin(np.zeros(d), 0, 0, False), n_steps)
        contestants[sampling]()
    for sampling, seconds in best_times(contestants, 5).items():
        row[f"{sampling} us a step"] = 1e6 * seconds / n_steps
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
