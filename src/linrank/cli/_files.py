"""Models and data as commands read them; results as they write them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO

import click
import numpy as np

from .._errors import DataError, ParameterError
from .._files import replacing
from ..data.joining import wide_enough
from ..data.scan import Scan
from ..io import Dataset, count_features, has_side_files, iter_svmlight
from ..io._columns import NONE_FOUND, Columns
from ..io._locate import is_plain, locate
from ..io._options import ReadOptions
from ..io._read import read_file
from ..io._scan import FileSource
from ..io._streams import name_of
from ..io.formats import FORMATS, format_of
from ..io.model import is_model as looks_like_a_model
from ._loaded import Loaded
from ._options import Reading, Sources
from ._terminal import echo, standard_output

CHUNK_BYTES = 1 << 24  # of features in memory at a time


def read_data(
    path: str,
    reading: Reading,
    *,
    missing: str = "keep",
    labelled: bool = False,
    names: list[str] | None = None,
    n_features: int | None = None,
    found: Dataset | None = None,
) -> Dataset:
    """All of the data, or what was `found` of it, with labels if need be; with these features if any are told.

    Those of tables go by their names.

    The warning of missing queries comes last: where reading fails, the error stands alone.
    """
    data = _read(path, reading, missing, names, n_features) if found is None else found
    if n_features is not None and data.n_features != n_features:
        raise DataError(f"{path} has {data.n_features} features, not {n_features}: --drop the others.")
    if labelled and data.y is None:
        raise DataError(f"{path} has no labels: name their column with --label, or give --pairs.")
    if labelled or data.y is not None:  # explicit pairs alone are compared, and no others
        _warn_of_no_queries(path, reading, _warned(), data)
    return data


def _read(
    path: str, reading: Reading, missing: str, names: list[str] | None = None, n_features: int | None = None
) -> Dataset:
    """All of the data; of tables the columns of these names, of SVMlight so many features, where that is told."""
    if is_one_file(path):
        return read_file(path, reading.format, read_options(path, reading, missing, names, n_features))
    return source_of(path, reading, missing, names, n_features).load()


def read_options(
    path: str, reading: Reading, missing: str, names: list[str] | None = None, n_features: int | None = None
) -> ReadOptions:
    """How data is to be read."""
    table = is_table(path, reading)
    features = tuple(names) if table and names is not None else None
    query = reading.query if table else reading.query or None  # --query '' is for every format: all rows are one query
    return ReadOptions(
        Columns(reading.label, query, reading.id, reading.weight, features, tuple(reading.drop)),
        missing,
        "float32" if reading.float32 else "float64",
        n_features=reading.n_features if n_features is None else n_features,
        zero_based=reading.zero_based,
        on_error="skip" if reading.skip_bad_lines else "raise",
        n_jobs=reading.jobs,
    )


def names_of(path: str) -> tuple[str, ...]:
    """The names that an argument stands for."""
    return path.names if isinstance(path, Sources) else (path,)


def is_one_file(path: str) -> bool:
    """Whether an argument is one file, or standard input."""
    return len(names_of(path)) == 1 and is_plain(names_of(path)[0])


def source_of(
    path: str,
    reading: Reading,
    missing: str,
    names: list[str] | None = None,
    n_features: int | None = None,
) -> FileSource:
    """The files that an argument stands for, not read yet."""
    options = read_options(path, reading, missing, names, n_features)
    return FileSource(locate(names_of(path), reading.format), options, reading.cache)


def is_table(path: str, reading: Reading) -> bool:
    """Whether data has columns with names."""
    name = path if is_one_file(path) else locate(names_of(path), reading.format).paths[0]
    return FORMATS[reading.format or format_of(name)].table


def _warned() -> set[str]:
    """The files without queries of which this run of the command has warned."""
    context = click.get_current_context(silent=True)
    warned: set[str] = set() if context is None else context.meta.setdefault("linrank.without_queries", set())
    return warned


def _warn_of_no_queries(path: str, reading: Reading, warned: set[str], data: Dataset) -> None:
    """Warn that a file has no queries: once, and not if --query '' was given. For a table, list its features."""
    if data.qid is not None or reading.query == "" or path in warned:
        return
    warned.add(path)
    if data.feature_names is None:
        cure = "give each line a qid:"
    else:
        cure = f"name it with {_option_of_query()} ({data.description[-1]})"
    echo(f"Warning: {name_of(path)}: {NONE_FOUND}; {cure}", err=True)


def _option_of_query() -> str:
    """The name of this command's option for the query column."""
    context = click.get_current_context(silent=True)
    parameters = [] if context is None else context.command.params
    return next((parameter.opts[0] for parameter in parameters if parameter.name == "query"), "--query")


def read_chunks(
    path: str,
    reading: Reading,
    like: Loaded | None,
    *,
    by_query: bool = True,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[Dataset]:
    """Data in chunks that end where a query does, in bounded memory; a table on standard input is one chunk.

    The features are those of the model `like`, if there is one. A warning of missing queries is given only if the
    command ranks or judges `by_query`.
    """
    if not by_query:
        _warned().add(path)
    if like is None or like.model.by_hand:
        yield from _freely(path, reading, like)
        return
    missing = "error" if like.fill is None else "keep"
    if _is_plain_text(path, reading):
        yield from stream(path, reading, like.n_features, missing)
        return
    features = like.names, like.n_features
    if path == "-":
        chunks = iter([_read(path, reading, missing, *features)])
    else:
        chunks = source_of(path, reading, missing, *features).chunks(chunk_bytes)
    for chunk in chunks:
        data = replace(chunk, X=wide_enough(chunk.X, like.n_features))
        if data.n_features != like.n_features:
            raise DataError(
                f"{path} has {data.n_features} features, but {like.path} has {like.n_features}: --drop the others, or "
                "name the columns as in training."
            )
        yield data
        _warn_of_no_queries(path, reading, _warned(), data)


def _is_plain_text(path: str, reading: Reading) -> bool:
    """Whether data is one file of SVMlight with nothing beside it."""
    return is_one_file(path) and not is_table(path, reading) and not has_side_files(path)


def _freely(path: str, reading: Reading, like: Loaded | None) -> Iterator[Dataset]:
    """A file in chunks, with the features that it has; where weights were set by hand, at least with theirs."""
    if not _is_plain_text(path, reading):
        data = _read(path, reading, "keep" if like is None else "error", None if like is None else like.names)
        yield data
        _warn_of_no_queries(path, reading, _warned(), data)
        return
    if like is not None and like.names is not None:
        raise DataError(
            f"{like.path} names features, and those of {path} have numbers: name them by these, as in "
            '{"1": 0.7, "46": 0.3}.'
        )
    n_features = reading.n_features
    if like is not None and path != "-":
        found = count_features(path, zero_based=reading.zero_based, on_error="skip", n_jobs=reading.jobs)
        n_features = max(found, like.n_features, n_features or 0)
    yield from stream(path, reading, n_features, "keep" if like is None else "error")


def stream(path: str, reading: Reading, n_features: int | None, missing: str = "error") -> Iterator[Dataset]:
    """Data in chunks that all have the same features."""
    if not is_one_file(path) or (path != "-" and is_table(path, reading)):
        source = source_of(path, reading, missing, n_features=n_features)
        return _with_warning(path, reading, _warned(), Scan(source).equal_chunks())
    if is_table(path, reading):
        raise ParameterError("A table on standard input cannot be streamed: write it to a file first.")
    if path != "-":
        open(path, "rb").close()  # a file that does not exist is refused here, before its features are counted
    if n_features is None and path == "-":
        raise ParameterError("Standard input is read once: say how many features there are with --n-features.")
    chunks = iter_svmlight(
        path,
        chunk_bytes=CHUNK_BYTES,
        n_features=n_features,
        dtype=np.float32 if reading.float32 else np.float64,
        zero_based=reading.zero_based,
        missing=missing,
        on_error="skip" if reading.skip_bad_lines else "raise",
        n_jobs=reading.jobs,
    )
    return _with_warning(path, reading, _warned(), chunks)  # _warned() now: a thread that reads has no click context


def _with_warning(path: str, reading: Reading, warned: set[str], chunks: Iterator[Dataset]) -> Iterator[Dataset]:
    """The chunks; the warning of missing queries comes after the first, which may be refused with an error."""
    for chunk in chunks:
        yield chunk
        _warn_of_no_queries(path, reading, warned, chunk)


def check_early(output: str | None, *inputs: str | None, as_json: bool = False) -> None:
    """Refuse at once, and not after an hour of training, files that cannot be read or written."""
    if as_json and output == "-":
        raise click.UsageError("--json and -o - both go to standard output: write the model to a file.")
    files = [file for path in inputs if path is not None and path != "-" for file in _files_of(path)]
    if output is None or output == "-":
        return
    for path in files:
        if os.path.exists(output) and os.path.samefile(path, output):
            raise click.UsageError(f"-o {output} would replace the data that is read: name another file.")
    if os.path.isdir(output):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), output)
    folder = os.path.dirname(os.path.realpath(output))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.path.dirname(output))


def _files_of(path: str) -> tuple[str, ...]:
    """The files that an argument stands for; each can be opened."""
    if is_one_file(path):
        open(path, "rb").close()
        return (path,)
    return locate(names_of(path)).paths


@contextmanager
def writing(path: str | None) -> Iterator[BinaryIO]:
    """Where a result goes: a file, replaced whole or not at all, or standard output (None or "-")."""
    if path is None or path == "-":
        out = standard_output()
        yield out
        out.flush()
        return
    with replacing(path) as file:
        yield file


def is_model(path: str) -> bool:
    """Whether a file is a model rather than data, by its first bytes; a file with a table's ending is data."""
    if path == "-" or not is_one_file(path) or FORMATS[format_of(path)].table:
        return False
    with open(path, "rb") as file:
        return looks_like_a_model(file.read(64))
