"""Steps of a rule on a problem, without a ranker: what the stochastic questions share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from linrank import SGDRanker
from linrank.data.labelled import LabelledRows
from linrank.stochastic.draws import Draws
from linrank.stochastic.run import Run
from linrank.stochastic.settings import read_settings
from problems import Problem

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


def run_on(
    rows: LabelledRows | Problem,
    rule: str,
    alpha: float,
    scale: np.ndarray | None = None,
    draws: Draws | None = None,
    **parameters: Any,
) -> Run:
    """Steps of a rule on rows, with other parameters of SGDRanker as given."""
    given = rows if isinstance(rows, LabelledRows) else LabelledRows.of(*rows)
    settings = read_settings(SGDRanker(rule=rule, **parameters).get_params(deep=False))
    return Run(settings, given, alpha, scale, draws)


def begin(run: Run, average: bool = False) -> Any:
    """A descent from 0."""
    return run.begin(np.zeros(run.rows.shape[1]), 0, 0, average)


def pyplot() -> Any:
    """matplotlib, or None where it is not installed: the numbers are written all the same."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt
    except ImportError:
        print("The figure needs matplotlib; the numbers are written.")
        return None
    return plt
