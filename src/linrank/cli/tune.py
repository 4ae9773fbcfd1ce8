"""`linrank tune`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ._exact import Exact, exact_options
from ._help import DATA, MODEL, OUTPUT, STOCHASTIC, command, in_group
from ._options import (
    Reading,
    Verbosity,
    Where,
    data_argument,
    json_option,
    pairs_option,
    reading_options,
    verbosity_options,
    where_options,
)

if TYPE_CHECKING:
    from ..io import Dataset


@command(short_help="Choose alpha by cross-validation.")
@data_argument()
@in_group(
    OUTPUT,
    click.option("-o", "--output", metavar="MODEL", help="Where to write the model with the alpha chosen."),
    click.option("--valid", metavar="FILE", help="Choose by this data, as LETOR does, not by folds of DATA."),
    click.option(
        "-m",
        "--metric",
        default="pairwise_accuracy",
        show_default=True,
        metavar="NAME",
        help="What to choose alpha by.",
    ),
)
@json_option
@verbosity_options
@reading_options
@in_group(DATA, pairs_option("Without labels the folds are of pairs."))
@in_group(
    MODEL,
    click.option(
        "--alphas",
        default="20",
        show_default=True,
        metavar="N|LIST",
        help="How many alphas around the default, or which: 0.1,0.01,0.001.",
    ),
    click.option(
        "--cv", type=click.IntRange(2), metavar="N", help="Number of folds, cut between queries.  [default: 5]"
    ),
    click.option("--one-standard-error", is_flag=True, help="Take the strongest alpha within an error of the best."),
)
@exact_options
@where_options
@in_group(
    STOCHASTIC,
    click.option("--rule", "rules", metavar="LIST", help="Rules to choose from (sgd).  [default: pegasos]"),
    click.option(
        "--C", "Cs", metavar="LIST", help="Longest passive-aggressive steps to try (sgd).  [default: 1,0.1,0.01]"
    ),
    click.option("--seed", type=int, metavar="N", help="Seed of the pairs drawn (sgd).  [default: 0]"),
)
def tune(
    data: str,
    output: str | None,
    alphas: str,
    valid: str | None,
    pairs: str | None,
    cv: int | None,
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
    """Choose alpha by cross-validation over queries, or by another file, and train with it.

    Prints the path of alphas with the mean score of the folds, its standard error and both as a bar; with --l1-ratio,
    also how many features each leaves.

    \b
      linrank tune train.txt -o model.json
      linrank tune train.txt --valid vali.txt -o model.json --metric ndcg@10
      linrank tune train.txt --metric ndcg@10 --alphas 0.1,0.01,0.001 --json
      linrank tune items.parquet --pairs judged.csv --loss logistic
      linrank tune train.txt --l1-ratio 0.9 --one-standard-error -o small.json
      linrank tune train.txt --solver sgd --rule pegasos,romma --C 1,0.1
    """  # fmt: skip
    from ._files import check_early
    from ._parameters import exact_parameters, for_features
    from ._trainer import read_training_data, write_model

    check_early(output, data, valid, pairs, as_json=as_json)
    parameters = exact_parameters(exact)
    _check(exact.solver == "sgd", parameters, {"rule": rules, "C": Cs, "seed": seed}, one_standard_error, valid, cv)
    if pairs is not None and (valid is not None or exact.solver == "sgd"):
        other = "--solver sgd" if valid is None else "--valid"
        raise click.UsageError(f"--pairs and {other} do not go together here: leave one of them out.")
    rows = read_training_data(data, reading, parameters, where, pairs is not None)
    about = {"data": data, "metric": metric, "model": output}
    if exact.solver == "sgd":
        from ._tune_sgd import tune_sgd

        lists = _alphas(alphas), rules or "pegasos", Cs or "1,0.1,0.01"
        stochastic, tried = tune_sgd(rows, parameters, *lists, cv or 5, metric, seed or 0, reading.jobs)
        if output is not None:
            write_model(stochastic, rows.feature_names, output)
        _tell_tried(tried, about, as_json)
        return
    from ..rankers.cv import LinearRankerCV

    ranker = LinearRankerCV(
        _alphas(alphas),
        cv=cv or 5,
        metric=metric,
        one_standard_error=one_standard_error,
        n_jobs=reading.jobs,
        verbose=verbosity.level(),
        **parameters,
    )
    for_features(ranker, rows, reading)
    if valid is None:
        ranker.fit(rows.X, rows.y, rows.qid, sample_weight=rows.sample_weight, **_explicit(pairs, rows, data, reading))
    else:
        _fit_by_validation(ranker, rows, valid, reading)
    if output is not None:
        write_model(ranker, rows.feature_names, output)
    _tell_path(ranker, about | ({} if valid is None else {"valid": valid}), as_json)


def _explicit(pairs: str | None, rows: Dataset, data: str, reading: Reading) -> dict[str, Any]:
    """Explicit pairs, as `fit` takes them."""
    if pairs is None:
        return {}
    from ._pairs import pairs_of

    return {"pairs": pairs_of(pairs, rows, data, reading)}


def _check(
    sgd: bool, parameters: dict[str, Any], of_sgd: dict[str, Any], one_error: bool, valid: str | None, cv: int | None
) -> None:
    """Refuse options that do not go together."""
    from ._parameters import refuse
    from ._trainer import ONLY_EXACT

    given = {name: value for name, value in of_sgd.items() if value is not None}
    if valid is not None and cv is not None:
        raise click.UsageError("--valid and --cv are two ways to choose alpha: leave one of them out.")
    if valid is not None and one_error:
        raise click.UsageError(
            "--one-standard-error is that of the folds, and --valid has none: leave one of them out."
        )
    if not sgd:
        refuse(given, tuple(given), "is for stochastic descent: add --solver sgd.")
        return
    refuse(parameters, ONLY_EXACT, "is for the exact solvers: leave it out, or choose another --solver.")
    if one_error:
        raise click.UsageError("--one-standard-error is for the exact solvers: leave it out.")
    if valid is not None:
        raise click.UsageError("--valid is for the exact solvers: leave it out, or choose another --solver.")


def _fit_by_validation(ranker: Any, rows: Dataset, valid: str, reading: Reading) -> None:
    """Fit to the rows, alpha chosen by another file with the same features."""
    from ._files import read_data
    from ._tune_valid import fit_by_validation

    others = read_data(valid, reading, missing="error" if ranker.missing == "error" else "keep", labelled=True,
                       names=rows.feature_names, n_features=rows.n_features)  # fmt: skip
    fit_by_validation(ranker, rows, others)


def _tell_tried(tried: list[Any], about: dict[str, Any], as_json: bool) -> None:
    """What was tried, the best first."""
    from . import _report

    if as_json:
        _report.print_json({**about, "chosen": tried[0].parameters(), "tried": [one.row() for one in tried]})
        return
    rows = []
    for one in tried:
        value = f"{one.parameter} {one.value:.3g}" if one.parameter else ""
        mark = "<- chosen" if one is tried[0] else ""
        rows.append((one.rule, value, _report.decimals(one.mean), f"{one.error:.4f}", mark))
    out = _report.console(err=about["model"] == "-")
    _report.show_table(out, ("rule", "with", about["metric"], "error", ""), rows)


def _alphas(text: str) -> int | list[float]:
    try:
        return [float(word) for word in text.split(",")] if "," in text or "." in text or "e" in text else int(text)
    except ValueError:
        raise click.UsageError(
            f"--alphas {text!r} is neither a number of alphas nor a list such as 0.1,0.01."
        ) from None


def _tell_path(ranker: Any, about: dict[str, Any], as_json: bool) -> None:
    """The path of alphas."""
    from . import _report

    found = ranker.cv_results_
    if not as_json:
        _show_path(_report.console(err=about["model"] == "-"), ranker, about["metric"])
        return
    path = {name: found[name] for name in ("alpha", "mean_score", "standard_error", "scores", "n_iter")}
    path |= {name: found[name] for name in ("n_features",) if name in found}
    if path["scores"].shape[1] == 1:
        path["standard_error"] = None  # one fold tells nothing of it
    chosen = {"chosen": ranker.alpha_, "default": found["default_alpha"]}
    _report.print_json({**about, **chosen, "path": path})


def _show_path(out: Any, ranker: Any, metric: str) -> None:
    """Each alpha with its score, and the score with its error to both sides on one scale."""
    import numpy as np

    from . import _report

    found = ranker.cv_results_
    left = found.get("n_features")
    mean, error, known = found["mean_score"], np.nan_to_num(found["standard_error"]), found["scores"].shape[1] > 1
    low, high = np.nanmin(mean - error), np.nanmax(mean + error)
    rows = []
    for k, alpha in enumerate(found["alpha"]):
        chosen = alpha == ranker.alpha_
        drawn = _report.interval(out, mean[k], error[k], (low, high), "green" if chosen else "cyan")
        mark = "<- chosen" if chosen else ""
        told = f"{error[k]:.4f}" if known else "not known"
        features = () if left is None else (f"{left[k]:,}",)
        rows.append((f"{alpha:.3g}", _report.decimals(mean[k]), told, *features, drawn, mark))
    _report.show_table(out, ("alpha", metric, "error", *(() if left is None else ("features",)), "", ""), rows)
    out.print(f"the default, alpha=auto, would have been {found['default_alpha']:.3g}")
