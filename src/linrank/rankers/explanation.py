"""Why one row scores above another: for a linear model the answer is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._text import printable
from .._typing import FloatArray
from ..data.frames import frame_of

SHOWN = 10  # rows of the table that an explanation prints


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of features to the difference of two scores; `print` it.

    Attributes
    ----------
    names : tuple of str
        The features, the largest contribution (in size) first; "feature 1", ... where they have no names.
    contributions : (d,)
        w_j (a_j - b_j), in the order of `names`; above 0 it speaks for a.
    difference : float
        The sum of them: score of a minus score of b, rounded once.
    features : (d,)
        Column of each feature in X.
    weights, a, b : (d,)
        Weight and values, in the order of `names`.
    """

    names: tuple[str, ...]
    contributions: FloatArray
    difference: float
    features: NDArray[np.intp]
    weights: FloatArray
    a: FloatArray
    b: FloatArray

    def __str__(self) -> str:
        return self.table()

    def to_frame(self) -> Any:
        """A dataframe, one row a feature: feature, weight, a, b, contribution; of pandas or, without it, of polars."""
        columns = {"feature": list(self.names), "weight": self.weights, "a": self.a, "b": self.b}
        return frame_of({**columns, "contribution": self.contributions})

    def table(self, shown: int = SHOWN) -> str:
        """The largest `shown` contributions as a table of text, and the sum of the others."""
        word = "above" if self.difference > 0 else "below" if self.difference < 0 else "beside"
        lines = [f"a is {word} b: the scores differ by {self.difference:+.6g}"]
        used = np.flatnonzero(self.contributions)[:shown]  # they come first, as 0 is the smallest size
        shown_names = [printable(self.names[k]) for k in used]
        width = max(map(len, shown_names), default=7)
        width = min(max(width, 7), 32)  # 80 columns in all
        lines.append(f"{'feature':<{width}} {'weight':>11} {'a':>11} {'b':>11} {'w(a - b)':>11}")
        for k, name in zip(used, shown_names, strict=True):
            cells = f"{self.weights[k]:11.4g} {self.a[k]:11.4g} {self.b[k]:11.4g} {self.contributions[k]:+11.4g}"
            lines.append(f"{shortened(name, width):<{width}} {cells}")
        rest = np.count_nonzero(self.contributions) - used.size
        if rest:
            others = math.fsum(self.contributions[used.size :])
            lines.append(f"{f'{rest:,} more':<{width}} {'':>11} {'':>11} {'':>11} {others:+11.4g}")
        return "\n".join(line.rstrip() for line in lines)


def shortened(name: str, width: int) -> str:
    """The name, cut in its middle where it is too wide."""
    if len(name) <= width:
        return name
    head = (width - 2) // 2
    return f"{name[:head]}..{name[len(name) - (width - 2 - head) :]}"


def explain_difference(w: FloatArray, a: FloatArray, b: FloatArray, names: ArrayLike | None = None) -> Explanation:
    """Contributions w_j (a_j - b_j), sorted by size, equal ones in the order of the columns. O(d log d)."""
    contributions = w * (a - b)
    order = np.argsort(-np.abs(contributions), kind="stable")
    given = [f"feature {j}" for j in range(1, w.size + 1)] if names is None else [str(n) for n in np.asarray(names)]
    return Explanation(
        names=tuple(given[j] for j in order),
        contributions=contributions[order],
        difference=math.fsum(contributions),
        features=order,
        weights=w[order],
        a=a[order],
        b=b[order],
    )


def as_row(row: Any) -> Any:
    """One row as a table of one: a vector becomes (1, d), a row of a pandas dataframe keeps its names."""
    if sp.issparse(row):
        return row if row.ndim == 2 else sp.csr_matrix(row.reshape(1, -1))
    if hasattr(row, "to_frame") and hasattr(row, "index"):
        return row.to_frame().T.astype(float)
    if not hasattr(row, "shape"):
        row = np.asarray(row)
    return np.asarray(row).reshape(1, -1) if len(row.shape) == 1 else row
