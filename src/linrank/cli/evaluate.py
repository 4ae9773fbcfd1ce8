"""`linrank evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._help import DATA, OUTPUT, command, in_group
from ._options import (
    Judging,
    Reading,
    data_argument,
    json_option,
    judging_options,
    pairs_option,
    preferences_option,
    quiet_option,
    reading_options,
)

if TYPE_CHECKING:
    from ..metrics import Metric
    from ._judge import Scored


@command(short_help="Judge a model, scores or a TREC run by labels.")
@click.argument("model")
@data_argument()
@judging_options
@preferences_option
@in_group(DATA, pairs_option("Judge by these, not by the labels."))
@in_group(
    OUTPUT,
    click.option("--per-query", metavar="FILE", help="Write each query's values to a CSV file; - is standard output."),
)
@json_option
@quiet_option
@reading_options
def evaluate(
    model: str,
    data: str,
    judging: Judging,
    preferences: str | None,
    pairs: str | None,
    per_query: str | None,
    as_json: bool,
    reading: Reading,
) -> None:
    """Judge a model, a file of scores or a TREC run by labels, or by explicit pairs.

    MODEL is a model, weights by name in JSON ({"bm25": 0.7}), a file of scores in the order of the rows, one a line, or
    a TREC run; DATA is a file with labels or, for a run, TREC's judgements (qrels), which are taken as trec_eval does.

    Without --metric: pairwise accuracy, and NDCG@10, MAP and MRR where labels are grades (whole numbers from 0 to 31),
    or Kendall's tau where they are not. Pairwise accuracy, error and wmw are taken over the preferences that the model
    was trained on, unless --preferences names others. SVMlight is read in chunks; labels, queries and scores are kept,
    24 bytes a row.

    \b
      linrank evaluate model.json test.txt
      linrank evaluate model.json test.txt -m ndcg@1,3,5,map --preset trec --json
      linrank evaluate scores.txt test.txt -m ndcg@5 --per-query values.csv
      linrank evaluate run.txt qrels.txt --preset trec
      linrank evaluate model.json items.parquet --pairs judged.csv
    """
    from . import _judge, _report
    from ._contestants import contestant

    if pairs is not None:
        from ._loaded import Loaded
        from ._pairs import judge_pairs

        if preferences is not None or per_query is not None:
            raise click.UsageError("--pairs are judged as they are: leave out --preferences and --per-query.")
        judged = judge_pairs(Loaded.of(model), data, pairs, reading, judging)
    else:
        judged = _judge.judge(contestant(model), data, reading, judging, preferences)
    if per_query is not None:
        _write_per_query(per_query, judged.metrics, judged.scored)
    if as_json:
        _report.print_json({"model": model, "data": data, **judged.facts()})
    elif per_query != "-":
        _report.show_facts(_report.console(), judged.title(data), judged.lines())


def _write_per_query(path: str, metrics: list[Metric], scored: Scored) -> None:
    import csv
    import io
    import math

    from ..data.dataset import utf8
    from ._files import writing
    from ._judge import value_of

    columns = [value_of(metric, scored, per_query=True) for metric in metrics]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["qid", *(metric.name for metric in metrics)])
    for k in range(scored.n_queries):
        values = ["" if math.isnan(column[k]) else repr(float(column[k])) for column in columns]
        writer.writerow([scored.ids[k] if scored.ids else "", *values])
    with writing(path) as out:
        out.write(utf8(text.getvalue(), "query id"))
