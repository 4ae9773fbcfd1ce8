"""What commands print: tables for people, JSON for programs; plain where colours or blocks cannot be shown."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.text import Text

from .._bars import screen
from .._text import printable
from ..io._columns import NONE_FOUND

BAR_CELLS = 24


def console(*, err: bool = False) -> Console:
    """Standard output (or error) without markup: names of features may hold brackets."""
    return Console(stderr=err, highlight=False, markup=False, emoji=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    screen.clear()
    text = json.dumps(plain(value), indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(plain(value), indent=2)
    click.echo("\n".join(line if line.isprintable() else "".join(map(_spelled, line)) for line in text.split("\n")))


def _spelled(character: str) -> str:
    """A character within a string of JSON, by its number where a terminal might act on it."""
    if character.isprintable():
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[k]:02x}{units[k + 1]:02x}" for k in range(0, len(units), 2))


def plain(value: Any) -> Any:
    """The value as JSON can hold it; NaN and infinity become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return repr(value)


def show_facts(out: Console, title: str, facts: Iterable[tuple[str, str]]) -> None:
    """A title and lines of a name and a value."""
    screen.clear()
    lines = [(printable(name), printable(value)) for name, value in facts]
    indent = max((len(name) for name, _ in lines), default=0) + 4
    out.print(Text(printable(title), style="bold"), soft_wrap=True)
    for name, value in lines:
        parts = textwrap.wrap(value, max(20, out.width - indent), break_on_hyphens=False, break_long_words=False) or [
            ""
        ]
        out.print(Text(f"  {name:<{indent - 2}}{parts[0]}"), soft_wrap=True)
        for part in parts[1:]:
            out.print(Text(" " * indent + part), soft_wrap=True)


def understood(description: Sequence[str]) -> list[tuple[str, str]]:
    """How a file was read, as a fact; the long words of missing queries are left to the warning on standard error."""
    words = ["query: none" if text.startswith(NONE_FOUND) else text for text in description]
    return [("read as", "; ".join(words))] if words else []


def show_table(out: Console, header: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Columns: the first to the left, numbers to the right."""
    screen.clear()
    cells = [[cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row] for row in rows]
    lines = [[Text(printable(name), style="bold") for name in header], *cells]
    widths = [max(line[k].cell_len for line in lines) for k in range(len(header))]
    for line in lines:
        text = Text()
        for k, cell in enumerate(line):
            blank = " " * (widths[k] - cell.cell_len)
            text += Text.assemble(cell, blank) if k == 0 or not header[k] else Text.assemble(blank, cell)
            text += Text("  ")
        text.rstrip()
        out.print(text, soft_wrap=True)


def bar(out: Console, share: float, style: str = "cyan", cells: int = BAR_CELLS) -> Text:
    """A bar of a share between 0 and 1; of # where blocks cannot be printed."""
    mark = "█" if can_print(out, "█") else "#"
    length = 0 if math.isnan(share) else round(cells * min(max(share, 0.0), 1.0))
    return Text(mark * length, style=style)


def interval(
    out: Console, value: float, error: float, scale: tuple[float, float], style: str, cells: int = BAR_CELLS
) -> Text:
    """A value on a scale, with its error to both sides: where these overlap, values differ by noise."""
    line, mark = ("─", "●") if can_print(out, "─●") else ("-", "o")
    low, high = scale
    if math.isnan(value) or not high > low:
        return Text("")
    first, middle, last = (
        min(cells - 1, max(0, round((cells - 1) * (x - low) / (high - low))))
        for x in (value - error, value, value + error)
    )
    drawn = " " * first + line * (middle - first) + mark + line * (last - middle)
    return Text(drawn.ljust(cells), style=style)


def can_print(out: Console, text: str) -> bool:
    """Whether the console's encoding has these characters."""
    try:
        text.encode(out.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def decimals(value: float) -> str:
    """A metric."""
    return "not defined" if math.isnan(value) else f"{value:.4f}"
