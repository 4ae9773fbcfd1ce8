"""`linrank export`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ._help import MODEL, OUTPUT, command, in_group
from ._options import Listed, OneOf, Reading, json_option, quiet_option, reading_options

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..export import LinearFunction, Options, Target, Verification
    from ._loaded import Loaded


@command()
@click.argument("model")
@in_group(
    OUTPUT,
    click.option(
        "--to", "target", cls=Listed, required=True, type=OneOf(".export._targets", "TARGETS"), metavar="TARGET"
    ),
    click.option("-o", "--output", metavar="FILE", help="Where to write.  [default: standard output]"),
    click.option(
        "--verify", metavar="DATA", help="Score this file by the export too, read back independently, and compare."
    ),
    click.option(
        "--offset",
        metavar="auto|NUMBER",
        help="Add this to every score; auto: so that the lowest of --verify's scores becomes 0, as Lucene "
        "refuses negative ones.  [default: 0]",
    ),
)
@json_option
@quiet_option
@in_group(
    MODEL,
    click.option("--name", default="linrank", show_default=True, metavar="NAME", help="Of the model or rank profile."),
    click.option("--store", default="_DEFAULT_", show_default=True, metavar="NAME", help="Solr's feature store."),
    click.option(
        "--features", metavar="FILE", help="Solr: write its features too, with means of missing values as defaults."
    ),
    click.option(
        "--table", default="documents", show_default=True, metavar="NAME", help="SQL: the table to select from."
    ),
    click.option("--column", default="score", show_default=True, metavar="NAME", help="SQL: the name of the score."),
    click.option(
        "--dtype",
        default="float32",
        show_default=True,
        type=click.Choice(("float32", "float64")),
        metavar="TYPE",
        help="ONNX: float32 or float64.",
    ),
)
@reading_options
def export(
    model: str,
    target: str,
    output: str | None,
    verify: str | None,
    offset: str | None,
    name: str,
    store: str,
    features: str | None,
    table: str,
    column: str,
    dtype: str,
    as_json: bool,
    reading: Reading,
) -> None:
    """Write a model for another system.

    With --json a report on the verification goes to standard output, so the export itself needs -o.

    \b
      linrank export model.json --to solr --features features.json -o solr.json
      linrank export model.json --to sql --table products --verify test.txt
      linrank export model.json --to elasticsearch --offset auto --verify test.txt
      linrank export model.json --to onnx -o model.onnx
    """  # fmt: skip
    from .. import export as exports
    from ..export import lowest_score
    from ._files import writing
    from ._loaded import Loaded

    _check_outputs(target, output, features, as_json)
    options = exports.Options(
        model=name, store=store, table=table, column=column, dtype=dtype, defaults=features is not None
    )
    loaded = Loaded.of(model)
    way = exports.TARGETS[target]
    plain = exports.LinearFunction.of(loaded.ranker())
    defaults = _defaults(plain, options)
    added = _offset(offset, verify, lambda: lowest_score(plain, _chunks(loaded, str(verify), reading), way, defaults))
    function = exports.LinearFunction.of(loaded.ranker(), added)
    text = way.write(function, options)
    found = None if verify is None else exports.verify(way, text, function, _chunks(loaded, verify, reading), defaults)
    if features is not None:
        with writing(features) as out:
            out.write(exports.solr.write_features(function, options))
    with writing(output) as out:
        out.write(text)
    if found is not None:
        _warn(target, way, found)
    _report_verification(target, function, added, found, as_json, output)


def _check_outputs(target: str, output: str | None, features: str | None, as_json: bool) -> None:
    if as_json and output in (None, "-"):
        raise click.UsageError("--json reports on standard output: write the export to a file with -o.")
    if features is not None and target != "solr":
        raise click.UsageError("--features is for solr: leave it out.")
    if features == "-":
        raise click.UsageError("--features goes to a file: standard output is for the model.")


def _defaults(function: LinearFunction, options: Options) -> FloatArray | None:
    """What Solr puts in the place of missing values if it is given the features too, read back from their text."""
    from ..export import solr

    if not options.defaults:
        return None
    return solr.default_values(solr.write_features(function, options), function.names)


def _chunks(loaded: Loaded, path: str, reading: Reading) -> Any:
    from ._files import read_chunks

    return (chunk.X for chunk in read_chunks(path, reading, loaded))


def _offset(offset: str | None, verify: str | None, lowest: Callable[[], float]) -> float:
    """The offset asked for; "auto" reads the data for its lowest score."""
    if offset is None:
        return 0.0
    if offset == "auto":
        if verify is None or verify == "-":
            raise click.UsageError("--offset auto finds the lowest score of a file: name it with --verify.")
        return max(0.0, -lowest())
    try:
        return float(offset)
    except ValueError:
        raise click.UsageError(f"--offset {offset!r} is neither auto nor a number.") from None


def _warn(target: str, way: Target, found: Verification) -> None:
    """Of what the target would do with these rows."""
    from ._terminal import echo

    if way.refuses_negative and found.lowest < 0:
        words = f"The lowest score is {found.lowest:.6g}, and Lucene refuses negative scores: use --offset auto."
        echo(f"Warning: {words}", err=True)
    if found.differing:
        words = f"{found.differing:,} of {found.rows:,} rows differ by up to {found.served_difference:.2g} as {target}"
        echo(f"Warning: {words} serves them: a missing value counts 0 there until the means above are set.", err=True)


def _report_verification(
    target: str, function: LinearFunction, offset: float, found: Verification | None, as_json: bool, output: str | None
) -> None:
    from . import _report
    from ._terminal import echo

    if as_json:
        missing = None if function.fill is None else dict(zip(function.names, function.fill.tolist(), strict=True))
        facts = {"target": target, "output": output, "offset": offset, "missing": missing}
        _report.print_json({**facts, "verification": _report.plain(found)})
    elif found is not None:
        same = f"{found.rows - found.differing:,} rows score the same by an independent reading of the export"
        rounding = f"difference is {found.largest_difference:.2g} (rounding explains {found.allowed:.2g})"
        echo(f"Verified: {same}, the largest {rounding}.", err=True)
