"""`linrank demo`: from data to a ranking model in a few seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._exact import alpha_option
from ._help import MODEL, command, in_group

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from .._typing import FloatArray
    from ..rankers.linear import LinearRanker


@command(short_help="See it work on data that comes with scikit-learn.")
@alpha_option(default="auto", show_default=True, help="Strength of the regulariser.")
@in_group(
    MODEL,
    click.option("--seed", default=0, show_default=True, metavar="N", help="Seed of the held-out split."),
)
def demo(alpha: float | str, seed: int) -> None:
    """Train, evaluate and show a model on data that comes with scikit-learn.

    Ranks 442 diabetes patients by how far their disease progresses within a year.
    """
    from rich.console import Console

    from .._bars import screen

    screen.clear()
    console = Console(highlight=False)
    console.print("[bold]linrank demo[/]: rank diabetes patients by disease progression after one year")
    import numpy as np
    from sklearn.datasets import load_diabetes

    from ..rankers.linear import LinearRanker

    data = load_diabetes()
    X, y, names = data.data, data.target, list(data.feature_names)
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[:147], order[147:]
    console.print(
        f"{len(train)} patients to train on, {len(test)} held out, {X.shape[1]} features (from scikit-learn)\n"
    )
    ranker = LinearRanker(alpha=alpha, verbose=1).fit(X[train], y[train])
    console.print()
    _show_result(console, ranker, X, y, names, train, test)
    _show_weights(console, ranker, X[train], names)
    console.print(
        "\nNext, on your own data, in Python:\n"
        "  from linrank import LinearRanker\n"
        "  ranker = LinearRanker().fit(X, y, qid)   # qid: the query of each row\n"
        "  ranker.rank(X_new, qid_new)              # positions, 1 is best"
    )


def _show_result(
    console: Console,
    ranker: LinearRanker,
    X: FloatArray,
    y: FloatArray,
    names: list[str],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> None:
    import numpy as np
    from rich.table import Table

    from ..metrics import pairwise_accuracy

    single = [pairwise_accuracy(y[train], X[train, j]) for j in range(X.shape[1])]
    best = int(np.argmax(np.abs(np.array(single) - 0.5)))
    sign = 1.0 if single[best] > 0.5 else -1.0
    alone = pairwise_accuracy(y[test], sign * X[test, best])
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("held-out pairs in the right order", f"[bold]{ranker.score(X[test], y[test]):.1%}[/]")
    table.add_row(f"by the best single feature, {names[best]}", f"{alone:.1%}")
    table.add_row("objective", f"{ranker.objective_:.6f}")
    table.add_row("certified: at most so far above the minimum", f"{ranker.gap_:.1e}")
    table.add_row("pairs trained on, none of them enumerated", f"{ranker.n_pairs_:,}")
    console.print(table)


def _show_weights(console: Console, ranker: LinearRanker, X: FloatArray, names: list[str]) -> None:
    """Weights times the spread of their feature, largest first, as bars."""
    import numpy as np

    from ._report import BAR_CELLS, bar

    effect = ranker.coef_ * X.std(axis=0)
    console.print("\nWeights (per standard deviation of the feature):")
    for j in np.argsort(-np.abs(effect)):
        share = max(abs(effect[j]) / np.abs(effect).max(), 1 / BAR_CELLS)
        drawn = bar(console, share, "green" if effect[j] > 0 else "red")
        console.print(f"  {names[j]:>4} {effect[j]:+.3f}", drawn)
