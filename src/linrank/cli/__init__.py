"""The command line. Commands import what they need when they run: `linrank --help` answers at once."""

from __future__ import annotations

import os
import sys

import click

from .. import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="linrank")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:
    """Linear learning to rank at the cost of a sort."""
    context.obj = {"debug": debug}


@cli.command()
@click.option("--alpha", default=1e-3, show_default=True, help="Strength of the regulariser.")
@click.option("--seed", default=0, show_default=True, help="Seed of the held-out split.")
def demo(alpha: float, seed: int) -> None:
    """Train, evaluate and show a ranking model on data that comes with scikit-learn.

    Ranks 442 diabetes patients by how far their disease progresses within a year.
    """
    from .demo import run

    run(alpha, seed)


def main() -> None:
    """Run the command line: errors are one sentence on standard error, exit code 1; usage errors 2."""
    try:
        code = cli(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        code = 130
    except BrokenPipeError:  # the reader of our output has gone: nothing to say, nobody to say it to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        code = _report(error)
    sys.exit(code or 0)


def _report(error: Exception) -> int:
    from .._errors import LinrankError

    text = str(error) if isinstance(error, (LinrankError, OSError)) else f"{type(error).__name__}: {error}"
    click.echo(f"Error: {text} (--debug shows where)", err=True)
    return 1
