"""The face of every command: help in groups, and a line at once on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import click

from ._words import speak_as

#: Groups of options, in the order of help: a first use needs those at the top.
OUTPUT, DATA, MODEL, JUDGING, SOLVER = "Output", "Data", "Model", "Judging", "Solver"
STOCHASTIC, STREAM, PAPERS, OTHERS = "Stochastic descent", "Streams and checkpoints", "Papers' systems", "Help"
GROUPS = (OUTPUT, DATA, MODEL, JUDGING, SOLVER, STOCHASTIC, STREAM, PAPERS, OTHERS)
WIDEST = 22  # cells of an option before its help; a longer one has a line to itself

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def in_group(group: str, *options: Decorator) -> Decorator:
    """Options that help shows under one title."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
            function.__click_params__[-1].group = group  # type: ignore[attr-defined]
        return function

    return decorate


def hush(ctx: click.Context, quiet: bool) -> bool:
    """Note that no progress is to be shown."""
    ctx.meta["linrank.quiet"] = quiet
    return quiet


class Command(click.Command):
    """A command of linrank."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group."""
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                default = OTHERS if "--help" in parameter.opts else MODEL
                groups[getattr(parameter, "group", default)].append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records, col_max=WIDEST)

    def invoke(self, ctx: click.Context) -> Any:
        """Run; on a terminal a line says so before anything is imported."""
        from .._bars import Bar, screen

        speak_as(self)
        quiet = ctx.meta.get("linrank.quiet", False)
        with (
            screen.hidden() if quiet else nullcontext(),
            Bar(f"linrank {self.name}: starting", after=0.0, retires=True),
        ):
            return super().invoke(ctx)


def command(**options: Any) -> Callable[[Callable[..., Any]], Command]:
    """`click.command` for commands of linrank."""
    return click.command(cls=Command, **options)
