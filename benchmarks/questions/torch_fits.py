"""Whole fits by the torch engine, on torch's CPU device, against the local engine's: they end within their gaps.

Scores in float64 and in float32. On the CPU device this says nothing of speed; the seconds are there to be seen.
"""

from __future__ import annotations

import time
from typing import Any

from linrank import LinearRanker
from linrank.engines import Torch
from measure import few
from problems import Problem, load
from results import FIT, fault, report

SOURCES = FIT
DATA = ("mq2008", "webis", "cadata", "imdb")
TRIED = ("squared_hinge", "hinge", "logistic")
#: In float32 a tol below 1e-5 is refused.
TOL = {"float64": 1e-5, "float32": 2e-5}
PLACES = {"float64": Torch("torch:cpu"), "float32": Torch("torch:cpu", scores="float32")}


def main() -> None:
    try:
        import torch
    except ImportError:
        print("\ntorch is not installed: nothing is compared.")
        return
    torch.set_num_threads(1)
    report("torch_fits", [row for name in few(DATA) for row in rows(name, load(name))])


def rows(name: str, problem: Problem) -> list[dict[str, Any]]:
    """One row a loss and a precision."""
    found = []
    for loss in TRIED:
        for scores, place in PLACES.items():
            tol = TOL[scores]
            (here, _), (there, seconds) = fit(loss, problem, None, tol), fit(loss, problem, place, tol)
            off, room = abs(there.objective_ - here.objective_), here.gap_ + there.gap_
            row = {"data": name, "loss": loss, "scores": scores, "objective": here.objective_, "off by": off}
            row |= {"gap, here": here.gap_, "gap, torch": there.gap_, "iterations, here": here.n_iter_}
            found.append(row | {"iterations, torch": there.n_iter_, "seconds, torch:cpu": seconds})
            if off > room:
                fault(f"{name}, {loss}, {scores}: objectives differ by {off:.2g}, their gaps allow {room:.2g}")
    return found


def fit(loss: str, problem: Problem, place: Torch | None, tol: float) -> tuple[LinearRanker, float]:
    """A fit, and its seconds."""
    begin = time.process_time()
    ranker = LinearRanker(loss, 1e-3, tol=tol, device=place).fit(*problem)
    return ranker, time.process_time() - begin
