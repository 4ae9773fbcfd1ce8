"""`linrank compare`."""

from __future__ import annotations

from typing import Any

import click

from ._help import JUDGING, OUTPUT, command, in_group
from ._options import (
    Judging,
    Reading,
    data_argument,
    json_option,
    preferences_option,
    preset_option,
    quiet_option,
    reading_options,
    ties_option,
)


@command(short_help="Test whether one model is better than another.")
@click.argument("a")
@click.argument("b")
@data_argument()
@in_group(
    OUTPUT,
    click.option("-m", "--metric", default="ndcg@10", show_default=True, metavar="NAME", help="What to compare by."),
)
@json_option
@quiet_option
@preset_option
@ties_option
@preferences_option
@in_group(
    JUDGING,
    click.option(
        "--resamples", default=10_000, show_default=True, metavar="N", help="Draws of the test and of the interval."
    ),
    click.option("--confidence", default=0.95, show_default=True, metavar="SHARE", help="Level of the interval."),
    click.option("--seed", default=0, show_default=True, metavar="N", help="Seed of the draws."),
)
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

    A and B may be models, files of scores or TREC runs, and DATA be TREC's judgements, as for `linrank evaluate`.

    A paired randomisation test and a bootstrap interval over queries; within a single query, for metrics of pairs, the
    variance of the U-statistic. Pairwise accuracy, error and wmw are taken over the preferences that both models were
    trained on; where these differ, --preferences says by which.

    \b
      linrank compare new.json old.json test.txt
      linrank compare new.json old.json test.txt --metric map --json
      linrank compare new.json by_hand.json test.txt --metric wmw
      linrank compare run_a.txt run_b.txt qrels.txt --preset trec
    """
    from ..metrics import compare as compare_scores
    from ..metrics._compare import compare_queries
    from . import _judge, _report
    from ._contestants import contestant
    from ._terminal import echo

    contestants = [contestant(path) for path in (a, b)]
    judging = Judging(metric=(metric,), preset=preset, ties=ties)
    judges = _judge.checked([metric], judging)
    if len(judges) != 1:
        raise click.UsageError(f"--metric {metric} names {len(judges)} metrics: a test is of one of them.")
    compared = _judge.comparison(judges, preferences, contestants)
    judge = judges[0] if compared is None else judges[0].over(compared.preferences)
    scored = _judge.score_file(contestants, data, reading, _judge.needs_docid(judging))
    _judge.refuse_without_queries(contestants, scored, data, reading)
    if scored.retrieved is not None:
        of_a, of_b = (_judge.run_values(judge, scored, k) for k in (0, 1))
        found = compare_queries(judge, of_a, of_b, resamples, confidence, seed)
    else:
        options: dict[str, Any] = {"docid": scored.docid} if scored.docid is not None and not judge.pairwise else {}
        of_a, of_b = scored.scores
        found = compare_scores(
            scored.y, of_a, of_b, scored.query, judge, **options,
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
