"""The command line. Commands import what they need when they run: `linrank --help` answers at once."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from .. import __version__

#: In the order of `linrank --help`; each is a module of this package with a command of that name.
COMMANDS = (
    *("demo", "train", "predict", "evaluate", "tune", "compare"),
    *("inspect", "convert", "export", "explain", "cache", "compile"),
)


class Commands(click.Group):
    """Finds a command in the module of its name; every failure is one sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of COMMANDS."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f".{cmd_name}", __name__), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C is reported here, before click prints an empty line of its own."""
        from ._failures import Interrupted

        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """Run a command line and exit: 0 if all went well, 1 for a failure, 2 for a usage error, 130 for Ctrl-C."""
        from ._failures import guarded

        given = list(sys.argv[1:] if args is None else args)
        debug = "--debug" in given  # wherever it stands
        rest = [word for word in given if word != "--debug"]
        sys.exit(guarded(lambda: super(Commands, self).main(rest, prog_name, standalone_mode=False), debug))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="linrank")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Linear learning to rank at the cost of a sort.

    \b
    A first model and what it is worth:
      linrank train train.txt -o model.json --valid vali.txt
      linrank evaluate model.json test.txt --metric ndcg@10 --metric map
      linrank predict model.json test.txt --rank > run.txt
      linrank export model.json --to solr --verify test.txt

    Data is SVMlight / LETOR text or a table (CSV, Parquet, ...), by its ending; "-" is standard input. Results go to
    standard output, progress and messages to standard error. Exit codes: 0 fine, 1 failure, 2 wrong usage, 130
    interrupted.
    """


def main() -> None:
    """Run the command line."""
    gc.set_threshold(100_000)  # imports make many objects and no garbage: to look for it takes a tenth of the start
    try:
        cli(prog_name="linrank")
    except SystemExit as done:
        from ._failures import Interrupted

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done or undone: the exit code stands
        if done.code == Interrupted.exit_code:  # at once: Python's own end waits for threads that compile or parse
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            os._exit(Interrupted.exit_code)
        raise
