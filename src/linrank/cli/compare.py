"""`linrank compare`."""

from __future__ import annotations

from typing import Any

import click

from ._options import (
    Judging,
    Reading,
    data_argument,
    json_option,
    preferences_option,
    reading_options,
    ties_option,
)


@click.command(short_help="Test whether one model is better than another.")
@click.argument("a")
@click.argument("b")
@data_argument()
@click.option("-m", "--metric", default="ndcg@10", show_default=True, help="What to compare by.")
@click.option("--preset", help="Judge as a tool does: trec, sklearn, xgboost, lightgbm, letor.")
@ties_option
@preferences_option
@click.option("--resamples", default=10_000, show_default=True, help="Draws of the test and of the interval.")
@click.option("--confidence", default=0.95, show_default=True, help="Level of the interval.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draws.")
@json_option
@reading_options
def compare(
    a: str,
    b: str,
    data: str,
    metric: str,
    preset: str | None,
    ties: tuple[str, ...],
    preferences: str | None,
    resamples: int,
    confidence: float,
    seed: int,
    as_json: bool,
    reading: Reading,
) -> None:
    """Compare two models on the queries of a file: is A better than B, or is it chance.

    A paired randomisation test and a bootstrap interval over queries; within a single query, for metrics of pairs, the
    variance of the U-statistic. Pairwise accuracy, error and wmw are taken over the preferences that both models were
    trained on; where these differ, --preferences says by which.

    \b
      linrank compare new.json old.json test.txt
      linrank compare new.json old.json test.txt --metric map --json
      linrank compare new.json old.json test.txt --metric wmw --ties correct
    """
    from .._errors import DataError
    from ..metrics import compare as compare_scores
    from . import _judge, _report
    from ._files import Loaded, read_chunks
    from ._terminal import echo

    models = [Loaded.of(path) for path in (a, b)]
    judging = Judging(metric=(metric,), preset=preset, ties=ties)
    (judge,) = _judge.checked([metric], judging)
    compared = _judge.comparison([judge], preferences, models)
    if compared is not None:
        judge = judge.over(compared.preferences)
    docid = _judge.needs_docid(judging)
    if models[0].n_features != models[1].n_features or models[0].names != models[1].names:
        if data == "-":
            raise DataError("The models have different features, so standard input would be read twice: give a file.")
        parts = [_judge.score_all([model], read_chunks(data, reading, model), data, docid) for model in models]
    else:
        both = _judge.score_all(models, read_chunks(data, reading, models[0]), data, docid)
        parts = [both, both]
    first = parts[0]
    _judge.refuse_without_queries(models, first, data, reading)
    scores = (first.scores[0], parts[1].scores[-1])
    options: dict[str, Any] = {"docid": first.docid} if first.docid is not None and not judge.pairwise else {}
    found = compare_scores(
        first.y, *scores, first.query, judge, **options,
        n_resamples=resamples, confidence=confidence, random_state=seed,
    )  # fmt: skip
    if as_json:
        used = compared and compared.plain()
        _report.print_json({"a": a, "b": b, "data": data, "preferences": used, **_report.plain(found)})
        return
    echo(f"A is {a}, B is {b}")
    for line in str(found).split("\n"):
        echo(line)
    if compared is not None:
        echo("{}: {}".format(*compared.line()))
