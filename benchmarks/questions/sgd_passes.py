"""One pass and two over a stream against exact training: held-out accuracy, whatever the order of the rows."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from linrank import LinearRanker, SGDRanker
from measure import quick
from problems import Problem, load
from questions.defaults import webis
from results import STOCHASTIC, report

SOURCES = STOCHASTIC


def letor(n_rows: int) -> Problem:
    """The web30k problem with a million rows."""
    return load("web30k", n_rows, n_rows // 120, 136)


def halves(problem: Problem, share: float) -> tuple[Problem, Problem]:
    """Rows to train on and to judge by, queries whole."""
    rng = np.random.default_rng(0)
    if problem.qid is None:
        train = rng.random(problem.y.size) < share
    else:
        ids, query = np.unique(problem.qid, return_inverse=True)
        train = (rng.random(ids.size) < share)[query]
    return tuple(part(problem, np.flatnonzero(rows)) for rows in (train, ~train))  # type: ignore[return-value]


def part(problem: Problem, rows: np.ndarray) -> Problem:
    return Problem(problem.X[rows], problem.y[rows], None if problem.qid is None else problem.qid[rows])


def chunks(problem: Problem, size: int) -> Iterator[tuple]:
    for k in range(0, problem.y.size, size):
        here = slice(k, k + size)
        yield (problem.X[here], problem.y[here], *(() if problem.qid is None else (problem.qid[here],)))


def measure(name: str, problem: Problem, share: float, size: int) -> list[dict[str, object]]:
    train, test = halves(problem, share)
    begin = time.process_time()
    exact = LinearRanker("hinge").fit(*train)
    seconds, best = time.process_time() - begin, exact.score(*test)
    order = np.random.default_rng(1).permutation(train.y.size)
    rows = []
    for how, given in (("in order", train), ("interleaved", part(train, order))):
        if how == "in order" and train.qid is None:
            continue  # one query, whose positive rows come first: a stream of one class, then of the other
        for passes in (1, 2):
            begin = time.process_time()
            ranker = SGDRanker(random_state=0).fit_stream(lambda given=given: chunks(given, size), passes=passes)
            took, found = time.process_time() - begin, ranker.score(*test)
            rows.append({
                "data": name, "rows": train.y.size, "order": how, "passes": passes, "exact": f"{best:.4f}",
                "exact s": seconds, "stream": f"{found:.4f}", "stream s": took, "less": f"{best - found:.4f}",
                "pairs lost": f"{100 * ranker._stream.share_lost:.2f} %",
            })  # fmt: skip
    return rows


def main() -> None:
    rows = measure("imdb", load("imdb"), 0.5, 2_000)
    rows += measure("webis", webis(), 0.5, 2_000)
    rows += measure("web30k, a part", letor(2_000 if quick() else 1_000_000), 0.8, 50_000)
    report("sgd_passes", rows)
