"""Text that comes from data: names of features, ids, facts of a model file, made fit to be shown."""

from __future__ import annotations

import logging
from collections.abc import Iterable


def printable(text: str) -> str:
    r"""The text with all that is not printable spelled out, as Python's repr does: ``\x1b`` for an escape.

    That holds for control characters (C0, C1, line breaks), which would steer a terminal or forge a line, for marks
    that turn the direction of writing, for separators other than a blank, and for bytes that were no UTF-8. Whatever
    shows text from data goes through here; doing so twice changes nothing.
    """
    return text if text.isprintable() else "".join(map(_spelled, text))


def one_word(text: str) -> str:
    """The text as one printable word of a line: _ for its blanks and line breaks; "" if it has nothing else."""
    return printable("_".join(text.split()))


def repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time; None if all are different."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _spelled(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":  # a byte that was no UTF-8, as readers keep it
        return f"\\x{ord(character) - 0xDC00:02x}"
    return repr(character)[1:-1]


def _spell_out(record: logging.LogRecord) -> bool:
    """Let a record pass; the texts in it are spelled out."""
    if isinstance(record.args, tuple):
        record.args = tuple(printable(value) if isinstance(value, str) else value for value in record.args)
    return True


logging.getLogger("linrank").addFilter(_spell_out)  # a log ends on a terminal or as lines of a file
