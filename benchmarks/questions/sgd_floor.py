"""Stochastic steps on sparse rows, against what none can do without: gathering and scattering the same rows.

Both rows of each pair times the weights, and, where the pair has loss, both rows added to them: the same pairs in the
same order, asked for ahead in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linrank.data.labelled import LabelledRows
from linrank.kernels._jit import uncounted
from linrank.kernels._vector import prefetch
from linrank.kernels.stochastic import AHEAD, SQUARE, csr_product, csr_steps
from measure import best_times, quick
from problems import Problem, load
from questions._stochastic import begin, run_on
from results import STOCHASTIC, report

SOURCES = STOCHASTIC
ALPHA = 1e-4


@uncounted
def gathers_and_scatters(
    data: Any, indices: Any, indptr: Any, winner: Any, loser: Any, moves: Any, v: Any, z: Any
) -> None:
    """What a step on sparse rows consists of, and nothing else; rows are asked for ahead as steps do."""
    k = 1e-9
    for n in range(winner.size):
        first, second = winner[n], loser[n]
        near, far = min(n + AHEAD, winner.size - 1), min(n + 2 * AHEAD, winner.size - 1)
        prefetch(indptr, winner[far])
        prefetch(indptr, loser[far])
        won, lost = winner[near], loser[near]
        a0, a1, b0, b1 = indptr[first], indptr[first + 1], indptr[second], indptr[second + 1]
        z[n] = csr_product(data, indices, v, a0, a1, indptr[won], indptr[won + 1])
        z[n] -= csr_product(data, indices, v, b0, b1, indptr[lost], indptr[lost + 1])
        if moves[n]:
            for p in range(np.uint64(a0), np.uint64(a1)):
                v[np.uint64(indices[p])] += k * data[p]
            for p in range(np.uint64(b0), np.uint64(b1)):
                v[np.uint64(indices[p])] -= k * data[p]


def against_floor(data: LabelledRows, n_steps: int) -> dict[str, float]:
    """Microseconds of Pegasos's steps on pairs drawn before, without and with averaging, and with drawing them."""
    X, run = data.X, run_on(data, "pegasos", ALPHA)
    winner, loser = np.empty((2, n_steps), dtype=np.int64)
    run.draws.draw(np.uint64(0), np.uint64(0), winner, loser)
    rule, x, z = run.rule.phase(0)[0].compiled(ALPHA), np.zeros(X.shape[1]), np.empty(n_steps)
    rows = X.data, X.indices, X.indptr

    def steps(pairs: slice, descent: Any) -> None:
        here = winner[pairs], loser[pairs], rule, pairs.start
        csr_steps(*rows, None, *here, descent.v, descent.b, descent.state, x)

    descent, moves, whole = begin(run), np.empty(n_steps, dtype=bool), slice(0, n_steps)
    for n in range(n_steps):
        before = descent.state[SQUARE]
        steps(slice(n, n + 1), descent)
        moves[n] = descent.state[SQUARE] != before
    contestants: dict[str, Callable[[], Any]] = {
        "floor us": lambda: gathers_and_scatters(*rows, winner, loser, moves, descent.v, z),
        "steps us": lambda: steps(whole, begin(run)),
        "averaged us": lambda: steps(whole, begin(run, average=True)),
        "averaged and drawn us": lambda: run.steps(begin(run, average=True), n_steps),
    }
    for contestant in contestants.values():
        contestant()
    return {name: 1e6 * t / n_steps for name, t in best_times(contestants, 15).items()}


def floors(name: str, problem: Problem, n_steps: int) -> dict[str, object]:
    """Times as much as gathering and scattering alone."""
    micro = against_floor(LabelledRows.of(*problem), n_steps)
    ratios = {f"{what.removesuffix(' us')} / floor": t / micro["floor us"] for what, t in micro.items()}
    return {"data": name, **micro, **{what: t for what, t in ratios.items() if not what.startswith("floor")}}


def main() -> None:
    n_steps, words = 1_000 if quick() else 50_000, load("imdb")
    problems = {
        "imdb": words._replace(X=words.X.copy()),  # fresh memory comes in large pages
        "imdb, float32": words._replace(X=words.X.astype(np.float32)),
        "newsgroups": load("newsgroups"),
    }
    report("sgd_floor", [floors(name, problem, n_steps) for name, problem in problems.items()])
