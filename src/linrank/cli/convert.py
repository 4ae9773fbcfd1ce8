"""`linrank convert`."""

from __future__ import annotations

import click

from ._help import command
from ._options import Reading, data_argument, quiet_option, reading_options


@command(short_help="Convert data, or a model, to another format.")
@data_argument("source")
@click.argument("target")
@quiet_option
@reading_options
def convert(source: str, target: str, reading: Reading) -> None:
    """Convert data between formats, or a model of SVMrank or LIBLINEAR to one of linrank.

    The ending of TARGET says the format: those of tables, as .csv and .parquet are, or else SVMlight; text is packed if
    it ends in .gz or .zst; "-" is SVMlight on standard output. Numbers keep every digit.

    \b
      linrank convert train.csv train.txt.gz --query srch_id
      linrank convert train.txt train.parquet
      linrank convert svmrank_model.dat model.json
    """
    from ..io import save
    from ..io.formats import FORMATS, format_of
    from ..io.write import svmlight_text
    from ._files import is_model, read_data, writing
    from ._loaded import Loaded

    if is_model(source):
        if target == "-":
            raise click.UsageError("A model goes to a file: name one instead of -.")
        save(Loaded.of(source).ranker(), target)
        return
    data = read_data(source, reading)
    if target == "-":
        with writing(None) as out:
            for text in svmlight_text(data):
                out.write(text)
        return
    name = format_of(target)
    write = FORMATS[name].write
    if write is None:
        raise click.UsageError(f"{target!r}: {name} files are read, not written; use .parquet.")
    write(target, data)
