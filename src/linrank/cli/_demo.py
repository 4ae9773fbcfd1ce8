"""`linrank demo`: from data to a ranking model in a few seconds."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from .._typing import FloatArray
from ..metrics import pairwise_accuracy
from ..rankers.linear import LinearRanker
from ._report import can_print

WIDTH = 24  # cells of the longest bar


def run(alpha: float | str, seed: int) -> None:
    """Train on a part of scikit-learn's diabetes data and show what came of it."""
    from sklearn.datasets import load_diabetes

    console = Console(highlight=False)
    data = load_diabetes()
    X, y, names = data.data, data.target, list(data.feature_names)
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[:147], order[147:]
    console.print(
        "[bold]linrank demo[/]: rank diabetes patients by disease progression after one year\n"
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
    train: np.ndarray,
    test: np.ndarray,
) -> None:
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
    effect = ranker.coef_ * X.std(axis=0)
    bar = "█" if can_print(console, "█") else "#"
    console.print("\nWeights (per standard deviation of the feature):")
    for j in np.argsort(-np.abs(effect)):
        length = round(WIDTH * abs(effect[j]) / np.abs(effect).max())
        colour = "green" if effect[j] > 0 else "red"
        console.print(f"  {names[j]:>4} {effect[j]:+.3f} [{colour}]{bar * max(length, 1)}[/]")
