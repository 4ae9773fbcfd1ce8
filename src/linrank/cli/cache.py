"""`linrank cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._help import DATA, command, in_group
from ._options import json_option

if TYPE_CHECKING:
    from ..io._cache import Entry


@command(short_help="List or clear what was read of data larger than memory.")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@in_group(
    DATA,
    click.option("--clear", is_flag=True, help="Delete what is listed; what is being written stays."),
    click.option("--old", is_flag=True, help="Only what no fit will use again: of sources that changed or are gone."),
    click.option("--cache", "folder", metavar="DIR", help="Its folder.  [default: $LINRANK_CACHE, or the user's]"),
)
@json_option
def cache(sources: tuple[str, ...], clear: bool, old: bool, folder: str | None, as_json: bool) -> None:
    """List what was read into the cache: each entry with its source, its size, and whether it would be used.

    A SOURCE lists the entries of that file, or of files in that folder.

    \b
      linrank cache
      linrank cache --old --clear
      linrank cache data/train.txt --clear
    """
    from .._bars import size
    from ..io._cache import cache_folder, entries, remove
    from . import _report

    home = cache_folder(folder)
    found = [entry for entry in entries(home) if _is_meant(entry, sources, old)]
    if clear:
        found = [entry for entry in found if entry.state != "being written"]
        for entry in found:
            remove(entry.path)
    total = sum(entry.n_bytes for entry in found)
    if as_json:
        rows = [{"path": str(e.path), "source": e.source, "bytes": e.n_bytes, "state": e.state} for e in found]
        _report.print_json({"folder": str(home), "bytes": total, "cleared": clear, "entries": rows})
        return
    out = _report.console()
    if found:
        rows_shown = [(entry.source or entry.path.name, size(entry.n_bytes), entry.state) for entry in found]
        _report.show_table(out, ("source", "size", "state"), rows_shown)
    what = f"{len(found):,} {'entry' if len(found) == 1 else 'entries'}, {size(total)}"
    out.print(f"{home}: {what}{' deleted' if clear else ''}", soft_wrap=True)


def _is_meant(entry: Entry, sources: tuple[str, ...], old: bool) -> bool:
    import os

    if old and entry.state in ("current", "being written"):
        return False
    paths = [os.path.realpath(source) for source in sources]
    files = [piece[0] for piece in entry.about.get("asked", {}).get("files", [])]
    return not paths or any(file == path or file.startswith(path + os.sep) for file in files for path in paths)
