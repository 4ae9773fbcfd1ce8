"""`linrank explain`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ._help import OUTPUT, command, in_group
from ._options import Reading, data_argument, json_option, quiet_option, reading_options_with

if TYPE_CHECKING:
    from ._loaded import Loaded


@command(short_help="Explain why one row is above another.")
@click.argument("model")
@data_argument()
@in_group(
    OUTPUT,
    click.option("--query", "wanted", metavar="Q", help="The query.  [default: the first one]"),
    click.option("--above", metavar="DOCID", help="A row of it.  [default: the best one]"),
    click.option("--below", metavar="DOCID", help="Another row.  [default: the one that follows]"),
    click.option(
        "--top", default=10, show_default=True, type=click.IntRange(1), metavar="N", help="How many features to show."
    ),
)
@json_option
@quiet_option
@reading_options_with("--query-column")
def explain(
    model: str,
    data: str,
    wanted: str | None,
    above: str | None,
    below: str | None,
    top: int,
    as_json: bool,
    reading: Reading,
) -> None:
    """Explain why one row is above another: what each feature contributes to the difference of their scores.

    Rows are named by the ids in comments ("docid = X", or all of the comment) or a table's id column, or by their
    number in the file.

    \b
      linrank explain model.json test.txt --query 7
      linrank explain model.json test.txt --query 7 --above doc-3 --below doc-9
    """
    from . import _report
    from ._loaded import Loaded
    from ._terminal import echo

    loaded = Loaded.of(model)
    query, rows = _rows_of(loaded, data, wanted, reading)
    a, b = _pick(rows, query, above, below)
    found = _explain(loaded, a, b)
    if as_json:
        features = [
            {"feature": name, "weight": weight, "a": x, "b": z, "contribution": contribution}
            for name, weight, x, z, contribution in zip(
                found.names, found.weights, found.a, found.b, found.contributions, strict=True
            )
        ]
        rows_shown = {side: {"id": row.docid, "score": row.score} for side, row in (("a", a), ("b", b))}
        shown = features[: top if top < len(features) else None]
        _report.print_json({"query": query, **rows_shown, "difference": found.difference, "features": shown})
        return
    for side, row in (("a", a), ("b", b)):
        echo(f"{side}: {row.docid}   score {row.score:.6g}, position {row.position} of {len(rows)}")
    for line in found.table(top).split("\n"):
        echo(line)


@dataclass(frozen=True, eq=False)
class Row:
    """A row of the query that is explained."""

    docid: str
    score: float
    position: int
    x: Any


def _rows_of(loaded: Loaded, path: str, wanted: str | None, reading: Reading) -> tuple[str, list[Row]]:
    """The query and its rows, the best first. Only these are kept of the file."""
    import numpy as np

    from .._errors import DataError
    from ._files import read_chunks

    found: list[tuple[str, float, Any]] = []
    before, query = 0, wanted
    for chunk in read_chunks(path, reading, loaded):
        qid = np.zeros(chunk.n_rows, dtype=int) if chunk.qid is None else chunk.qid
        query = str(qid[0]) if query is None else query
        here = np.flatnonzero(qid.astype(str) == query)
        if here.size:
            docids = chunk.document_ids(before + 1)
            scores = loaded.score(chunk.X[here])
            found += [(docids[k], float(s), chunk.X[[k]]) for k, s in zip(here.tolist(), scores, strict=True)]
        before += chunk.n_rows
    if not found or query is None:
        raise DataError(f"{path} has no query {query}: name one that occurs in it.")
    found.sort(key=lambda row: -row[1])
    return query, [Row(docid, score, k, x) for k, (docid, score, x) in enumerate(found, 1)]


def _pick(rows: list[Row], query: str, above: str | None, below: str | None) -> tuple[Row, Row]:
    from .._errors import DataError

    def by_id(docid: str) -> Row:
        for row in rows:
            if row.docid == docid:
                return row
        known = ", ".join(row.docid for row in rows[:5])
        raise DataError(f"Query {query} has no row {docid!r}: there are {known}{', ...' if len(rows) > 5 else ''}.")

    if len(rows) < 2:
        raise DataError(f"Query {query} has one row only: there is nothing to compare it with.")
    a = rows[0] if above is None else by_id(above)
    if below is not None:
        return a, by_id(below)
    others = [row for row in rows if row is not a]
    return a, next((row for row in others if row.position > a.position), others[-1])


def _explain(loaded: Loaded, a: Row, b: Row) -> Any:
    """The ranker's explanation, with the model's names."""
    from dataclasses import replace

    nameless = replace(loaded.model, names=None).ranker()
    found = getattr(nameless, "ranker_", nameless).explain(a.x, b.x)  # a classifier's intercept cancels
    names = loaded.names
    return found if names is None else replace(found, names=tuple(names[j] for j in found.features))
