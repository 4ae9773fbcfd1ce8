"""Options that come from papers: a whole system by its name, or one rule of a paper for the exact solvers."""

from __future__ import annotations

from typing import Any

import click

from .. import published
from ..losses import LogisticErfc
from ..solvers import ConjugateGradients, Newton, Tron
from ._exact import Exact
from ._options import METHODS, Reading
from ._parameters import given, refuse
from ._trainer import Trainer

#: Solvers that can end by the gradient.
BY_GRADIENT = {"newton": Newton, "cg": ConjugateGradients, "tron": Tron}
#: What a source may hold beside --start; the rest is for stochastic descent.
SOURCES = ("pairs", "query_weights")


def trainer_of(
    paper: Any,
    alpha: float | str | None,
    exact: Exact,
    stochastic: Any,
    source: Any,
    reading: Reading,
    verbose: int,
) -> Trainer:
    """The trainer of a paper's system if one is named, or of the library's own rankers."""
    if paper.method is not None:
        told = {**given(exact), **given(stochastic), **given(paper), **({} if alpha is None else {"alpha": alpha})}
        return PaperTrainer(paper.method, told, source, reading, verbose)
    of_paper = given(paper)
    refuse(of_paper, ("lambda_", "eps_s", "iterations"), "is a parameter of a paper's system: name it by --method.")
    trainer = Trainer(alpha, exact, stochastic, source, reading, verbose)
    if "eps" in of_paper:
        if trainer.parameters.get("loss") != "logistic_erfc":
            raise click.UsageError("--eps is the accuracy of logistic_erfc: add --loss logistic_erfc, or a --method.")
        trainer.parameters["loss"] = LogisticErfc(paper.eps)
    if "gradient_tol" in of_paper:
        solver = trainer.parameters.get("solver")
        if solver not in BY_GRADIENT:
            raise click.UsageError("--gradient-tol ends newton, cg and tron: add --solver with one of them.")
        limits = {name: trainer.parameters[name] for name in ("tol", "max_iter") if name in trainer.parameters}
        trainer.parameters["solver"] = BY_GRADIENT[solver](**limits, gradient_tol=paper.gradient_tol)
    return trainer


class PaperTrainer(Trainer):
    """Fits a paper's system."""

    def __init__(self, method: str, told: dict[str, Any], source: Any, reading: Reading, verbose: int) -> None:
        own, kinds = METHODS[method], {name.lower(): name for name in published.__all__}
        others = tuple(name for name in told if name not in (*own, "method"))
        refuse(told, others, f"is no parameter of {method}: leave it out, or leave out --method.")
        wrong = tuple(name for name in given(source) if name not in (*SOURCES, "start", "stream"))
        if source.stream or wrong:
            wrong = wrong or ("stream",)
            refuse(given(source), wrong, f"cannot be had with --method {method}: leave one of them out.")
        if method == "spd" and source.start is not None:
            raise click.UsageError("--start cannot be had with --method spd: use --solver sgd.")
        self.kind = getattr(published, kinds[method])
        if "lambda_" in getattr(self.kind, "_required_parameters", ()) and "lambda_" not in told:
            raise click.UsageError(f"--method {method} needs --lambda, a number above 0.")
        self.source, self.reading, self.checkpoint, self.names = source, reading, None, None
        self.sgd, self.own = method == "spd", {name: told[name] for name in own if name in told}
        self.parameters = {"verbose": verbose}

    def train_on(self, device: str) -> None:
        """P-SWX alone runs on devices."""
        if self.kind is not published.PSWXRankSVM:
            raise click.UsageError("--device is for --method pswxranksvm and for no other: leave one of them out.")
        super().train_on(device)
        self.own["device"] = self.parameters.pop("device")

    def ranker(self) -> Any:
        """The paper's system, threads and progress as asked for."""
        ranker = self.kind(**self.own)
        ranker.verbose, ranker.n_jobs = self.parameters["verbose"], self.reading.jobs
        return ranker
