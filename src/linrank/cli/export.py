"""`linrank export`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ._options import TARGETS, Reading, json_option, reading_options

if TYPE_CHECKING:
    from ..export import LinearFunction, Target
    from ._files import Loaded


@click.command()
@click.argument("model")
@click.option("--to", "target", required=True, type=click.Choice(TARGETS), metavar="TARGET", help="See above.")
@click.option("-o", "--output", metavar="FILE", help="Where to write.  [default: standard output]")
@click.option(
    "--verify", metavar="DATA", help="Score this file by the export too, read back independently, and compare."
)
@click.option(
    "--offset",
    metavar="auto|NUMBER",
    help="Add this to every score; auto: so that the lowest of --verify's "
    "scores becomes 0, as Lucene refuses negative ones.  [default: 0]",
)
@click.option("--name", default="linrank", show_default=True, help="Name of the model or rank profile.")
@click.option("--store", default="_DEFAULT_", show_default=True, help="Solr's feature store.")
@click.option("--table", default="documents", show_default=True, help="SQL: the table to select from.")
@click.option("--column", default="score", show_default=True, help="SQL: the name of the score.")
@click.option("--dtype", default="float32", show_default=True, type=click.Choice(("float32", "float64")), help="ONNX.")
@json_option
@reading_options
def export(
    model: str,
    target: str,
    output: str | None,
    verify: str | None,
    offset: str | None,
    name: str,
    store: str,
    table: str,
    column: str,
    dtype: str,
    as_json: bool,
    reading: Reading,
) -> None:
    """Write a model for another system.

    Targets: solr, elasticsearch (and opensearch), ranklib, vespa, onnx, sql, svmrank, liblinear, python. With --json a
    report on the verification goes to standard output, so the export itself needs -o.

    \b
      linrank export model.json --to solr --store my_features -o model-solr.json
      linrank export model.json --to sql --table products --verify test.txt
      linrank export model.json --to elasticsearch --offset auto --verify test.txt
      linrank export model.json --to onnx -o model.onnx
    """  # fmt: skip
    from .. import export as exports
    from ._files import Loaded, writing

    if as_json and output in (None, "-"):
        raise click.UsageError("--json reports on standard output: write the export to a file with -o.")
    options = exports.Options(model=name, store=store, table=table, column=column, dtype=dtype)
    loaded = Loaded.of(model)
    way = exports.TARGETS[target]
    added = _offset(offset, loaded, verify, reading, way)
    function = exports.LinearFunction.of(loaded.ranker(), added)
    text = way.write(function, options)
    found = _verify(way, text, function, loaded, verify, reading) if verify is not None else None
    with writing(output) as out:
        out.write(text)
    _tell(target, added, found, as_json, output)


def _chunks(loaded: Loaded, path: str, reading: Reading) -> Any:
    from ._files import read_chunks

    return (chunk.X for chunk in read_chunks(path, reading, loaded))


def _offset(offset: str | None, loaded: Loaded, verify: str | None, reading: Reading, way: Target) -> float:
    """The offset asked for; "auto" reads the data."""
    from ..export import LinearFunction, lowest_score

    if offset is None:
        return 0.0
    if offset == "auto":
        if verify is None or verify == "-":
            raise click.UsageError("--offset auto finds the lowest score of a file: name it with --verify.")
        return max(0.0, -lowest_score(LinearFunction.of(loaded.ranker()), _chunks(loaded, verify, reading), way))
    try:
        return float(offset)
    except ValueError:
        raise click.UsageError(f"--offset {offset!r} is neither auto nor a number.") from None


def _verify(way: Target, text: bytes, function: LinearFunction, loaded: Loaded, path: str, reading: Reading) -> Any:
    import warnings

    from ..export import verify

    found = verify(way, text, function, _chunks(loaded, path, reading))
    if way.refuses_negative and found.lowest < 0:
        warnings.warn(
            f"The lowest score is {found.lowest:.6g}, and Lucene refuses negative scores: use --offset auto.",
            stacklevel=1,
        )
    return found


def _tell(target: str, offset: float, found: Any, as_json: bool, output: str | None) -> None:
    from . import _report

    if as_json:
        _report.print_json({"target": target, "output": output, "offset": offset, "verification": _report.plain(found)})
    elif found is not None:
        click.echo(
            f"Verified: {found.rows:,} rows score the same by an independent reading of the export, the largest "
            f"difference is {found.largest_difference:.2g} (rounding explains {found.allowed:.2g}).",
            err=True,
        )
