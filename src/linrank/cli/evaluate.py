"""`linrank evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._options import Judging, Reading, json_option, judging_options, reading_options

if TYPE_CHECKING:
    from ..metrics import Metric
    from ._judge import Scored


@click.command()
@click.argument("model")
@click.argument("data")
@judging_options
@click.option("--per-query", metavar="FILE", help="Write each query's values to a CSV file; - is standard output.")
@json_option
@reading_options
def evaluate(model: str, data: str, judging: Judging, per_query: str | None, as_json: bool, reading: Reading) -> None:
    """Judge a model by the labels of a file.

    Without --metric: pairwise accuracy, and NDCG@10, MAP and MRR where labels are grades (whole numbers from 0 to 31),
    or Kendall's tau where they are not. SVMlight is read in chunks; labels, queries and scores are kept, 24 bytes
    a row.

    \b
      linrank evaluate model.json test.txt
      linrank evaluate model.json test.txt -m ndcg@10 -m map --preset trec --json
      linrank evaluate model.json test.txt -m ndcg@5 --per-query values.csv
    """
    from . import _judge, _report
    from ._files import Loaded

    scored, metrics, values = _judge.judge(Loaded.of(model), data, reading, judging)
    if per_query is not None:
        _write_per_query(per_query, metrics, scored)
    if as_json:
        facts = {"model": model, "data": data, "rows": scored.y.size, "queries": scored.n_queries}
        _report.print_json({**facts, "metrics": values})
    elif per_query != "-":
        out = _report.console()
        _report.show_facts(out, f"{data}: {scored.y.size:,} rows, {scored.n_queries:,} queries",
                           [(name, _report.decimals(value)) for name, value in values.items()])  # fmt: skip


def _write_per_query(path: str, metrics: list[Metric], scored: Scored) -> None:
    import csv
    import io
    import math

    from ..io.dataset import utf8
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
