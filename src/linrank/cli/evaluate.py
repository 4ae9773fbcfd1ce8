"""`linrank evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._options import (
    Judging,
    Reading,
    data_argument,
    json_option,
    judging_options,
    preferences_option,
    reading_options,
)

if TYPE_CHECKING:
    from ..metrics import Metric
    from ._judge import Scored


@click.command()
@click.argument("model")
@data_argument()
@judging_options
@preferences_option
@click.option("--per-query", metavar="FILE", help="Write each query's values to a CSV file; - is standard output.")
@json_option
@reading_options
def evaluate(
    model: str,
    data: str,
    judging: Judging,
    preferences: str | None,
    per_query: str | None,
    as_json: bool,
    reading: Reading,
) -> None:
    """Judge a model by the labels of a file.

    Without --metric: pairwise accuracy, and NDCG@10, MAP and MRR where labels are grades (whole numbers from 0 to 31),
    or Kendall's tau where they are not. Pairwise accuracy, error and wmw are taken over the preferences that the model
    was trained on, unless --preferences names others. DATA, which may be several files, globs and folders, is read in
    chunks; labels, queries and scores are kept, 24 bytes a row.

    \b
      linrank evaluate model.json test.txt
      linrank evaluate model.json test.txt -m ndcg@10 -m map --preset trec --json
      linrank evaluate model.json test.txt -m ndcg@5 --per-query values.csv
      linrank evaluate model.json test.txt -m wmw --preferences full
    """
    from . import _judge, _report
    from ._files import Loaded

    judged = _judge.judge(Loaded.of(model), data, reading, judging, preferences)
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
