"""In memory or from disk: what a command decides by the size of the data, and says."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from .._bars import size
from .._memory import available
from ..data.dataset import Dataset
from ..io._estimate import Estimate, estimate
from ..io._scan import FileSource
from ._files import source_of
from ._options import Reading, Where
from ._terminal import echo

#: Share of the memory that is free from which on X stays on disk: reading and training take as much again.
SHARE = 0.5


def check_where(where: Where, stream: bool, scheduler: str | None) -> None:
    """Refuse a word on where X is to lie where there is no choice."""
    if not (where.in_memory or where.from_disk):
        return
    if scheduler is not None:
        raise click.UsageError("--scheduler reads the data on workers: leave out --in-memory and --from-disk.")
    if stream:
        raise click.UsageError("--stream goes through the data chunk by chunk: leave out --in-memory and --from-disk.")


def read_from_disk(path: str, reading: Reading, missing: str, where: Where, loss: str | None = None) -> Dataset | None:
    """The data, mapped from the cache, where it is to be trained on from disk; else None. What is decided is told."""
    if where.in_memory and where.from_disk:
        raise click.UsageError("--in-memory and --from-disk contradict each other: leave one of them out.")
    if where.in_memory or path == "-":
        if where.from_disk:
            raise click.UsageError("Standard input cannot be trained on from disk: write it to a file first.")
        return None
    source = source_of(path, reading, missing)
    found, free = estimate(source.located, source.options), available()
    if not where.from_disk and found.n_bytes <= SHARE * free:
        return None
    why = "as told" if where.from_disk else f"as {size(free)} of memory are free; --in-memory forces it there"
    echo(f"{path}: about {_shape(found)}: trained from disk, {why}", err=True)
    echo(f"It will take about {size(found.memory_from_disk(loss))} of memory{_hint(source)}", err=True)
    _refuse_small_disk(source, found)
    return source.open(lambda text: echo(text, err=True))


def _shape(found: Estimate) -> str:
    return f"{found.rows:,} rows x {found.features:,} features, {size(found.n_bytes)}"


def _hint(source: FileSource) -> str:
    return "" if source.options.dtype == "float32" else "; --float32 would halve what each pass reads"


def _refuse_small_disk(source: FileSource, found: Estimate) -> None:
    """Refuse at once what would fill the disk, unless it is there already."""
    free = _free_on_disk(source.folder)
    if free < 0.9 * found.n_bytes and not source.known():
        raise click.ClickException(
            f"The cache {source.folder} has room for {size(free)}, but about {size(found.n_bytes)} are needed: name "
            "another folder with --cache, or say --float32."
        )


def _free_on_disk(folder: Path) -> int:
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def advise_exact(path: str, reading: Reading) -> None:
    """Of a stream: say so where exact training would do."""
    if path == "-":
        return
    source = source_of(path, reading, "keep")
    found, free = estimate(source.located, source.options), available()
    if found.n_bytes <= SHARE * free:
        how = "fits into memory"
    elif found.memory_from_disk() <= free and found.n_bytes <= _free_on_disk(source.folder):
        how = f"fits on disk, with {size(found.memory_from_disk())} of memory"
    else:
        return
    echo(f"Note: {_shape(found)}, {how}: exact training would do, to a certified gap; leave out --stream.", err=True)
