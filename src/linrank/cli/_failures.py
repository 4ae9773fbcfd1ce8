"""What can go wrong, as one sentence on standard error and an exit code."""

from __future__ import annotations

import errno
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import click

from ._interrupts import Listener
from ._terminal import echo, make_streams_lenient
from ._words import in_options


class Interrupted(click.ClickException):
    """Ctrl-C."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Interrupted")


def guarded(run: Callable[[], Any], debug: bool) -> int:
    """Run a command line; returns its exit code."""
    from .._bars import screen
    from .._files import watching

    with watching() as replaced, screen.shown():
        return _guarded(run, debug, replaced)


def _guarded(run: Callable[[], Any], debug: bool, replaced: Callable[[], list[str]]) -> int:
    listener = Listener()
    try:
        make_streams_lenient()
        with listener, _as_lines():
            code = run()
            sys.stdout.flush()
        return int(code or 0)
    except (Interrupted, click.Abort, KeyboardInterrupt):
        return _interrupted(replaced())
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:  # the reader of our output has gone: nothing to say, nobody to say it to
        _drop_output()
        return 1
    except Exception as error:
        if listener.heard:  # and taken for something else on its way
            return _interrupted(replaced())
        _drop_output(error)
        if debug:
            raise
        echo(f"Error: {sentence(error)}", err=True)
        return 1


def _interrupted(replaced: list[str]) -> int:
    sys.unraisablehook = lambda _: None  # objects that were cut off while being made complain when they are dropped
    click.echo(f"Interrupted: {_state(replaced)}.", err=True)
    return Interrupted.exit_code


def _state(replaced: list[str]) -> str:
    """What an interrupted command leaves behind."""
    if not replaced:
        return "files are as they were before"
    return f"{' and '.join(replaced)} {'was' if len(replaced) == 1 else 'were'} written before that"


def _drop_output(error: Exception | None = None) -> None:
    """Let what standard output still holds go nowhere, or Python tries again at its exit and complains."""
    if error is None or (isinstance(error, OSError) and error.filename is None):
        with suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def sentence(error: Exception) -> str:
    """The error in words that say what to do."""
    from .._errors import LinrankError

    if isinstance(error, OSError) and error.errno is not None:
        return _of_system(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory: use less data, --float32, --from-disk, or train with --stream."
    if isinstance(error, LinrankError):
        return in_options(str(error))
    if isinstance(error, OSError):
        return str(error)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text} (--debug shows where; please report this)."


CURES = {
    errno.ENOENT: "does not exist: check the path",
    errno.EACCES: "must not be opened: check its permissions",
    errno.EPERM: "must not be opened: check its permissions",
    errno.EISDIR: "is a folder: name a file in it",
    errno.ENOTDIR: "leads through a file as if it were a folder: check the path",
    errno.ENAMETOOLONG: "is too long a name: choose a shorter one",
}


def _of_system(error: OSError) -> str:
    name = error.filename2 or error.filename
    place = "Standard output" if name is None else os.fsdecode(name)
    if error.errno == errno.ENOSPC:
        return f"{place} cannot be written, as the disk is full: free some space and try again."
    cure = CURES.get(error.errno or 0)
    if cure is not None and name is not None:
        return f"{place} {cure}."
    return f"{place} cannot be used ({os.strerror(error.errno or 0)}): check it and try again."


@contextmanager
def _as_lines() -> Iterator[None]:
    """Warnings, and what the library logs as one, become lines on standard error."""
    handler, logger = _Lines(logging.WARNING), logging.getLogger("linrank")
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", ResourceWarning)  # of a file that an interrupt kept from being closed
            warnings.showwarning = _show_warning
            yield
    finally:
        logger.removeHandler(handler)


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        echo(f"Warning: {in_options(record.getMessage())}.", err=True)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    echo(f"Warning: {in_options(' '.join(str(message).split()))}", err=True)
