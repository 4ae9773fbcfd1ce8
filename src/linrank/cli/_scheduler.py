"""The option --scheduler, which may stand without an address."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from ._help import Command

#: What stands for a cluster of this machine.
LOCAL = "local"
ADDRESS = re.compile(r"\w+://.+|[\w.-]+:\d+|local")
OPTION = "--scheduler"


class WithScheduler(Command):
    """A command whose --scheduler may stand without an address."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What follows --scheduler is its address only if it looks like one."""
        told = []
        for k, word in enumerate(args):
            address = k + 1 < len(args) and ADDRESS.fullmatch(args[k + 1]) is not None
            told.append(f"{OPTION}={LOCAL}" if word == OPTION and not address else word)
        return super().parse_args(ctx, told)


def scheduler_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """--scheduler."""
    text = "Train on a Dask cluster, whose workers read the files; without an address on processes of this machine."
    return click.option(OPTION, metavar="[ADDRESS]", help=text)(function)
