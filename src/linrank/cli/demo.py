"""`linrank demo`."""

from __future__ import annotations

import click


@click.command(short_help="See it work on data that comes with scikit-learn.")
@click.option("--alpha", default=1e-3, show_default=True, help="Strength of the regulariser.")
@click.option("--seed", default=0, show_default=True, help="Seed of the held-out split.")
def demo(alpha: float, seed: int) -> None:
    """Train, evaluate and show a model on data that comes with scikit-learn.

    Ranks 442 diabetes patients by how far their disease progresses within a year.
    """
    from ._demo import run

    run(alpha, seed)
