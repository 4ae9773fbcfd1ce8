"""The way to standard output and error: nothing that data holds steers a terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import BinaryIO

import click

from .._bars import screen
from .._text import printable


def echo(text: str, *, err: bool = False) -> None:
    """One line, whatever it was made of."""
    screen.clear()
    click.echo(printable(text), err=err)


def make_streams_lenient() -> None:
    """Characters that standard output or error cannot encode are spelled out: no failure is due to a name."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def standard_output() -> BinaryIO:
    """Where data goes: to a file or a pipe byte by byte; on a terminal what is not printable is spelled out."""
    screen.clear()
    out: BinaryIO = sys.stdout.buffer
    return _Shown(out) if sys.stdout.isatty() else out  # type: ignore[return-value]


class _Shown:
    """Bytes written to a terminal, line by line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.flush = out.flush

    def write(self, data: bytes) -> int:
        """Write the lines, each of them printable; tabs stay."""
        screen.clear()
        text = data.decode("utf-8", "surrogateescape")
        lines = ("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
        self._out.write("\n".join(lines).encode())
        self._out.flush()
        return len(data)
