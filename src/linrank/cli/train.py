"""`linrank train`."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ._exact import Exact, alpha_option, exact_options
from ._help import DATA, MODEL, OUTPUT, PAPERS, SOLVER, STOCHASTIC, STREAM, in_group
from ._options import (
    METHODS,
    RULES,
    SAMPLINGS,
    Judging,
    Reading,
    Verbosity,
    Where,
    data_argument,
    gathered,
    json_option,
    judging_options,
    pairs_option,
    reading_options,
    verbosity_options,
    where_options,
)
from ._scheduler import WithScheduler, scheduler_option

if TYPE_CHECKING:
    from ..io import Dataset
    from ._loaded import Loaded


@dataclass(frozen=True)
class Stochastic:
    """Parameters of SGDRanker that LinearRanker does not have; None is its default."""

    rule: str | None = None
    sampling: str | None = None
    n_steps: int | None = None
    C: float | None = None
    average: bool | None = None
    early_stopping: bool | None = None
    validation_fraction: float | None = None
    random_state: int | None = None
    decay: float | None = None
    switch: int | None = None
    steps_per_row: float | None = None
    reservoir: int | None = None
    open_queries: int | None = None
    margin: float | None = None


stochastic_options = gathered(
    "stochastic",
    Stochastic,
    in_group(
        STOCHASTIC,
        click.option("--rule", type=click.Choice(RULES), metavar="RULE",
                     help=f"What a step does (sgd, spd): {', '.join(RULES)}.  [default: pegasos]"),
        click.option("--sampling", type=click.Choice(SAMPLINGS), metavar="WORD",
                     help=f"How to draw pairs (sgd, spd): {', '.join(SAMPLINGS)}.  [default: uniform]"),
        click.option("--steps", "n_steps", type=int, metavar="N", help="Number of steps (sgd).  [default: 100000]"),
        click.option("--seed", "random_state", type=int, metavar="N",
                     help="Seed of the pairs drawn (sgd, spd) or the start (rankncg)."),
        click.option("--average", is_flag=True, default=None, help="Average the weights of all steps (sgd)."),
        click.option("--early-stopping", is_flag=True, default=None,
                     help="Stop when held-out queries gain nothing (sgd)."),
        click.option("--validation-fraction", type=float, metavar="SHARE",
                     help="Part of the queries to hold out (sgd).  [default: 0.1]"),
        click.option("-C", "--C", "C", type=float, help="Longest passive-aggressive step (sgd, spd); weight of a pair "
                     "(the three ranksvm).  [default: 1]"),
        click.option("--decay", type=float, help="c of the step size c/(c + i) (sgd)."),
        click.option("--switch", type=int, metavar="N", help="Last passive-aggressive step of the rule of both (sgd)."),
        click.option("--margin", type=float, help="Margin of the perceptron that has one (sgd).  [default: 1]"),
    ),
    in_group(
        STREAM,
        click.option("--steps-per-row", type=float, metavar="N", help="Steps per row of a stream.  [default: 10]"),
        click.option("--reservoir", type=int, metavar="ROWS",
                     help="Rows kept of a query that goes on in a stream.  [default: 1000]"),
        click.option("--open-queries", type=int, metavar="N",
                     help="Queries that may go on in a stream.  [default: what 16 MB hold]"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Paper:
    """Parameters of a paper's system, and those of the exact solvers that come from papers; None is their default."""

    method: str | None = None
    lambda_: float | None = None
    eps: float | None = None
    eps_s: float | None = None
    iterations: int | None = None
    gradient_tol: float | None = None


paper_options = gathered(
    "paper",
    Paper,
    in_group(SOLVER, click.option("--gradient-tol", type=float, metavar="FLOAT",
                                  help="End newton, cg or tron by the gradient, relative to that at 0.")),
    in_group(
        PAPERS,
        click.option("--method", type=click.Choice(tuple(METHODS)), metavar="NAME",
                     help=f"Train as a paper does, by its own parameters: {', '.join(METHODS)}."),
        click.option("--lambda", "lambda_", type=float, help="Regulariser of treersvm, pairrsvm, spd and rankncg."),
        click.option("--eps", type=float, help="Gap that ends treersvm and pairrsvm [0.001]; accuracy of the sums of "
                     "rankncg [1e-6] and of --loss logistic_erfc [1e-10]."),
        click.option("--eps-s", type=float, help="Relative gradient that ends the three ranksvm.  [default: 1e-5]"),
        click.option("--iterations", type=int, metavar="N", help="Number of steps of spd.  [default: 100000]"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """What to train on, beside the data itself."""

    pairs: str | None = None
    query_weights: str | None = None
    start: str | None = None
    scale_from: str | None = None
    stream: bool = False
    passes: int | None = None
    checkpoint: str | None = None
    restart: bool | None = None


source_options = gathered(
    "source",
    Source,
    in_group(
        DATA,
        pairs_option("They add to those of the labels."),
        click.option("--query-weights", metavar="FILE", help="A query's id and its weight a line; others weigh 1."),
    ),
    in_group(MODEL, click.option("--start", metavar="MODEL", help="Start from the weights of a model.")),
    in_group(
        STREAM,
        click.option("--stream", is_flag=True, help="Train by sgd, reading the data chunk by chunk."),
        click.option("--passes", type=click.IntRange(1), metavar="N",
                     help="How often to read the stream.  [default: 1]"),
        click.option("--checkpoint", metavar="FILE", help="Keep the state here, and go on from it if it exists (sgd)."),
        click.option("--restart", is_flag=True, default=None, help="Begin anew, whatever the checkpoint says."),
        click.option("--scale-from", metavar="MODEL", help="Divide columns by the numbers that a model used (sgd). "
                     "[default: by the columns, of a stream by those of its first chunk]"),
    ),
)  # fmt: skip


@click.command(cls=WithScheduler)
@data_argument()
@in_group(
    OUTPUT,
    click.option(
        "-o", "--output", required=True, metavar="MODEL", help="Where to write the model; - is standard output."
    ),
    click.option("--valid", metavar="FILE", help="Data to judge the model by."),
)
@judging_options
@json_option
@verbosity_options
@reading_options
@source_options
@where_options
@alpha_option(help="Strength of the regulariser.  [default: auto, from the data]")
@exact_options
@in_group(
    SOLVER,
    scheduler_option,
    click.option("--device", metavar="NAMES", help="Train on torch devices: cuda, or several as in cuda:0,cuda:1."),
)
@stochastic_options
@paper_options
def train(
    data: str,
    output: str,
    valid: str | None,
    alpha: float | str | None,
    exact: Exact,
    scheduler: str | None,
    device: str | None,
    paper: Paper,
    stochastic: Stochastic,
    source: Source,
    where: Where,
    judging: Judging,
    verbosity: Verbosity,
    as_json: bool,
    reading: Reading,
) -> None:
    """Train a model on a file, and judge it by another one.

    \b
      linrank train train.txt -o model.json --valid vali.txt
      linrank train train.csv -o model.json --label grade --query search_id
      linrank train shop.csv -o model.json --monotonic price=-1 --l1-ratio 0.9
      linrank train 'data/*.parquet' -o model.json --query search_id --float32
      linrank train --scheduler tcp://host:8786 data/*.parquet -o model.json
      linrank train huge.txt.gz -o model.json --stream --checkpoint state

    DATA may be several files, globs and folders. Where X would take more than half of the free memory, it is read once
    into a cache and trained on from disk, to the same certificate (--from-disk and --in-memory force either).
    """
    import numpy as np

    from .._bars import size
    from . import _report
    from ._files import check_early
    from ._judge import OF_GRADES, checked
    from ._loaded import Loaded
    from ._memory import peak_bytes
    from ._paper import trainer_of
    from ._plan import advise_exact, check_where
    from ._trainer import write_model

    check_early(output, data, valid, as_json=as_json)
    checked(judging.metric or OF_GRADES, judging)  # an unknown name is refused before training
    check_early(source.checkpoint)
    if source.checkpoint is not None and os.path.realpath(source.checkpoint) == os.path.realpath(output):
        raise click.UsageError("--checkpoint and -o name the same file: the model would be lost with the checkpoint.")
    trainer = trainer_of(paper, alpha, exact, stochastic, source, reading, verbosity.level())
    if device is not None:
        trainer.train_on(device)
    out = _report.console(err=output == "-")
    report: dict[str, Any] = {"data": {"path": data}}
    check_where(where, source.stream, scheduler)
    if scheduler is not None:
        ranker, facts = _fit_on(trainer, data, scheduler, None if as_json else out)
        report["data"] |= facts
    elif source.stream:
        ranker, facts = trainer.stream(data)
        report["data"] |= facts
        advise_exact(data, reading)
    else:
        rows = trainer.read(data, where)
        report["data"] |= _describe(rows, None if as_json else out, data)
        ranker = trainer.fit(rows)
        report["data"] |= {"pairs": ranker.n_pairs_, "queries_without_pairs": ranker._queries_without_pairs}
        if valid is None and (doubts := trainer.doubts(ranker, rows)) is not None:
            logging.getLogger("linrank").warning(doubts)
    model = write_model(ranker, trainer.names, output)
    trainer.drop_checkpoint()
    non_zero = int(np.count_nonzero(model.weights))
    report["model"] = {"path": output, "estimator": model.estimator, **model.training, "non_zero_weights": non_zero}
    report["peak_bytes"] = peak = peak_bytes()
    if not as_json:
        memory = [] if peak is None else [("peak memory", size(peak))]
        _report.show_facts(out, output, [*trainer.lines(ranker), *memory])
    if valid is not None:
        report["validation"] = _validate(Loaded("the model", model), valid, reading, judging, None if as_json else out)
    if as_json:
        _report.print_json(report)


def _fit_on(trainer: Any, data: str, scheduler: str, out: Any) -> tuple[Any, dict[str, Any]]:
    """The ranker fitted on a cluster, and what was counted; shown on `out` if there is one."""
    from . import _report
    from ._cluster import fit_on

    ranker, facts = fit_on(trainer, data, scheduler)
    if out is not None:
        _report.show_facts(out, data, [(name, f"{facts[name]:,}") for name in ("rows", "features", "queries")])
    return ranker, facts


def _describe(rows: Dataset, out: Any, path: str) -> dict[str, Any]:
    """What the data holds but its pairs, which the fit counts; shown on `out` if there is one."""
    from . import _describe as describer
    from . import _report

    facts = describer.describe(rows, count_pairs=False)
    if out is not None:
        _report.show_facts(out, path, [*_report.understood(rows.description), *facts.lines()])
    return {"read_as": list(rows.description), **_report.plain(facts)}


def _validate(loaded: Loaded, path: str, reading: Reading, judging: Judging, out: Any) -> dict[str, Any]:
    """The model's metrics on other data; shown on `out` if there is one."""
    from . import _report
    from ._judge import judge

    judged = judge(loaded, path, reading, judging)
    if out is not None:
        _report.show_facts(out, judged.title(path), judged.lines())
    return {"path": path, **judged.facts()}
