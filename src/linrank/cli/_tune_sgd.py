"""`linrank tune --solver sgd`: alpha, C and the rule of a stochastic descent by cross-validation."""

from __future__ import annotations

from typing import Any, NamedTuple

import click
import numpy as np

from .._bars import Bar
from ..data.labelled import LabelledRows
from ..data.missing import learn_missing
from ..metrics import parse
from ..model_selection import cross_validate
from ..rankers.sgd import SGDRanker
from ..stochastic.scale_and_alpha import choose
from ._options import RULES

#: What a rule is tuned by; those that are not here have nothing to tune.
TUNED = {
    **dict.fromkeys(("sgd", "pegasos", "sgd_svm", "passive_aggressive_then_pegasos"), "alpha"),
    "passive_aggressive": "C",
    "perceptron_margin": "margin",
}
#: Of a path of alphas given as a number: from so many times the default to so many times less.
SPAN = 100.0


class Tried(NamedTuple):
    """A rule with one value of its parameter, and what the folds say."""

    rule: str
    parameter: str  # "" where there is none
    value: float
    scores: Any
    sign: float  # -1 where smaller is better

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(np.mean(self.scores))

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(np.std(self.scores, ddof=1) / np.sqrt(len(self.scores)))

    def parameters(self) -> dict[str, Any]:
        """As SGDRanker takes them."""
        return {"rule": self.rule, **({self.parameter: self.value} if self.parameter else {})}

    def row(self) -> dict[str, Any]:
        """As a table holds it."""
        chosen = {"rule": self.rule, "parameter": self.parameter, "value": self.value}
        return {**chosen, "mean_score": self.mean, "standard_error": self.error, "scores": list(self.scores)}


def numbers(option: str, text: str) -> list[float]:
    """A list such as 1,0.1,0.01."""
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{option} {text!r} is not a list of numbers such as 1,0.1,0.01.") from None


def tune_sgd(
    rows: Any,
    parameters: dict[str, Any],
    alphas: int | list[float],
    rules: str,
    Cs: str,
    cv: int,
    metric: str,
    seed: int,
    jobs: int | None,
) -> tuple[SGDRanker, list[Tried]]:
    """The ranker fitted to all rows with the best of what was tried, and all of it, the best first."""
    names = rules.split(",")
    for name in names:
        if name not in RULES:
            raise click.UsageError(f"--rule {name!r} is not known: choose of {', '.join(RULES)}.")
    ranker = SGDRanker(random_state=seed, **{key: value for key, value in parameters.items() if key != "solver"})
    path = _alphas(ranker, rows, alphas) if isinstance(alphas, int) else alphas
    grid = {"alpha": path, "C": numbers("--C", Cs), "margin": [1.0, 10.0, 100.0, 1000.0], "": [0.0]}
    judge = parse(metric)
    sign = 1.0 if judge.greater_is_better else -1.0
    tried = []
    grids = [(name, TUNED.get(name, ""), value) for name in names for value in grid[TUNED.get(name, "")]]
    with Bar(f"{cv} folds of {len(grids)} candidates", len(grids), "candidates") as bar:
        for name, parameter, value in grids:
            here = Tried(name, parameter, float(value), (), sign)
            candidate = SGDRanker(**{**ranker.get_params(), **here.parameters()})
            given = {"metric": judge, "cv": cv, "sample_weight": rows.sample_weight, "n_jobs": jobs}
            found = cross_validate(candidate, rows.X, rows.y, rows.qid, **given)
            tried.append(here._replace(scores=found["test_score"]))
            bar.advance()
    tried.sort(key=lambda one: -one.sign * one.mean)
    best = SGDRanker(**{**ranker.get_params(), **tried[0].parameters()})
    return best.fit(rows.X, rows.y, rows.qid, sample_weight=rows.sample_weight), tried


def _alphas(ranker: SGDRanker, rows: Any, n: int) -> list[float]:
    """So many around the default."""
    complete = learn_missing(rows.X, ranker.missing)[0]
    given = LabelledRows.of(complete, rows.y, rows.qid, sample_weight=rows.sample_weight)
    default = choose(ranker.scale, "auto", ranker.loss, given)[1]
    powers = np.linspace(1.0, -1.0, n) if n > 1 else np.zeros(1)
    return [float(default * SPAN**power) for power in powers]
