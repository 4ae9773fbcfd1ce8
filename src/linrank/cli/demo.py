"""`linrank demo`."""

from __future__ import annotations

import click

from ._options import alpha_option


@click.command(short_help="See it work on data that comes with scikit-learn.")
@alpha_option(default="auto", show_default=True, help="Strength of the regulariser.")
@click.option("--seed", default=0, show_default=True, help="Seed of the held-out split.")
def demo(alpha: float | str, seed: int) -> None:
    """Train, evaluate and show a model on data that comes with scikit-learn.

    Ranks 442 diabetes patients by how far their disease progresses within a year.
    """
    from ._demo import run

    run(alpha, seed)
