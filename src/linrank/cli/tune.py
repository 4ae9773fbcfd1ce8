"""`linrank tune`."""

from __future__ import annotations

from typing import Any

import click

from ._options import (
    Exact,
    Reading,
    Verbosity,
    Where,
    data_argument,
    exact_options,
    json_option,
    reading_options,
    verbosity_options,
    where_options,
)


@click.command(short_help="Choose alpha by cross-validation.")
@data_argument()
@click.option("-o", "--output", metavar="MODEL", help="Where to write the model with the alpha chosen.")
@click.option(
    "--alphas",
    default="20",
    show_default=True,
    metavar="N|LIST",
    help="How many alphas around the default, or which: 0.1,0.01,0.001.",
)
@click.option(
    "--cv", default=5, show_default=True, type=click.IntRange(2), help="Number of folds, cut between queries."
)
@click.option("-m", "--metric", default="pairwise_accuracy", show_default=True, help="What to choose alpha by.")
@click.option("--one-standard-error", is_flag=True, help="Take the strongest alpha within an error of the best.")
@click.option("--rule", "rules", metavar="LIST", help="Rules to choose from (sgd).  [default: pegasos]")
@click.option("--C", "Cs", metavar="LIST", help="Longest passive-aggressive steps to try (sgd).  [default: 1,0.1,0.01]")
@click.option("--seed", type=int, help="Seed of the pairs drawn (sgd).  [default: 0]")
@exact_options
@where_options
@verbosity_options
@json_option
@reading_options
def tune(
    data: str,
    output: str | None,
    alphas: str,
    cv: int,
    metric: str,
    one_standard_error: bool,
    rules: str | None,
    Cs: str | None,
    seed: int | None,
    exact: Exact,
    where: Where,
    verbosity: Verbosity,
    as_json: bool,
    reading: Reading,
) -> None:
    """Choose alpha by cross-validation over queries, and train with it.

    Prints the path of alphas with the mean score of the folds and its standard error.

    \b
      linrank tune train.txt -o model.json
      linrank tune train.txt --metric ndcg@10 --alphas 0.1,0.01,0.001 --json
      linrank tune train.txt --solver sgd --rule pegasos,romma --C 1,0.1
    """  # fmt: skip
    from ..rankers.cv import LinearRankerCV
    from . import _report
    from ._files import check_early
    from ._parameters import exact_parameters, refuse
    from ._trainer import read_training_data, write_model

    check_early(output, data, as_json=as_json)
    parameters = exact_parameters(exact)
    of_sgd = {name: value for name, value in (("rule", rules), ("C", Cs), ("seed", seed)) if value is not None}
    if exact.solver != "sgd":
        refuse(of_sgd, tuple(of_sgd), "is for stochastic descent: add --solver sgd.")
    else:
        refuse(parameters, ("tol", "max_iter"), "is for the exact solvers: leave it out, or choose another --solver.")
        if one_standard_error:
            raise click.UsageError("--one-standard-error is for the exact solvers: leave it out.")
    rows = read_training_data(data, reading, parameters, where)
    if exact.solver == "sgd":
        from ._tune_sgd import tune_sgd

        lists = _alphas(alphas), rules or "pegasos", Cs or "1,0.1,0.01"
        stochastic, tried = tune_sgd(rows, parameters, *lists, cv, metric, seed or 0, reading.jobs)
        if output is not None:
            write_model(stochastic, rows.feature_names, output)
        _tell_tried(tried, data, metric, output, as_json)
        return
    ranker = LinearRankerCV(
        _alphas(alphas),
        cv=cv,
        metric=metric,
        one_standard_error=one_standard_error,
        n_jobs=reading.jobs,
        verbose=verbosity.level(),
        **parameters,
    )
    ranker.fit(rows.X, rows.y, rows.qid, sample_weight=rows.sample_weight)
    if output is not None:
        write_model(ranker, rows.feature_names, output)
    found = ranker.cv_results_
    if not as_json:
        _show_path(_report.console(err=output == "-"), ranker, metric)
    else:
        path = {name: found[name] for name in ("alpha", "mean_score", "standard_error", "scores", "n_iter")}
        chosen = {"chosen": ranker.alpha_, "default": found["default_alpha"]}
        _report.print_json({"data": data, "metric": metric, **chosen, "path": path, "model": output})


def _tell_tried(tried: list[Any], data: str, metric: str, output: str | None, as_json: bool) -> None:
    """What was tried, the best first."""
    from . import _report

    if as_json:
        report = {"data": data, "metric": metric, "chosen": tried[0].parameters(), "model": output}
        _report.print_json({**report, "tried": [one.row() for one in tried]})
        return
    rows = []
    for one in tried:
        value = f"{one.parameter} {one.value:.3g}" if one.parameter else ""
        mark = "<- chosen" if one is tried[0] else ""
        rows.append((one.rule, value, _report.decimals(one.mean), f"{one.error:.4f}", mark))
    _report.show_table(_report.console(err=output == "-"), ("rule", "with", metric, "error", ""), rows)


def _alphas(text: str) -> int | list[float]:
    try:
        return [float(word) for word in text.split(",")] if "," in text or "." in text or "e" in text else int(text)
    except ValueError:
        raise click.UsageError(
            f"--alphas {text!r} is neither a number of alphas nor a list such as 0.1,0.01."
        ) from None


def _show_path(out: Any, ranker: Any, metric: str) -> None:
    """Each alpha with its score, drawn from the worst to the best."""
    import numpy as np

    from . import _report

    found = ranker.cv_results_
    mean, error = found["mean_score"], found["standard_error"]
    low, high = np.nanmin(mean), np.nanmax(mean)
    share = np.ones(mean.size) if high <= low else (mean - low) / (high - low)
    rows = []
    for k, alpha in enumerate(found["alpha"]):
        chosen = alpha == ranker.alpha_
        drawn = _report.bar(out, (1 + 23 * share[k]) / 24, "green" if chosen else "cyan")
        mark = "<- chosen" if chosen else ""
        rows.append((f"{alpha:.3g}", _report.decimals(mean[k]), f"{error[k]:.4f}", drawn, mark))
    _report.show_table(out, ("alpha", metric, "error", "", ""), rows)
    out.print(f"the default, alpha=auto, would have been {found['default_alpha']:.3g}")
